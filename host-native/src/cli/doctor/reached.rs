//! Asks a server over HTTP whether it is there.

use crate::outbound::agent;
use serde_json::json;
use std::time::Duration;
use ureq::http::StatusCode;

/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks the server at a URL for MCP. Returns what it does with the question.
///
/// The question has no token: the variable that has it may be set for the client alone.
///
/// # Errors
///
/// If there is no such server: what is wrong.
pub(super) fn asked(url: &str) -> Result<&'static str, String> {
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "agent-memory doctor", "version": env!("CARGO_PKG_VERSION")},
        },
    });
    let request = agent().post(url).header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream").config();
    let answer = request.timeout_global(Some(TIMEOUT)).build().send(initialize.to_string());
    match answer.map(|answer| answer.status()) {
        Ok(status) if status.is_success() => Ok("answers"),
        Ok(StatusCode::UNAUTHORIZED) => Ok("answers and wants a token"),
        Ok(status) => Err(format!("answers with status {}", status.as_u16())),
        Err(ureq::Error::Timeout(_)) => Err("does not answer in time".to_owned()),
        Err(error) => Err(format!("does not answer: {error}")),
    }
}
