//! The tools over HTTP: MCP's Streamable HTTP without a session.

use super::authorization::{Authorization, Client, Principal, pass};
use super::connections::{self, Limits};
use super::metrics::{METRICS_TYPE, Metrics};
use super::origin::Origin;
use super::readiness::Readiness;
use super::refusal::{refusal, waiting};
use super::server::{Server, Transport};
use super::serving::{CLOSING, ServeError};
use crate::oauth::{OAuthOptions, PublicUrl, ResourceServer};
use crate::tokens::Tokens;
use crate::{AgentMemory, Caller};
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post_service};
use axum::{Extension, Json, Router};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::cors::{AllowOrigin, CorsLayer};

/// The path at which the tools are served.
pub const HTTP_PATH: &str = "/mcp";

/// The longest request, in bytes: room for the longest document as JSON.
const MAX_REQUEST: usize = 20 << 20;

/// The maximum time for a request: for the client to send it and for the tools to answer it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The limits of connections. They may use half of the file descriptors that a process usually has.
const LIMITS: Limits = Limits { connections: 512, silence: Duration::from_secs(30) };

/// How long open connections may take to end after the last answer.
const HANGING_UP: Duration = Duration::from_secs(1);

/// The maximum size of a refusal's text in bytes.
const MAX_REFUSAL: usize = 64 << 10;

/// How to serve over HTTP.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The origins whose pages may call the server. Requests with another `Origin` are refused with
    /// status 403.
    pub allowed_origins: Vec<Origin>,
    /// The names of this server besides `localhost` and its address. Requests for another `Host` are
    /// refused with status 403.
    pub allowed_hosts: Vec<String>,
    /// The tokens of the server's clients. A client reaches what its token reaches, and a request
    /// without a token gets status 401. On a loopback address, requests need no token until the first
    /// token exists.
    pub tokens: Option<Arc<Tokens>>,
    /// The authorization server whose access tokens are accepted, too. A client with an access token
    /// reaches what the token that is bound to its subject reaches. With this option, each request
    /// needs a token of either kind.
    pub oauth: Option<OAuthOptions>,
}

/// Serves over HTTP until `stop` is ready. Without tokens, only clients of this machine are served: the
/// listener has to be on a loopback address. A request for another `Host` is refused with status 403, so
/// that no web page reaches the server by DNS rebinding.
///
/// Besides [`HTTP_PATH`] there are `/healthz`, which answers while the program runs, and `/readyz`, which
/// answers 503 if the storage takes no writes. Once `stop` is ready, `/readyz` and new requests get 503.
/// Requests in progress have 5 s to end, and open subscriptions end at once.
///
/// # Errors
///
/// [`ServeError::Exposed`] without tokens for a listener that other machines reach;
/// [`ServeError::NoPublicUrl`] with access tokens and without a public URL, if the listener is not on a
/// loopback address; [`ServeError::NoTokens`] for access tokens without `tokens`; the others if the
/// tokens cannot be read, the listener fails, or a task does.
///
/// # Example
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use agent_memory_host::{AgentMemory, mcp};
///
/// let memory = AgentMemory::builder().allow("/srv/repository").build()?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// mcp::serve_http(memory, listener, mcp::HttpOptions::default(), std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
pub async fn serve_http(
    memory: AgentMemory,
    listener: TcpListener,
    options: HttpOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Listener)?;
    let has_tokens = match &options.tokens {
        Some(tokens) => !tokens.all().map_err(ServeError::Tokens)?.is_empty(),
        None => false,
    };
    if !is_local(address) && !has_tokens && options.oauth.is_none() {
        return Err(ServeError::Exposed(address));
    }
    if options.oauth.is_some() && options.tokens.is_none() {
        return Err(ServeError::NoTokens);
    }
    let has_tenants = |tokens: &Tokens| {
        tokens.all().is_ok_and(|tokens| tokens.iter().any(|token| token.tenant.is_some()))
    };
    if options.tokens.as_deref().is_some_and(has_tenants) {
        memory.warn_of_tenants().await;
    }
    let (options, oauth) = with_oauth(options, address)?;
    memory.resume(Caller::default());
    let requests = Requests::default();
    let hang_up = CancellationToken::new();
    let app = app(&memory, &requests, address, &hang_up, options, oauth);
    let mut served = tokio::spawn(connections::serve(listener, app, LIMITS, hang_up.clone()));
    let result = tokio::select! {
        ended = &mut served => ended.map_err(ServeError::Task),
        () = stop => {
            requests.finish().await;
            hang_up.cancel();
            // A client that reads its answer slowly gets this time to finish.
            let _ = tokio::time::timeout(HANGING_UP, &mut served).await;
            served.abort();
            Ok(())
        }
    };
    memory.close(CLOSING).await;
    result
}

