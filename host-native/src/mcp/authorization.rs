//! The check of the tokens of requests over HTTP.

use super::metrics::ended;
use super::refusal::{refusal, waiting};
use super::streams::Streams;
use crate::oauth::{self, ResourceServer};
use crate::storage::{self, ErrorCode};
use crate::tokens::{Token, Tokens, is_use_due};
use crate::{AgentMemory, CallError, Outcome, Reach};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use jiff::Timestamp;
use rmcp::service::{RequestContext, RoleServer};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of requests of one token in [`WINDOW`].
const MAX_REQUESTS: u32 = 20_000;
const WINDOW: Duration = Duration::from_secs(10);

/// The time between two checks whether the client of an open stream still has a valid token.
const CHECK: Duration = Duration::from_secs(5);

/// The maximum number of subjects without a bound token that are logged.
const MAX_STRANGERS: usize = 100;

/// Lets requests with a valid token pass, and adds their [`Client`] to them.
#[derive(Clone)]
pub(super) struct Authorization {
    /// The memory of clients without a tenant.
    memory: AgentMemory,
    guard: Option<Arc<Guard>>,
    streams: Streams,
}

/// The tokens that requests need, and their use.
pub(super) struct Guard {
    tokens: Arc<Tokens>,
    /// Checks access tokens of an authorization server. If `None`, access tokens are refused.
    oauth: Option<Arc<ResourceServer>>,
    /// Whether each request needs a token. A server that began without tokens needs them once the first
    /// token exists, until the server ends.
    is_closed: AtomicBool,
    /// The use of each token, by the token's id.
    uses: Mutex<HashMap<String, Use>>,
    /// The subjects without a bound token that were logged already.
    strangers: Mutex<BTreeSet<String>>,
}

/// The use of a token by this process.
struct Use {
    /// The start of the period in which `requests` are counted.
    since: Instant,
    requests: u32,
    recorded: Option<Timestamp>,
}

/// The client of a request over HTTP. [`pass`] adds it to each request that it lets in.
#[derive(Clone)]
pub(super) enum Client {
    /// The holder of the request's token.
    Holder(Arc<Principal>),
    /// A client without a token, while none is needed yet.
    Visitor(Arc<Guard>),
    /// A client of a server without tokens.
    Anybody,
}

impl Client {
    /// The client of a request over HTTP.
    ///
    /// # Panics
    ///
    /// If [`pass`] did not let the request in. Such a request must have no rights.
    pub fn from_request(request: &RequestContext<RoleServer>) -> &Self {
        let parts = request.extensions.get::<Parts>();
        parts.and_then(|parts| parts.extensions.get()).expect("a request that was let in")
    }

    /// The holder of the request's token. `None` for a request that needed no token.
    pub fn holder(&self) -> Option<&Principal> {
        match self {
            Client::Holder(principal) => Some(principal),
            Client::Visitor(_) | Client::Anybody => None,
        }
    }

    /// Whether a long request may still be answered: its token is still valid, or requests need no
    /// token yet.
    pub fn may_go_on(&self) -> bool {
        match self {
            Client::Holder(principal) => principal.may_go_on(),
            Client::Visitor(guard) => guard.is_closed().is_ok_and(|is_closed| !is_closed),
            Client::Anybody => true,
        }
    }

    /// Waits until a long request may no longer be answered.
    pub async fn shut_out(&self) {
        while self.may_go_on() {
            tokio::time::sleep(CHECK).await;
        }
    }
}

/// The holder of the token of a request.
pub(super) struct Principal {
    token: Token,
    /// When the access token of the request expires. `None` if the request has one of this server's own
    /// tokens.
    until: Option<Timestamp>,
    tokens: Arc<Tokens>,
    /// The memory of the token's tenant.
    memory: AgentMemory,
}

impl Principal {
    pub fn reach(&self) -> Reach {
        self.token.reach()
    }

    /// The id of the token.
    pub fn token_id(&self) -> &str {
        &self.token.id
    }

    /// The memory of the token's tenant.
    pub fn memory(&self) -> &AgentMemory {
        &self.memory
    }

    /// Whether the token is bound to a tenant.
    pub fn has_tenant(&self) -> bool {
        self.token.tenant.is_some()
    }

    fn may_go_on(&self) -> bool {
        let now = Timestamp::now();
        let holds = self.until.is_none_or(|until| now < until);
        holds && self.tokens.is_valid(&self.token, now).unwrap_or_default()
    }

