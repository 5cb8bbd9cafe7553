use rmcp::ErrorData;
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

/// Which protocol a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// 2024-11-05 to 2025-11-25: a session that begins with `initialize`.
    Initialized,
    /// 2026-07-28: each request says all that it needs.
    Stateless,
}

impl Era {
    pub(super) fn of(request: &RequestContext<RoleServer>) -> Era {
        Era::of_version(request.protocol_version())
    }

    fn of_version(version: Option<ProtocolVersion>) -> Era {
        match version {
            Some(version) if !version.has_initialize() => Era::Stateless,
            _ => Era::Initialized,
        }
    }
}

/// The error for a request that `rmcp` took for none that it knows: either the method is none of
/// ours, or its params could not be read.
pub(super) fn refusal(method: &str, era: Era) -> ErrorData {
    match params_of(method, era) {
        Some(params) => ErrorData::invalid_params(
            format!("the params of `{method}` cannot be read: it takes {params}"),
            None,
        ),
        None => unknown_method(method),
    }
}

/// The error for a method that this server does not have in the request's era.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}` here"), None)
}

/// What the methods of this server take, in the era that has them.
fn params_of(method: &str, era: Era) -> Option<&'static str> {
    Some(match (method, era) {
        ("tools/call", _) => "`name`, a string, and `arguments`, an object",
        ("tools/list", _) => "at most `cursor`, a string",
        ("server/discover", _) => "nothing but `_meta`",
        ("subscriptions/listen", Era::Stateless) => "`notifications`, an object",
        ("resources/list" | "resources/templates/list", _) => "at most `cursor`, a string",
        ("resources/read", _) => "`uri`, a string",
        ("resources/subscribe" | "resources/unsubscribe", Era::Initialized) => "`uri`, a string",
        ("initialize", Era::Initialized) => "`protocolVersion`, `capabilities` and `clientInfo`",
        ("ping", Era::Initialized) => "nothing",
        _ => return None,
    })
}
