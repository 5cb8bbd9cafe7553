use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::agents;
use super::error::{Code, Error};
use super::input::{self, Tag, WriteAgent};
use super::memory::{Importance, Memory, Returned};
use super::store::Purpose;
use crate::input::content;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct UpdateMemory;

/// Changes a memory. What is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Update a memory")]
pub(super) struct Input {
    /// Its id.
    #[schemars(regex(
        pattern = r"^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$"
    ))]
    id: String,
    /// Default `default`.
    agent_id: Option<AgentName>,
    /// The new text.
    #[schemars(length(max = 5000), regex(pattern = r"\S"))]
    content: Option<String>,
    /// Empty removes it.
    #[schemars(length(max = 50), regex(pattern = r"^$|\S"), extend("clearedByNull" = true))]
    category: Option<String>,
    /// All tags.
    #[schemars(length(max = 10))]
    tags: Option<Vec<Tag>>,
    /// Its weight.
    importance: Option<Importance>,
    /// Hides it from queries.
    archived: Option<bool>,
    /// From a read: refuse if changed.
    #[schemars(length(min = 1))]
    version: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    memory: Returned,
    // The names of the fields whose values changed.
    updated_fields: Vec<&'static str>,
    // Says that the call named no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for UpdateMemory {
    const NAME: &'static str = "update_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let WriteAgent { name, note } = WriteAgent::new(input.agent_id, "changed");
        let agent = Agent::open(call, &name)?;
        let content = input.content.as_deref().map(content).transpose()?;
        let category = input.category.map(|category| {
            let given = Some(category).filter(|category| !category.is_empty());
            given.map(input::category).transpose()
        });
        let category = category.transpose()?;
        let tags = input.tags.map(input::tags).transpose()?;
        let importance = input.importance;
        let archived = input.archived;
        let is_empty = content.is_none()
            && category.is_none()
            && tags.is_none()
            && importance.is_none()
            && archived.is_none();
        if is_empty {
            let message = "nothing to update: give `content`, `category`, `tags`, `importance` or \
                           `archived`";
            return Err(Error::new(Code::InvalidInput, message));
        }
        let changed = agent.change(Purpose::Change, |writer| {
            let id = &input.id;
            let before = writer.find(id)?.ok_or_else(|| Error::no_memory(agent.name, id))?;
            Error::check_version(call, input.version.as_deref(), &before)?;
            let mut memory = Memory {
                content: content.clone().unwrap_or_else(|| before.content.clone()),
                category: category.clone().unwrap_or_else(|| before.category.clone()),
                tags: tags.clone().unwrap_or_else(|| before.tags.clone()),
                importance: importance.unwrap_or(before.importance),
                archived: archived.unwrap_or(before.archived),
                ..before.clone()
            };
            let updated_fields = changed_fields(&before, &memory);
            if !updated_fields.is_empty() {
                memory.touch(call.context.now);
                writer.update(&before, &memory)?;
            }
            let note = note.clone().filter(|_| !updated_fields.is_empty());
            Ok(Output { memory: memory.into(), updated_fields, note })
        });
        changed.map_err(|error| agents::with_agents(call, agent.name, error))
    }
}

fn changed_fields(before: &Memory, after: &Memory) -> Vec<&'static str> {
    let fields = [
        ("content", before.content != after.content),
        ("category", before.category != after.category),
        ("tags", before.tags != after.tags),
        ("importance", before.importance != after.importance),
        ("archived", before.archived != after.archived),
    ];
    fields.into_iter().filter_map(|(field, changed)| changed.then_some(field)).collect()
}
