use schemars::JsonSchema;
use serde::Deserialize;

use super::error::Error;
use super::input::Tag;
use super::memory::{Importance, Kind};
use super::new_memory::{NewMemory, Stored, add};
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct AddRecentLearning;

/// Stores a learning: an insight of recent work.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Add a learning")]
pub(super) struct Input {
    /// The memory.
    #[schemars(length(max = 5000), regex(pattern = r"\S"))]
    content: String,
    /// Default `default`.
    agent_id: Option<AgentName>,
    /// Such as `insight`.
    #[schemars(length(max = 50), regex(pattern = r"\S"))]
    category: Option<String>,
    /// To find it by.
    #[serde(default)]
    #[schemars(length(max = 10))]
    tags: Vec<Tag>,
    /// Its weight.
    #[serde(default)]
    importance: Importance,
}

impl Tool for AddRecentLearning {
    const NAME: &'static str = "add_recent_learning";
    const HINTS: Hints = Hints::ADDS;
    type Input = Input;
    type Output = Stored;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Stored, Error> {
        let Input { content, agent_id, category, tags, importance } = input;
        add(call, Kind::Learning, NewMemory { agent_id, content, category, tags, importance })
    }
}
