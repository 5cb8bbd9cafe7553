use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use super::memory::Memory;
use crate::names::AgentName;
use crate::tool::{Audience, Call, Hints, Tool};

pub(super) struct CopyCoreMemories;

/// Copies core memories of one agent to another; those that the other has word for word are left out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Copy core memories")]
pub(super) struct Input {
    /// The agent that has them.
    agent_id: AgentName,
    /// The agent that gets them.
    to_agent_id: AgentName,
    /// Only these; all where none are given.
    #[serde(default)]
    #[schemars(length(max = 1000), inner(range(min = 1, max = 9_007_199_254_740_991_i64)))]
    memory_ids: Vec<i64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    copied: usize,
    /// The other agent had them already.
    skipped: usize,
    /// Where to look instead, if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// About rows that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for CopyCoreMemories {
    const NAME: &'static str = "copy_core_memories";
    const HINTS: Hints = Hints::CREATES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let from = Agent::open(call, &input.agent_id)?;
        let of_other = |error: Error| error.of_agent_in("to_agent_id");
        let to = Agent::open(call, &input.to_agent_id).map_err(of_other)?;
        let (mut memories, warnings) =
            from.read(|reader| Ok((reader.core()?, reader.warnings())))?;
        if !input.memory_ids.is_empty() {
            let has = |id: &i64| memories.iter().any(|memory: &Memory| memory.id == *id);
            if let Some(missing) = input.memory_ids.iter().find(|id| !has(id)) {
                return Err(from.with_others(Error::no_core_memory(from.name, *missing)));
            }
            memories.retain(|memory| input.memory_ids.contains(&memory.id));
        }
        if memories.is_empty() {
            let note = from.note("no core memories")?;
            return Ok(Output { copied: 0, skipped: 0, note, warnings });
        }
        let copied = to.change(|writer| {
            let mut copied = 0;
            for memory in &memories {
                copied += usize::from(writer.add_core(&memory.memory)?.1);
            }
            Ok(copied)
        });
        let copied = copied.map_err(of_other)?;
        Ok(Output { copied, skipped: memories.len() - copied, note: None, warnings })
    }
}
