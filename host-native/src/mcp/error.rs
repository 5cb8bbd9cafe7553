use super::version::Version;
use crate::{CallError, Category, ToolError};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::json;

/// The error for a request that `rmcp` did not recognise: its method is unknown, or its params
/// cannot be read.
pub(super) fn unrecognised(method: &str, version: Version) -> ErrorData {
    match params_of(method, version) {
        Some(params) => ErrorData::invalid_params(
            format!("the params of `{method}` cannot be read: it takes {params}"),
            None,
        ),
        None => unknown_method(method),
    }
}

/// The error for a method that this server does not have in the request's protocol version.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}` here"), None)
}

/// The error for a request that comes before `initialize`, without the metadata of a stateless
/// request.
pub(super) fn not_initialized(method: &str) -> ErrorData {
    if method == "initialize" {
        return unrecognised(method, Version::Initialized);
    }
    let stateless = ProtocolVersion::NO_INITIALIZE;
    let message = format!(
        "there is no session yet: send `initialize` before `{method}`, or give every request the \
         `_meta` of protocol version {stateless}"
    );
    let supported = json!({ "supported": ProtocolVersion::KNOWN_VERSIONS });
    ErrorData::invalid_params(message, Some(supported))
}

/// The error for a call that has no outcome.
pub(super) fn call_error(error: CallError) -> ErrorData {
    match error {
        CallError::NotFound(message)
        | CallError::InvalidRequest(message)
        | CallError::Repeated(message) => ErrorData::invalid_params(message, None),
        CallError::Ended { message, .. } => ErrorData::internal_error(message, None),
    }
}

/// The error of a toolset, with its JSON as data.
pub(super) fn toolset_error(error: ToolError) -> ErrorData {
    let data = serde_json::from_str(&error.json).ok();
    match error.category {
        Category::Invalid | Category::NotFound => ErrorData::invalid_params(error.message, data),
        _ => ErrorData::internal_error(error.message, data),
    }
}

/// The error for an answer of the component that is not what this host expects.
pub(super) fn unreadable(error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the component's answer cannot be read: {error}"), None)
}

/// The params of a method, in words. `None` if this protocol version has no such method.
fn params_of(method: &str, version: Version) -> Option<&'static str> {
    Some(match (method, version) {
        ("tools/call", _) => "`name`, a string, and `arguments`, an object",
        ("tools/list", _) => "at most `cursor`, a string",
        ("server/discover", _) => "nothing but `_meta`",
        ("subscriptions/listen", Version::Stateless) => "`notifications`, an object",
        ("resources/list" | "resources/templates/list", _) => "at most `cursor`, a string",
        ("resources/read", _) => "`uri`, a string",
        ("prompts/list", _) => "at most `cursor`, a string",
        ("prompts/get", _) => "`name`, a string, and `arguments`, an object of strings",
        ("completion/complete", _) => "`ref` and `argument`, objects",
        ("resources/subscribe" | "resources/unsubscribe", Version::Initialized) => {
            "`uri`, a string"
        }
        ("initialize", Version::Initialized) => {
            "`protocolVersion`, `capabilities` and `clientInfo`"
        }
        ("ping", Version::Initialized) => "nothing",
        _ => return None,
    })
}
