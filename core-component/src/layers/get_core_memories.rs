use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use super::memory::Memory;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct GetCoreMemories;

/// Gets all core memories of an agent, the oldest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Get the core memories")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    memories: Vec<Memory>,
    count: usize,
    /// Where to look instead, if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for GetCoreMemories {
    const NAME: &'static str = "get_core_memories";
    const HINTS: Hints = Hints::READS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let memories = agent.read(|reader| reader.core())?;
        let note = if memories.is_empty() { agent.note("no core memories")? } else { None };
        Ok(Output { count: memories.len(), memories, note })
    }
}
