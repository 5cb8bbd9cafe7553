//! Completing the arguments of the resource templates: agents, and the days with a log.

use super::agent::{Agent, agent_names, open_tree};
use super::error::Error;
use crate::names::AgentName;
use crate::prompt::Partial;
use crate::tool::{Call, Checked};

pub(super) fn complete(call: &Call<'_>, partial: &Partial<'_>) -> Checked<Vec<String>> {
    let values = match partial.argument {
        "agent" => open_tree(call, None).and_then(|tree| agent_names(call, &*tree)),
        _ => dates(call, partial),
    };
    values.map_err(Into::into)
}

/// The days with a log of the agent that the call names, the newest first. Empty if the call names
/// no agent.
fn dates(call: &Call<'_>, partial: &Partial<'_>) -> Result<Vec<String>, Error> {
    let agent = partial.others.get("agent").and_then(|name| AgentName::parse(name));
    let Some(agent) = agent else { return Ok(Vec::new()) };
    let days = Agent::open(call, None, &agent)?.sessions()?;
    Ok(days.iter().rev().map(ToString::to_string).collect())
}
