use schemars::JsonSchema;
use serde::Deserialize;

use super::agent::Agent;
use super::agents;
use super::error::{Code, Error};
use super::input::{self, Tag, WriteAgent};
use super::memory::{Importance, Kind, Memory};
use super::new_memory::{NewMemory, Stored, add};
use super::store::Purpose;
use crate::input::content;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool, ToolError, Violation};

pub(super) struct StoreMemory;

/// Stores a memory of `type` and `content`; `id` updates that one. What is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Store a memory")]
pub(super) struct Input {
    /// `core` fact, `learning` lesson, or finished `task`.
    #[serde(rename = "type")]
    kind: Option<Kind>,
    /// The memory.
    #[schemars(length(max = 5000), regex(pattern = r"\S"))]
    content: Option<String>,
    /// Default `default`.
    agent_id: Option<AgentName>,
    /// Such as `preference`.
    #[schemars(length(max = 50), regex(pattern = r"\S"))]
    category: Option<String>,
    /// To find it by.
    #[schemars(length(max = 10))]
    tags: Option<Vec<Tag>>,
    /// `medium` if new.
    importance: Option<Importance>,
    /// The memory to update.
    #[schemars(regex(
        pattern = r"^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$"
    ))]
    id: Option<String>,
    /// From a read: refuse if changed.
    #[schemars(length(min = 1))]
    version: Option<String>,
}

impl Tool for StoreMemory {
    const NAME: &'static str = "store_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Stored;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Stored, Error> {
        let Input { kind, content, agent_id, category, tags, importance, id, version } = input;
        if let Some(id) = id {
            return update(
                call,
                agent_id,
                &id,
                version.as_deref(),
                Update { kind, content, category, tags, importance },
            );
        }
        if version.is_some() {
            let message = "`version` is that of a memory to update, and no `id` names one: give its \
                           `id`, or leave out `version` to store a new memory";
            return Err(Error::at(
                Code::InvalidInput,
                message,
                "version",
                "none without `id`".into(),
            ));
        }
        let missing = missing(kind.is_none(), content.is_none());
        let Some((kind, content)) = kind.zip(content) else {
            return Err(Error::invalid_input(missing));
        };
        let new = NewMemory {
            agent_id,
            content,
            category,
            tags: tags.unwrap_or_default(),
            importance: importance.unwrap_or_default(),
        };
        add(call, kind, new)
    }
}

/// The violations for the fields that a new memory lacks, sorted by the names of the fields.
fn missing(kind: bool, content: bool) -> Vec<Violation> {
    let violation = |name: &str, accepted: &str| Violation {
        pointer: format!("/{name}"),
        accepted: format!("{accepted}; a new memory needs it, and `id` updates an existing one"),
    };
    let content = content.then(|| violation("content", "the text of the memory"));
    let kind = kind.then(|| violation("type", "one of `core`, `learning`, `task`"));
    content.into_iter().chain(kind).collect()
}

/// The fields of a memory to update. Fields that are `None` keep their values.
struct Update {
    kind: Option<Kind>,
    content: Option<String>,
    category: Option<String>,
    tags: Option<Vec<Tag>>,
    importance: Option<Importance>,
}

fn update(
    call: &Call<'_>,
    agent_id: Option<AgentName>,
    id: &str,
    version: Option<&str>,
    update: Update,
) -> Result<Stored, Error> {
    let WriteAgent { name, note } = WriteAgent::new(agent_id, "stored");
    let agent = Agent::open(call, &name)?;
    let Update { kind, importance, .. } = update;
    let content = update.content.as_deref().map(content).transpose()?;
    let category = update.category.map(input::category).transpose()?;
    let tags = update.tags.map(input::tags).transpose()?;
    let is_empty = kind.is_none()
        && content.is_none()
        && category.is_none()
        && tags.is_none()
        && importance.is_none();
    if is_empty {
        let message = "nothing to update: give `type`, `content`, `category`, `tags` or \
                       `importance`, or leave out `id` to store a new memory";
        return Err(Error::new(Code::InvalidInput, message));
    }
    let changed = agent.change(Purpose::Change, |writer| {
        let before = writer.find(id)?.ok_or_else(|| Error::no_memory(agent.name, id))?;
        Error::check_version(call, version, &before)?;
        let mut memory = Memory {
            kind: kind.unwrap_or(before.kind),
            content: content.clone().unwrap_or_else(|| before.content.clone()),
            category: category.clone().or_else(|| before.category.clone()),
            tags: tags.clone().unwrap_or_else(|| before.tags.clone()),
            importance: importance.unwrap_or(before.importance),
            ..before.clone()
        };
        if memory != before {
            memory.touch(call.context.now);
            writer.update(&before, &memory)?;
        }
        Ok(Stored { id: id.to_owned(), created: false, memory, note: note.clone() })
    });
    changed.map_err(|error| agents::with_agents(call, agent.name, error))
}
