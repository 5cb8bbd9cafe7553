//! The rights of a request's client. Over HTTP, they are the rights of the request's token.

#[cfg_attr(not(feature = "http"), path = "no_tokens.rs")]
mod tokens;

use super::roots::ClientRoots;
use super::sampling::Sampling;
use super::server::{Request, Server};
use crate::Caller;
use rmcp::ErrorData;

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
        if let Some(caller) = self.caller_over_http(request)? {
            return Ok(caller);
        }
        let samples = request.protocol_version().is_some_and(|version| version.has_initialize());
        let capabilities = request.client_capabilities().filter(|_| samples);
        Ok(Caller {
            roots: ClientRoots::from_request(request, &self.known_roots, &self.end),
            models: Sampling::from_client(&request.peer, capabilities.as_ref())
                .into_iter()
                .collect(),
            reach: self.reach(request),
            ..Caller::default()
        })
    }
}
