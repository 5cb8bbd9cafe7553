//! Over HTTP, a client has the rights of its token.

use super::super::authorization::{Client, Principal};
use super::super::metrics::ended;
use super::super::server::{Request, Server, Transport};
use crate::{AgentMemory, CallError, Caller, Outcome, Reach};
use axum::http::request::Parts;
use rmcp::ErrorData;
use std::future;
use std::time::Duration;

impl Server {
    /// The caller of a request over HTTP. `None` over stdio.
    ///
    /// # Errors
    ///
    /// If the idempotency key is not valid.
    pub(super) fn caller_over_http(&self, request: &Request) -> Result<Option<Caller>, ErrorData> {
        if matches!(self.transport, Transport::Stdio) {
            return Ok(None);
        }
        let idempotency_key = idempotency_key(request, self.client(request))?;
        // Over HTTP the server cannot ask a client for roots or summaries.
        Ok(Some(Caller { reach: self.reach(request), idempotency_key, ..Caller::default() }))
    }

    /// The holder of a request's token. `None` over stdio, and for a request that needed no token.
    fn holder<'a>(&self, request: &'a Request) -> Option<&'a Principal> {
        match self.transport {
            Transport::Stdio => None,
            Transport::Http(_) => Client::from_request(request).holder(),
        }
    }

    /// The memory for a request: over HTTP, the memory of the token's tenant.
    pub(in crate::mcp) fn memory_of<'a>(&'a self, request: &'a Request) -> &'a AgentMemory {
        self.holder(request).map_or(&self.offered, Principal::memory)
    }

    /// The name of the client of a request: over HTTP, the id of its token. All clients without a token
    /// have the same name.
    pub(in crate::mcp) fn client<'a>(&self, request: &'a Request) -> &'a str {
        self.holder(request).map_or("", Principal::token_id)
    }

    /// The reach of the client of a request. A client without a token has the reach of the process.
    pub(in crate::mcp) fn reach(&self, request: &Request) -> Reach {
        self.holder(request).map(Principal::reach).unwrap_or_default()
    }

    /// Counts a call of a tool. If the tool can change something, logs whose call it was and what it
    /// changed. `None` as the outcome means that the call was cancelled.
    pub(in crate::mcp) fn count_and_audit(
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
        if let Some(principal) = self.holder(request)
            && !tool.annotations.read_only_hint
        {
            principal.audit(&tool.name, outcome);
        }
    }

    /// Whether a long request may still be answered: the token of its client is still valid.
    pub(in crate::mcp) fn may_go_on(&self, request: &Request) -> bool {
        match self.transport {
            Transport::Stdio => true,
            Transport::Http(_) => Client::from_request(request).may_go_on(),
        }
    }

    /// Waits until a long request may no longer be answered, since the token of its client is no longer
    /// valid.
    pub(in crate::mcp) async fn shut_out(&self, request: &Request) {
        match self.transport {
            Transport::Stdio => future::pending().await,
            Transport::Http(_) => Client::from_request(request).shut_out().await,
        }
    }
}

/// The maximum size of an idempotency key in bytes.
const MAX_KEY: usize = 255;

/// The idempotency key of a request over HTTP, after the name of its client: different clients may use
/// the same key.
fn idempotency_key(request: &Request, client: &str) -> Result<Option<String>, ErrorData> {
    let Some(parts) = request.extensions.get::<Parts>() else { return Ok(None) };
    let mut given = parts.headers.get_all("idempotency-key").iter();
    let Some(key) = given.next() else { return Ok(None) };
    let is_valid = |key: &&str| {
        (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match (key.to_str().ok().filter(is_valid), given.next()) {
        (Some(key), None) => Ok(Some(format!("{client} {key}"))),
        _ => {
            let message = format!(
                "`Idempotency-Key` is given once, with 1 to {MAX_KEY} visible characters of ASCII, such \
                 as a UUID"
            );
            Err(ErrorData::invalid_params(message, None))
        }
    }
}
