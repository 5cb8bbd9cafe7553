use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct DeleteCoreMemory;

/// Deletes a core memory for good. Only where it is wrong or somebody asked for it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Delete a core memory")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// Its id, as `get_core_memories` gives it.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    memory_id: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    id: i64,
    deleted: bool,
}

impl Tool for DeleteCoreMemory {
    const NAME: &'static str = "delete_core_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let id = input.memory_id;
        match agent.change_existing(|writer| writer.delete_core(id))? {
            Some(true) => Ok(Output { id, deleted: true }),
            _ => Err(agent.with_others(Error::no_core_memory(agent.name, id))),
        }
    }
}
