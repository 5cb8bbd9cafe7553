//! The resources of spec 001: recent memories and statistics, for the default agent and for each
//! agent. Reading a resource does not count as an access.

use serde_json::{Value, json};

use super::agent::Agent;
use super::agents;
use super::error::Error;
use super::get_memory_stats;
use super::input::DEFAULT_AGENT;
use super::memory::Returned;
use super::query::Query;
use super::uri::SCHEME;
use crate::answer::cut_list;
use crate::names::AgentName;
use crate::tool::Call;
use crate::toolset::{ReadResult, Resource, Resources};

/// The number of memories in `memory://recent`.
const RECENT: u32 = 20;

pub(crate) const RESOURCES: Resources = Resources {
    list: &[
        Resource {
            uri: "memory://recent",
            name: "recent",
            title: "Recent memories",
            description: "The 20 most recently accessed memories of the default agent, as JSON.",
        },
        Resource {
            uri: "memory://stats",
            name: "stats",
            title: "Memory statistics",
            description: "Statistics about the memories of the default agent, as JSON.",
        },
    ],
    templates: &[
        Resource {
            uri: "memory://{agent_id}/recent",
            name: "recent_of_agent",
            title: "Recent memories of an agent",
            description: "The 20 most recently accessed memories of an agent, as JSON.",
        },
        Resource {
            uri: "memory://{agent_id}/stats",
            name: "stats_of_agent",
            title: "Memory statistics of an agent",
            description: "Statistics about the memories of an agent, as JSON.",
        },
    ],
    read,
};

/// Reads a resource. Returns `None` for a URI that this toolset does not have.
fn read(call: &Call<'_>, uri: &str) -> Option<ReadResult> {
    let path = uri.strip_prefix(SCHEME)?;
    let default = call.context.only_agent().unwrap_or(DEFAULT_AGENT);
    let (agent, name) = path.split_once('/').unwrap_or((default, path));
    let agent = AgentName::parse(agent)?;
    let contents = match name {
        "recent" => recent(call, &agent),
        "stats" => stats(call, &agent),
        _ => return None,
    };
    Some(contents.map_err(Into::into))
}

fn recent(call: &Call<'_>, agent: &AgentName) -> Result<Value, Error> {
    let query = Query::recent(RECENT);
    let agent = Agent::open(call, agent)?;
    let (mut page, unreadable) =
        agent.read(|reader| Ok((reader.query(&query)?, reader.unreadable())))?;
    cut_list(&mut page.memories);
    let memories: Vec<_> = page.memories.into_iter().map(Returned::from).collect();
    let mut contents = json!({ "memories": memories, "count": memories.len() });
    let mut warnings: Vec<String> = unreadable.into_iter().collect();
    if memories.is_empty()
        && warnings.is_empty()
        && let Some(there_are) = agents::there_are(call, agent.name, &mut warnings)
    {
        contents["note"] = get_memory_stats::no_memories(agent.name, &there_are).into();
    }
    if !warnings.is_empty() {
        contents["warnings"] = warnings.into();
    }
    Ok(contents)
}

fn stats(call: &Call<'_>, agent: &AgentName) -> Result<Value, Error> {
    Ok(json!(get_memory_stats::stats(call, agent)?))
}