    /// Logs a call of a tool that can change something: how it ended and the resources that it
    /// changed, without their contents.
    pub fn audit(&self, tool: &str, outcome: Option<&Result<Outcome, CallError>>) {
        let token = &self.token.name;
        let tenant = self.token.tenant.as_deref();
        let ended = ended(outcome);
        let changed = match outcome {
            Some(Ok(outcome)) => outcome.changed.join(" "),
            _ => String::new(),
        };
        tracing::info!(target: "audit", token, tenant, tool, outcome = ended, changed, "audit");
    }
}

impl Authorization {
    /// Lets a request pass if it has a token, or an access token of a subject to which a token is
    /// bound. Without `tokens`, all requests pass. With `is_open`, all requests pass as long as no
    /// token exists.
    pub fn new(
        memory: AgentMemory,
        tokens: Option<Arc<Tokens>>,
        oauth: Option<Arc<ResourceServer>>,
        is_open: bool,
    ) -> Self {
        let is_closed = AtomicBool::new(!is_open);
        let guard = |tokens| Guard {
            tokens,
            oauth,
            is_closed,
            uses: Mutex::default(),
            strangers: Mutex::default(),
        };
        Authorization {
            memory,
            guard: tokens.map(|tokens| Arc::new(guard(tokens))),
            streams: Streams::new(),
        }
    }
}

impl Guard {
    /// Whether a request needs a token.
    fn is_closed(&self) -> Result<bool, storage::Error> {
        if !self.is_closed.load(Ordering::Relaxed) && !self.tokens.all()?.is_empty() {
            self.is_closed.store(true, Ordering::Relaxed);
        }
        Ok(self.is_closed.load(Ordering::Relaxed))
    }

    /// Finds out who sent a request.
    async fn find(&self, headers: &HeaderMap, now: Timestamp) -> Result<Sender, Refused> {
        if !self.is_closed()? {
            return Ok(Sender::Visitor);
        }
        let given = bearer(headers).ok_or(Refused::Nobody)?;
        if let Some(token) = self.tokens.find(given, now)? {
            return Ok(Sender::holder(token, None));
        }
        // This server's own tokens have no `.`. Access tokens are JWTs, which have two.
        let oauth = self.oauth.as_ref().filter(|_| given.contains('.')).ok_or(Refused::Unknown)?;
        let accepted = oauth.check(given, now).await?;
        match self.tokens.find_bound(oauth.issuer(), &accepted.subject, now)? {
            Some(token) => Ok(Sender::holder(token, Some(accepted.until))),
            None => Err(Refused::Stranger(accepted.subject)),
        }
    }

    fn refuse(&self, refused: Refused) -> Response {
        let challenge = |error| match &self.oauth {
            Some(oauth) => oauth.challenge(error),
            // With parameters after `Bearer`, some clients would begin OAuth.
            None => "Bearer".to_owned(),
        };
        let unauthorized =
            |message: &str, error| challenged(StatusCode::UNAUTHORIZED, message, &challenge(error));
        const SEND: &str = "send a token: `Authorization: Bearer amt_...`";
        match refused {
            Refused::Tokens(error) => {
                tracing::error!("no request is let in: {}", error.message);
                refusal(StatusCode::SERVICE_UNAVAILABLE, "the tokens cannot be read")
            }
            Refused::Nobody => unauthorized(SEND, None),
            Refused::Unknown => {
                let reason = "the token is unknown, revoked or expired";
                let message = format!("{reason}: send one that `agent-memory token list` shows");
                unauthorized(&message, Some(("invalid_token", reason)))
            }
            Refused::AccessToken(oauth::Error::Invalid(reason)) => {
                let message = format!("the access token is not valid: {reason}");
                unauthorized(&message, Some(("invalid_token", &message)))
            }
            Refused::AccessToken(oauth::Error::Scope) => {
                let reason = "the access token lacks a scope";
                let challenge = challenge(Some(("insufficient_scope", reason)));
                challenged(StatusCode::FORBIDDEN, reason, &challenge)
            }
            Refused::AccessToken(oauth::Error::Unavailable) => {
                let message = "the access token cannot be checked: its issuer does not answer";
                waiting(StatusCode::SERVICE_UNAVAILABLE, message, "5")
            }
            Refused::Stranger(subject) => {
                self.log_stranger(&subject);
                let message = format!(
                    "the subject `{subject}` may not use this server: its operator lets it in by \
                     `agent-memory token create NAME --issuer URL --subject SUBJECT`"
                );
                refusal(StatusCode::FORBIDDEN, &message)
            }
        }
    }

