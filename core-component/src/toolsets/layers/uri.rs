//! The URI of the resource.

pub(super) const SCHEME: &str = "layers://";
pub(super) const SUMMARY: &str = "/summary";

/// The URI of the resource that changes with an agent's memories.
pub(super) fn summary_uri(agent: &str) -> String {
    format!("{SCHEME}{agent}{SUMMARY}")
}
