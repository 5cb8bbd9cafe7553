use rmcp::service::{RequestContext, RoleServer};

/// The protocol versions, in groups that this server answers differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 2024-11-05 to 2025-11-25: a session begins with `initialize`.
    Initialized,
    /// 2026-07-28: each request has its own metadata.
    Stateless,
}

impl Version {
    /// The version of a request. A request that names no version belongs to a session that began with
    /// `initialize`.
    pub(super) fn from_request(request: &RequestContext<RoleServer>) -> Version {
        match request.protocol_version() {
            Some(version) if !version.has_initialize() => Version::Stateless,
            _ => Version::Initialized,
        }
    }
}