/// Whether only programs of this machine reach an address.
pub(crate) fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Makes the resource server of OAuth, if the options have an authorization server. Adds the host of
/// the server's URL to the allowed hosts.
fn with_oauth(
    mut options: HttpOptions,
    address: SocketAddr,
) -> Result<(HttpOptions, Option<Arc<ResourceServer>>), ServeError> {
    let Some(oauth) = options.oauth.take() else { return Ok((options, None)) };
    let own = || format!("http://{address}{HTTP_PATH}").parse::<PublicUrl>().ok();
    let url = oauth.public_url.clone().or_else(own).ok_or(ServeError::NoPublicUrl(address))?;
    options.allowed_hosts.push(url.host());
    let server = ResourceServer::new(oauth, url);
    server.start();
    Ok((options, Some(Arc::new(server))))
}

/// The requests in progress.
#[derive(Clone, Default)]
struct Requests {
    running: TaskTracker,
    /// Cancelled when the server stops. Further requests are then refused.
    end: CancellationToken,
}

impl Requests {
    /// Takes no further request, and waits for the requests in progress for at most [`CLOSING`].
    async fn finish(&self) {
        self.end.cancel();
        self.running.close();
        if tokio::time::timeout(CLOSING, self.running.wait()).await.is_err() {
            tracing::warn!("requests that had not ended after {CLOSING:?} were cancelled");
        }
    }
}

/// The routes of the server. `cut` is cancelled when requests in progress have to end.
fn app(
    memory: &AgentMemory,
    requests: &Requests,
    address: SocketAddr,
    cut: &CancellationToken,
    HttpOptions { allowed_origins, allowed_hosts, tokens, oauth: _ }: HttpOptions,
    oauth: Option<Arc<ResourceServer>>,
) -> Router {
    let hosts = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let hosts = hosts.into_iter().chain(allowed_hosts);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(hosts.chain([address.ip().to_string()]))
        .with_allowed_origins(
            own_origins(address).chain(allowed_origins.iter().map(Origin::with_port)),
        )
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_REQUEST)
        .with_cancellation_token(cut.clone());
    let metrics = Metrics::new();
    let transport = Transport::Http(metrics.clone());
    let server = Server::new(memory.clone(), requests.end.clone(), transport);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let is_open = is_local(address) && oauth.is_none();
    let authorization = Authorization::new(memory.clone(), tokens, oauth.clone(), is_open);
    let authorization = from_fn_with_state(authorization, pass);
    let tools = post_service(service)
        .layer(authorization.clone())
        .layer(from_fn_with_state(requests.clone(), request));
    let numbers = get(numbers).with_state(metrics.clone()).layer(authorization);
    let readiness = Readiness::new(memory.clone());
    let app = metadata(oauth)
        .route(HTTP_PATH, tools)
        .route("/healthz", get(async || "ok\n"))
        .route("/metrics", numbers)
        .route("/readyz", get(ready).with_state((requests.clone(), readiness)))
        .fallback(async || {
            refusal(StatusCode::NOT_FOUND, "there is nothing here: the tools are at `/mcp`")
        })
        .method_not_allowed_fallback(async || {
            let message = "this path has another method: `/mcp` takes POST, all others take GET";
            refusal(StatusCode::METHOD_NOT_ALLOWED, message)
        });
    let app = app.layer(from_fn_with_state(metrics, counted));
    if allowed_origins.is_empty() {
        return app;
    }
    let origins = allowed_origins.into_iter().map(|Origin(value)| value);
    let fields = [
        "accept",
        "authorization",
        "content-type",
        "idempotency-key",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
    ];
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::POST])
        .allow_headers(fields.map(HeaderName::from_static))
        .expose_headers([WWW_AUTHENTICATE]);
    // The layer comes last, so that it wraps all routes and also answers preflight requests.
    app.layer(cors)
}

