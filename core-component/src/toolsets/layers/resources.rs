//! The resource of an agent: its memory summary, as `get_memory_summary` gives it.

use serde_json::json;

use super::agent::Agent;
use super::get_memory_summary::summary;
use super::uri::{SCHEME, SUMMARY};
use crate::names::AgentName;
use crate::tool::Call;
use crate::toolset::{ReadResult, Resource, Resources};

pub(crate) const RESOURCES: Resources = Resources {
    list: &[],
    templates: &[Resource {
        uri: "layers://{agent_id}/summary",
        name: "memory_summary",
        title: "Memory summary of an agent",
        description: "An overview of all layers of an agent's memory, as JSON.",
    }],
    read,
};

/// Reads a resource. Returns `None` for a URI that this toolset does not have.
fn read(call: &Call<'_>, uri: &str) -> Option<ReadResult> {
    let agent = AgentName::parse(uri.strip_prefix(SCHEME)?.strip_suffix(SUMMARY)?)?;
    let held =
        Agent::open(call, &agent).and_then(|agent| summary(&agent)).map(|summary| json!(summary));
    Some(held.map_err(Into::into))
}
