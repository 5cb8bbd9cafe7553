//! Who may pass: the tokens of requests over HTTP.

use super::http::refusal;
use super::metrics::ended;
use crate::tokens::{Token, Tokens};
use crate::{CallError, Outcome, Reach};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use jiff::Timestamp;
use rmcp::service::{RequestContext, RoleServer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most requests of one token in [`WINDOW`].
const MAX_REQUESTS: u32 = 20_000;
const WINDOW: Duration = Duration::from_secs(10);

/// Lets requests pass that bring a token, and says whose they are. Without tokens, all pass.
#[derive(Clone)]
pub(super) struct Gate(Option<Arc<Guard>>);

struct Guard {
    tokens: Arc<Tokens>,
    /// The requests of each token, and since when they are counted.
    counts: Mutex<HashMap<String, (Instant, u32)>>,
}

/// Whose request it is.
#[derive(Clone)]
pub(super) struct Principal {
    token: Token,
    tokens: Arc<Tokens>,
}

impl Principal {
    /// That of a request over HTTP with a token.
    pub fn of(request: &RequestContext<RoleServer>) -> Option<&Principal> {
        request.extensions.get::<Parts>()?.extensions.get::<Principal>()
    }

    pub fn reach(&self) -> Reach {
        self.token.reach()
    }

    /// Whether its token has been neither revoked nor expired since.
    pub fn may_go_on(&self) -> bool {
        self.tokens.is_valid(&self.token, Timestamp::now()).unwrap_or_default()
    }

    /// Logs a call of a tool that can change something: how it ended and the resources that it
    /// changed, without their contents.
    pub fn audit(&self, tool: &str, outcome: Option<&Result<Outcome, CallError>>) {
        let (token, ended) = (&self.token.name, ended(outcome));
        let changed = match outcome {
            Some(Ok(outcome)) => outcome.changed.join(" "),
            _ => String::new(),
        };
        tracing::info!(target: "audit", token, tool, outcome = ended, changed);
    }
}

impl Gate {
    pub fn new(tokens: Option<Arc<Tokens>>) -> Self {
        let guard = |tokens| Arc::new(Guard { tokens, counts: Mutex::default() });
        Gate(tokens.map(guard))
    }
}

impl Guard {
    /// Counts a request. False if its token has had its share.
    fn count(&self, token: &Token) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) = counts.entry(token.id.clone()).or_insert((Instant::now(), 0));
        if since.elapsed() >= WINDOW {
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        *count <= MAX_REQUESTS
    }
}

pub(super) async fn pass(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let Some(guard) = gate.0 else { return next.run(request).await };
    let now = Timestamp::now();
    let found = match bearer(request.headers()) {
        Some(given) => guard.tokens.find(given, now),
        None => Ok(None),
    };
    let token = match found {
        Ok(Some(token)) => token,
        Ok(None) => return unauthorized(),
        Err(error) => {
            tracing::error!("no request is let in: {}", error.message);
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "the tokens cannot be read");
        }
    };
    if !guard.count(&token) {
        let mut response =
            refusal(StatusCode::TOO_MANY_REQUESTS, "this token has made too many requests: wait");
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
        return response;
    }
    let principal = Principal { token: token.clone(), tokens: guard.tokens.clone() };
    request.extensions_mut().insert(principal);
    let guard = guard.clone();
    tokio::task::spawn_blocking(move || {
        if let Err(error) = guard.tokens.record_use(&token, now) {
            tracing::warn!("the use of a token is not recorded: {}", error.message);
        }
    });
    next.run(request).await
}

/// The token in the header, as RFC 6750 writes it.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Says nothing but the scheme: with more, some clients begin OAuth.
fn unauthorized() -> Response {
    let message = "send a token: `Authorization: Bearer amt_...`";
    let mut response = refusal(StatusCode::UNAUTHORIZED, message);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}
