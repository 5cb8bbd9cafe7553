//! Asks a server over HTTP whether it is there.

use crate::outbound::agent;
use serde_json::json;
use std::time::Duration;
use ureq::Error;
use ureq::http::{StatusCode, Uri};

/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends an `initialize` of MCP to the server at a URL. Returns what the server does with it.
///
/// The request has no token: the variable that has it may be set for the client alone.
///
/// # Errors
///
/// A message that says what is wrong, if there is no such server.
pub(super) fn asked(url: &str) -> Result<&'static str, String> {
    if !is_of_http(url) {
        return Err("is no URL of a server over HTTP".to_owned());
    }
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
        Err(Error::Timeout(_)) => Err("does not answer in time".to_owned()),
        Err(Error::HostNotFound) => Err("has a host that is not found".to_owned()),
        Err(Error::Io(error)) => Err(format!("does not answer: {error}")),
        // The text of another error can have the URL, with its password.
        Err(_) => Err("does not answer in HTTP".to_owned()),
    }
}

/// Whether this is a URL of a server over HTTP. The client would ask port 80 for a port that is not a
/// number.
fn is_of_http(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let Some(authority) = uri.authority() else { return false };
    let place = authority.as_str().rsplit('@').next().unwrap_or_default();
    matches!(uri.scheme_str(), Some("http" | "https"))
        && !authority.host().is_empty()
        && (place == authority.host() || authority.port_u16().is_some())
}
