use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use super::input::{line, sentence_warning};
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct AddCoreMemory;

/// Adds a permanent core memory: a principle of the agent or a key learning about the whole project.
/// Use it seldom: all of them are read in every session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Add a core memory")]
pub(super) struct Input {
    /// The agent, such as `tdd-implementer`, `project-manager`, `value-chain-expert` or
    /// `product-requirements`.
    agent_id: AgentName,
    /// One short sentence.
    #[schemars(length(max = 1000), regex(pattern = r"\S"))]
    memory: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    id: i64,
    /// False where the agent had it already.
    created: bool,
    warnings: Vec<String>,
}

impl Tool for AddCoreMemory {
    const NAME: &'static str = "add_core_memory";
    const HINTS: Hints = Hints::CREATES;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let memory = line(&input.memory, "memory")?;
        let (id, created) = agent.change(|writer| writer.add_core(&memory))?;
        let warnings = sentence_warning(&memory, "memory").into_iter().collect();
        Ok(Output { id, created, warnings })
    }
}
