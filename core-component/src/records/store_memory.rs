use schemars::JsonSchema;
use serde::Deserialize;

use super::agent::Agent;
use super::agents;
use super::error::Error;
use super::input::{self, Tag, default_agent};
use super::memory::{Importance, Kind, Memory};
use super::new_memory::{NewMemory, Stored, add};
use super::store::Purpose;
use crate::input::content;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct StoreMemory;

/// Stores a new memory; with `id` updates that one: what is left out keeps its value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Store a memory")]
pub(super) struct Input {
    /// `core` lasts, `learning` was found, `task` was done.
    #[serde(rename = "type")]
    kind: Kind,
    /// The memory.
    #[schemars(length(max = 5000), regex(pattern = r"\S"))]
    content: String,
    /// Default `default`.
    #[serde(default = "default_agent")]
    agent_id: AgentName,
    /// Such as `preference`.
    #[schemars(length(max = 50), regex(pattern = r"\S"))]
    category: Option<String>,
    /// To find it by.
    #[schemars(length(max = 10))]
    tags: Option<Vec<Tag>>,
    /// `medium` in a new memory.
    importance: Option<Importance>,
    /// The memory to update.
    #[schemars(regex(
        pattern = r"^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$"
    ))]
    id: Option<String>,
}

impl Tool for StoreMemory {
    const NAME: &'static str = "store_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Stored;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Stored, Error> {
        match input.id {
            Some(ref id) => update(call, id, &input),
            None => {
                let new = NewMemory {
                    agent_id: input.agent_id,
                    content: input.content,
                    category: input.category,
                    tags: input.tags.unwrap_or_default(),
                    importance: input.importance.unwrap_or_default(),
                };
                add(call, input.kind, new)
            }
        }
    }
}

fn update(call: &Call<'_>, id: &str, input: &Input) -> Result<Stored, Error> {
    let agent = Agent::open(call, &input.agent_id)?;
    let content = content(&input.content)?;
    let category = input.category.clone().map(input::category).transpose()?;
    let tags = input.tags.clone().map(input::tags).transpose()?;
    let changed = agent.change(Purpose::Change, |writer| {
        let before = writer.find(id)?.ok_or_else(|| Error::no_memory(agent.name, id))?;
        let mut memory = Memory {
            kind: input.kind,
            content: content.clone(),
            category: category.clone().or_else(|| before.category.clone()),
            tags: tags.clone().unwrap_or_else(|| before.tags.clone()),
            importance: input.importance.unwrap_or(before.importance),
            ..before.clone()
        };
        if memory != before {
            memory.touch(call.context.now);
            writer.update(&before, &memory)?;
        }
        Ok(Stored { id: id.to_owned(), created: false, memory })
    });
    changed.map_err(|error| agents::with_agents(call, agent.name, error))
}
