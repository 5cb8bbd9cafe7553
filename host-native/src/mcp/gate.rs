//! The check of the tokens of requests over HTTP.

use super::metrics::ended;
use super::refusal::refusal;
use crate::storage;
use crate::tokens::{Token, Tokens, is_use_due};
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most requests of one token in [`WINDOW`].
const MAX_REQUESTS: u32 = 20_000;
const WINDOW: Duration = Duration::from_secs(10);

/// Lets requests pass that bring a token, and says whose they are.
#[derive(Clone)]
pub(super) struct Gate(Option<Arc<Guard>>);

struct Guard {
    tokens: Arc<Tokens>,
    /// Whether a request needs a token. A server that began without one asks for it from the first
    /// token on, and then for good.
    is_closed: AtomicBool,
    /// The state of each token that came.
    uses: Mutex<HashMap<String, Use>>,
}

/// The use of a token by this process.
struct Use {
    /// Since when its requests are counted.
    since: Instant,
    requests: u32,
    recorded: Option<Timestamp>,
}

/// That a request came without a token, when none was needed.
#[derive(Clone)]
struct Visitor(Arc<Guard>);

/// Whether the request of a client that is open for long may still be answered: its token is neither
/// revoked nor expired since, or none is needed yet.
pub(super) fn may_go_on(request: &RequestContext<RoleServer>) -> bool {
    let Some(parts) = request.extensions.get::<Parts>() else { return true };
    match (parts.extensions.get::<Principal>(), parts.extensions.get::<Visitor>()) {
        (Some(principal), _) => principal.may_go_on(),
        (None, Some(Visitor(guard))) => guard.is_closed().is_ok_and(|is_closed| !is_closed),
        (None, None) => true,
    }
}

/// Whose request it is.
#[derive(Clone)]
pub(super) struct Principal {
    token: Token,
    tokens: Arc<Tokens>,
}

impl Principal {
    /// That of a request over HTTP with a token.
    pub fn from_request(request: &RequestContext<RoleServer>) -> Option<&Principal> {
        request.extensions.get::<Parts>()?.extensions.get::<Principal>()
    }

    pub fn reach(&self) -> Reach {
        self.token.reach()
    }

    fn may_go_on(&self) -> bool {
        self.tokens.is_valid(&self.token, Timestamp::now()).unwrap_or_default()
    }

    /// Logs a call of a tool that can change something: how it ended and the resources that it
    /// changed, without their contents.
    pub fn audit(&self, tool: &str, outcome: Option<&Result<Outcome, CallError>>) {
        let token = &self.token.name;
        let ended = ended(outcome);
        let changed = match outcome {
            Some(Ok(outcome)) => outcome.changed.join(" "),
            _ => String::new(),
        };
        tracing::info!(target: "audit", token, tool, outcome = ended, changed, "audit");
    }
}

impl Gate {
    /// A gate for the holders of tokens. Without `tokens`, all pass. With `is_open`, all pass as long
    /// as there is no token.
    pub fn new(tokens: Option<Arc<Tokens>>, is_open: bool) -> Self {
        let is_closed = AtomicBool::new(!is_open);
        Gate(tokens.map(|tokens| Arc::new(Guard { tokens, is_closed, uses: Mutex::default() })))
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

    /// The token of a request, if it needs one and has one.
    fn find(&self, headers: &HeaderMap, now: Timestamp) -> Result<Known, storage::Error> {
        if !self.is_closed()? {
            return Ok(Known::Anybody);
        }
        let found = match bearer(headers) {
            Some(given) => self.tokens.find(given, now)?,
            None => None,
        };
        Ok(found.map_or(Known::Nobody, |token| Known::Holder(Box::new(token))))
    }

    /// Counts a request. None if its token has had its share, otherwise whether its use is to be
    /// recorded.
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
enum Known {
    /// Nobody has to say.
    Anybody,
    /// Somebody without a token that holds.
    Nobody,
    Holder(Box<Token>),
}

pub(super) async fn pass(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let Some(guard) = gate.0 else { return next.run(request).await };
    let now = Timestamp::now();
    let token = match guard.find(request.headers(), now) {
        Ok(Known::Anybody) => {
            request.extensions_mut().insert(Visitor(guard.clone()));
            return next.run(request).await;
        }
        Ok(Known::Nobody) => return unauthorized(),
        Ok(Known::Holder(token)) => *token,
        Err(error) => {
            tracing::error!("no request is let in: {}", error.message);
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "the tokens cannot be read");
        }
    };
    let Some(is_use_due) = guard.count(&token, now) else {
        let mut response =
            refusal(StatusCode::TOO_MANY_REQUESTS, "this token has made too many requests: wait");
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
        return response;
    };
    let tokens = guard.tokens.clone();
    request.extensions_mut().insert(Principal { token: token.clone(), tokens: tokens.clone() });
    if is_use_due {
        tokio::task::spawn_blocking(move || {
            if let Err(error) = tokens.record_use(&token, now) {
                tracing::warn!("the use of a token is not recorded: {}", error.message);
            }
        });
    }
    next.run(request).await
}

/// The token in the header, as RFC 6750 writes it.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    // Of two, a proxy and this server might take different ones.
    let (Some(one), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Says nothing but the scheme: with more, some clients begin OAuth.
fn unauthorized() -> Response {
    let message = "send a token: `Authorization: Bearer amt_...`";
    let mut response = refusal(StatusCode::UNAUTHORIZED, message);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}
