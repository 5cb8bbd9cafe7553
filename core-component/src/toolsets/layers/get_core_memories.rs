use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use super::memory::{Memory, Page, page};
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct GetCoreMemories;

/// Gets the core memories of an agent, the oldest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Get the core memories")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// To go on: `next` of the answer before.
    from: Option<i64>,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
}

fn default_limit() -> u32 {
    1000
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    memories: Vec<Memory>,
    count: usize,
    // The value of `from` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
    // Which agents there are, if this agent has no core memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    // Warnings about rows that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for GetCoreMemories {
    const NAME: &'static str = "get_core_memories";
    const HINTS: Hints = Hints::READS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let (mut memories, warnings) =
            agent.read(|reader| Ok((reader.core()?, reader.warnings())))?;
        memories.retain(|memory| input.from.is_none_or(|from| memory.id >= from));
        let Page { memories, next } = page(memories, input.limit);
        let is_empty = memories.is_empty() && input.from.is_none();
        let note = if is_empty { agent.note("no core memories")? } else { None };
        Ok(Output { count: memories.len(), memories, next, note, warnings })
    }
}
