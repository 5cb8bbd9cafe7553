//! Adding a memory: the common part of `store_memory` and the `add_*` tools (spec 001).

use schemars::JsonSchema;
use serde::Serialize;

use super::agent::Agent;
use super::error::Error;
use super::id::new_id;
use super::input::{self, Tag, WriteAgent};
use super::memory::{Importance, Kind, Memory};
use super::store::Purpose;
use super::store::Writer;
use crate::context::Context;
use crate::input::content;
use crate::names::AgentName;
use crate::tool::Call;

/// The input of the `add_*` tools.
pub(super) struct NewMemory {
    pub agent_id: Option<AgentName>,
    pub content: String,
    pub category: Option<String>,
    pub tags: Vec<Tag>,
    pub importance: Importance,
}

/// The output of the tools that store a memory.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    pub id: String,
    pub created: bool,
    pub memory: Memory,
    // Says that the call named no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Stores a new memory of the given type.
pub(super) fn add(call: &Call<'_>, kind: Kind, new: NewMemory) -> Result<Stored, Error> {
    let WriteAgent { name, note } = WriteAgent::new(new.agent_id, "stored");
    let agent = Agent::open(call, &name)?;
    let memory = Memory {
        id: String::new(),
        kind,
        content: content(&new.content)?,
        category: new.category.map(input::category).transpose()?,
        created_at: call.context.now,
        updated_at: call.context.now,
        accessed_at: call.context.now,
        access_count: 0,
        tags: input::tags(new.tags)?,
        importance: new.importance,
        archived: false,
    };
    agent.change(Purpose::Change, |writer| {
        let memory = Memory { id: unused_id(writer, call.context)?, ..memory.clone() };
        writer.insert(&memory)?;
        Ok(Stored { id: memory.id.clone(), created: true, memory, note: note.clone() })
    })
}

/// Returns a new id that no memory of the agent has.
fn unused_id(writer: &dyn Writer, context: &Context) -> Result<String, Error> {
    let mut attempt = 0;
    loop {
        let id = new_id(context.seed, attempt);
        if !writer.has_id(&id)? {
            return Ok(id);
        }
        attempt += 1;
    }
}