/// The routes of the resource server's metadata. None without a resource server, so that no client begins
/// OAuth.
fn metadata(oauth: Option<Arc<ResourceServer>>) -> Router {
    let Some(oauth) = oauth else { return Router::new() };
    let paths = oauth.metadata_paths();
    let answer = Json(oauth.metadata());
    let add = |router: Router, path: &String| {
        let answer = answer.clone();
        router.route(path, get(async move || answer))
    };
    paths.iter().fold(Router::new(), add)
}

/// The origins of the server itself, which are allowed. It has no pages, but some clients name the
/// server as their origin.
fn own_origins(address: SocketAddr) -> impl Iterator<Item = String> {
    let names = ["localhost", "127.0.0.1", "[::1]"];
    names.into_iter().map(move |name| format!("http://{name}:{}", address.port()))
}

/// Passes a request on, with a timeout, or refuses it if the server is stopping. Makes refusals JSON.
async fn request(State(requests): State<Requests>, request: Request, next: Next) -> Response {
    if requests.end.is_cancelled() {
        return stopping();
    }
    let _running = requests.running.token();
    let is_json = has_type(request.headers(), "application/json");
    let Ok(mut response) = tokio::time::timeout(TIMEOUT, next.run(request)).await else {
        let seconds = TIMEOUT.as_secs();
        let message = format!(
            "the request took longer than {seconds} s: what it was to change may have been changed, \
             so read it before you try again"
        );
        return refusal(StatusCode::REQUEST_TIMEOUT, &message);
    };
    if has_type(response.headers(), "text/event-stream") {
        // Otherwise some proxies buffer the events of a stream.
        let buffering = HeaderName::from_static("x-accel-buffering");
        response.headers_mut().insert(buffering, HeaderValue::from_static("no"));
    }
    let status = response.status();
    let is_refused = status.is_client_error() || status.is_server_error();
    if !is_refused || has_type(response.headers(), "application/json") {
        return response;
    }
    if status.is_server_error() && requests.end.is_cancelled() {
        return stopping();
    }
    let text = to_bytes(response.into_body(), MAX_REFUSAL).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
        return parse_error(&text);
    }
    refusal(status, &text)
}

fn has_type(fields: &HeaderMap, wanted: &str) -> bool {
    let given = fields.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    given.is_some_and(|given| given.split(';').next().unwrap_or_default().trim() == wanted)
}

/// The answer to a body that is not a JSON-RPC message: the same error as over standard input.
fn parse_error(reason: &str) -> Response {
    let error = json!({ "code": -32700, "message": format!("the body is no message: {reason}") });
    let message = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    (StatusCode::BAD_REQUEST, Json(message)).into_response()
}

async fn numbers(State(metrics): State<Metrics>, Extension(client): Extension<Client>) -> Response {
    if client.holder().is_some_and(Principal::has_tenant) {
        let message = "the numbers are those of all tenants: send a token that has no tenant";
        return refusal(StatusCode::FORBIDDEN, message);
    }
    match metrics.text() {
        Ok(text) => ([(CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
        Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the numbers cannot be written"),
    }
}

async fn counted(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    metrics.count_response(response.status());
    response
}

async fn ready(State((requests, readiness)): State<(Requests, Readiness)>) -> Response {
    if requests.end.is_cancelled() {
        return stopping();
    }
    match readiness.check().await {
        Ok(()) => "ready\n".into_response(),
        Err(reason) => refusal(StatusCode::SERVICE_UNAVAILABLE, reason),
    }
}

fn stopping() -> Response {
    waiting(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping: try again", "5")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_local() {
        for (address, local) in [
            ("127.0.0.1:1", true),
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("192.168.0.1:1", false),
            ("[::ffff:10.0.0.1]:1", false),
        ] {
            assert_eq!(is_local(address.parse().expect(address)), local, "{address}");
        }
    }
}
