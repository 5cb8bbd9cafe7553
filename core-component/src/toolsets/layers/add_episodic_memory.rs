use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use super::input::{self, Tag, line, sentence_warning};
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct AddEpisodicMemory;

/// Records a completed task or a significant event for good, to be found by
/// `search_episodic_memories`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Add an episode")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// One short sentence.
    #[schemars(length(max = 1000), regex(pattern = r"\S"))]
    memory: String,
    /// To find it by; no commas.
    #[serde(default)]
    #[schemars(length(max = 10))]
    tags: Vec<Tag>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    id: i64,
    created: bool,
    warnings: Vec<String>,
}

impl Tool for AddEpisodicMemory {
    const NAME: &'static str = "add_episodic_memory";
    const HINTS: Hints = Hints::ADDS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let memory = line(&input.memory, "memory")?;
        let tags = input::tags(&input.tags)?;
        let id = agent.change(|writer| writer.add_episode(&memory, tags.as_deref()))?;
        let warnings = sentence_warning(&memory, "memory").into_iter().collect();
        Ok(Output { id, created: true, warnings })
    }
}
