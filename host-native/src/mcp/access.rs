//! The rights of a request's client. Over HTTP, they are the rights of the request's token.

#[cfg(feature = "http")]
use super::authorization::{Principal, may_go_on, shut_out};
#[cfg(feature = "http")]
use super::metrics::ended;
use super::roots::ClientRoots;
use super::sampling::Sampling;
use super::server::{Request, Server, Transport};
use crate::{AgentMemory, Caller, Reach};
#[cfg(feature = "http")]
use crate::{CallError, Outcome};
#[cfg(feature = "http")]
use axum::http::request::Parts;
use rmcp::ErrorData;
use std::future;
#[cfg(feature = "http")]
use std::time::Duration;

impl Server {
    /// The caller of a request.
    ///
    /// # Errors
    ///
    /// If the token of the request was revoked or has expired since the head of the request came, or if
    /// the idempotency key is not valid.
    pub(super) fn caller(&self, request: &Request) -> Result<Caller, ErrorData> {
        if !self.may_go_on(request) {
            let message = "the token was revoked or has expired: send one that holds";
            return Err(ErrorData::invalid_request(message, None));
        }
        let reach = self.reach(request);
        // Over HTTP the server cannot ask a client for roots or summaries.
        #[cfg(feature = "http")]
        if !matches!(self.transport, Transport::Stdio) {
            let idempotency_key = idempotency_key(request)?;
            return Ok(Caller { reach, idempotency_key, ..Caller::default() });
        }
        let samples = request.protocol_version().is_some_and(|version| version.has_initialize());
        let capabilities = request.client_capabilities().filter(|_| samples);
        Ok(Caller {
            roots: ClientRoots::from_request(request, &self.known_roots, &self.end),
            models: Sampling::from_client(&request.peer, capabilities.as_ref())
                .into_iter()
                .collect(),
            reach,
            ..Caller::default()
        })
    }

    /// The memory for a request: over HTTP, the memory of the token's tenant.
    #[cfg(feature = "http")]
    pub(super) fn memory_of<'a>(&'a self, request: &'a Request) -> &'a AgentMemory {
        Principal::from_request(request).map_or(&self.offered, Principal::memory)
    }

    /// The memory for a request.
    #[cfg(not(feature = "http"))]
    pub(super) fn memory_of<'a>(&'a self, _: &'a Request) -> &'a AgentMemory {
        &self.offered
    }

    /// The name of the client of a request: over HTTP, the id of its token. All clients without a token
    /// have the same name.
    #[cfg(feature = "http")]
    pub(super) fn client<'a>(&self, request: &'a Request) -> &'a str {
        Principal::from_request(request).map_or("", Principal::token_id)
    }

    /// The name of the client of a request.
    #[cfg(not(feature = "http"))]
    pub(super) fn client<'a>(&self, _: &'a Request) -> &'a str {
        ""
    }

    /// The reach of the client of a request.
    #[cfg(feature = "http")]
    pub(super) fn reach(&self, request: &Request) -> Reach {
        Principal::from_request(request).map(Principal::reach).unwrap_or_default()
    }

    /// The reach of the client of a request.
    #[cfg(not(feature = "http"))]
    pub(super) fn reach(&self, _: &Request) -> Reach {
        Reach::default()
    }

    /// Counts a call of a tool. If the tool can change something, logs whose call it was and what it
    /// changed. `None` as the outcome means that the call was cancelled.
    #[cfg(feature = "http")]
    pub(super) fn count_and_audit(
        &self,
        request: &Request,
        tool: &str,
        took: Duration,
        outcome: Option<&Result<Outcome, CallError>>,
    ) {
        let Some(tool) = self.offered.tools_for_models().find(|own| own.is_called(tool)) else {
            return;
        };
        if let Transport::Http(metrics) = &self.transport {
            let toolsets = self.offered.toolsets();
            let toolset = toolsets.iter().find(|toolset| toolset.tools.contains(&tool.name));
            let toolset = toolset.map_or("", |toolset| &toolset.name);
            metrics.count_call(toolset, &tool.name, ended(outcome), took);
        }
        if let Some(principal) = Principal::from_request(request)
            && !tool.annotations.read_only_hint
        {
            principal.audit(&tool.name, outcome);
        }
    }

    /// Whether a long request may still be answered: the token of its client is still valid.
    #[cfg(feature = "http")]
    pub(super) fn may_go_on(&self, request: &Request) -> bool {
        may_go_on(request)
    }

    /// Whether a long request may still be answered: the token of its client is still valid.
    #[cfg(not(feature = "http"))]
    pub(super) fn may_go_on(&self, _: &Request) -> bool {
        true
    }

    /// Waits until a long request may no longer be answered, since the token of its client is no longer
    /// valid.
    #[cfg(feature = "http")]
    pub(super) async fn shut_out(&self, request: &Request) {
        match self.transport {
            Transport::Stdio => future::pending().await,
            Transport::Http(_) => shut_out(request).await,
        }
    }

    /// Waits until a long request may no longer be answered, since the token of its client is no longer
    /// valid.
    #[cfg(not(feature = "http"))]
    pub(super) async fn shut_out(&self, _: &Request) {
        future::pending().await
    }
}

/// The maximum size of an idempotency key in bytes.
#[cfg(feature = "http")]
const MAX_KEY: usize = 255;

/// The idempotency key of a request over HTTP, after the id of its token: clients with different tokens
/// may use the same key.
#[cfg(feature = "http")]
fn idempotency_key(request: &Request) -> Result<Option<String>, ErrorData> {
    let Some(parts) = request.extensions.get::<Parts>() else { return Ok(None) };
    let mut given = parts.headers.get_all("idempotency-key").iter();
    let Some(key) = given.next() else { return Ok(None) };
    let is_valid = |key: &&str| {
        (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match (key.to_str().ok().filter(is_valid), given.next()) {
        (Some(key), None) => {
            let token = Principal::from_request(request).map_or("", Principal::token_id);
            Ok(Some(format!("{token} {key}")))
        }
        _ => {
            let message = format!(
                "`Idempotency-Key` is given once, with 1 to {MAX_KEY} visible characters of ASCII, such \
                 as a UUID"
            );
            Err(ErrorData::invalid_params(message, None))
        }
    }
}