    /// Logs a subject without a bound token, each subject only once.
    fn log_stranger(&self, subject: &str) {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        if strangers.len() < MAX_STRANGERS && strangers.insert(subject.to_owned()) {
            tracing::warn!(subject, "no token is bound to this subject: it is not let in");
        }
    }

    /// Counts a request. Returns whether this use of the token is to be recorded, or `None` if the token
    /// has made more than [`MAX_REQUESTS`] within [`WINDOW`].
    fn count(&self, token: &Token, now: Timestamp) -> Option<bool> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = || Use { since: Instant::now(), requests: 0, recorded: token.last_used };
        let used = uses.entry(token.id.clone()).or_insert_with(unused);
        if used.since.elapsed() >= WINDOW {
            (used.since, used.requests) = (Instant::now(), 0);
        }
        used.requests += 1;
        let is_due = is_use_due(used.recorded, now);
        if is_due {
            used.recorded = Some(now);
        }
        (used.requests <= MAX_REQUESTS).then_some(is_due)
    }
}

/// The sender of a request.
enum Sender {
    /// No token is needed yet, so the sender is not known.
    Visitor,
    /// The token of the request, or the token that is bound to the subject of its access token. Also
    /// the time when the access token expires.
    Holder(Box<Token>, Option<Timestamp>),
}

impl Sender {
    fn holder(token: Token, until: Option<Timestamp>) -> Self {
        Sender::Holder(Box::new(token), until)
    }
}

/// Why a request is not let in.
enum Refused {
    /// The tokens cannot be read.
    Tokens(storage::Error),
    /// The request has no token.
    Nobody,
    /// The token of the request is unknown, revoked or expired.
    Unknown,
    AccessToken(oauth::Error),
    /// The access token is valid, but no token is bound to its subject.
    Stranger(String),
}

impl From<storage::Error> for Refused {
    fn from(error: storage::Error) -> Self {
        Refused::Tokens(error)
    }
}

impl From<oauth::Error> for Refused {
    fn from(error: oauth::Error) -> Self {
        Refused::AccessToken(error)
    }
}

pub(super) async fn pass(
    State(authorization): State<Authorization>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(guard) = authorization.guard else {
        request.extensions_mut().insert(Client::Anybody);
        return authorization.streams.limit(None, request, next).await;
    };
    let now = Timestamp::now();
    let (token, until) = match guard.find(request.headers(), now).await {
        Ok(Sender::Visitor) => {
            request.extensions_mut().insert(Client::Visitor(guard.clone()));
            return authorization.streams.limit(None, request, next).await;
        }
        Ok(Sender::Holder(token, until)) => (*token, until),
        Err(refused) => return guard.refuse(refused),
    };
    let Some(is_use_due) = guard.count(&token, now) else {
        let message = "this token has made too many requests: wait";
        return waiting(StatusCode::TOO_MANY_REQUESTS, message, "10");
    };
    let memory = match memory_of(&authorization.memory, &token).await {
        Ok(memory) => memory,
        Err(refused) => return refused,
    };
    let tokens = guard.tokens.clone();
    let id = token.id.clone();
    let principal = Principal { token: token.clone(), until, tokens: tokens.clone(), memory };
    request.extensions_mut().insert(Client::Holder(Arc::new(principal)));
    if is_use_due {
        tokio::task::spawn_blocking(move || {
            if let Err(error) = tokens.record_use(&token, now) {
                tracing::warn!("the use of a token is not recorded: {}", error.message);
            }
        });
    }
    authorization.streams.limit(Some(&id), request, next).await
}

/// The memory of a token's tenant, or the refusal if that memory cannot be opened.
async fn memory_of(memory: &AgentMemory, token: &Token) -> Result<AgentMemory, Response> {
    let Some(tenant) = &token.tenant else { return Ok(memory.clone()) };
    memory.for_tenant(tenant).await.map_err(|error| match error.code {
        ErrorCode::NotFound | ErrorCode::NotGranted => {
            let message = format!("this token has a tenant: {}", error.message);
            refusal(StatusCode::FORBIDDEN, &message)
        }
        _ => {
            tracing::warn!(tenant, "a tenant is not let in: {}", error.message);
            let message = "the database that knows the tenant of this token cannot be asked now";
            waiting(StatusCode::SERVICE_UNAVAILABLE, message, "5")
        }
    })
}

/// The token in the header `Authorization`, by RFC 6750. `None` if there is no such header or more than
/// one, or if it has another form.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    // Two headers are refused: a proxy and this server might take different ones.
    let (Some(one), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn challenged(status: StatusCode, message: &str, challenge: &str) -> Response {
    let mut response = refusal(status, message);
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}
