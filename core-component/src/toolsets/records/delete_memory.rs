use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::agents;
use super::error::Error;
use super::input::WriteAgent;
use super::memory::Memory;
use super::store::Purpose;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct DeleteMemory;

/// Archives a memory: queries leave it out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Delete a memory")]
pub(super) struct Input {
    /// Its id.
    #[schemars(regex(
        pattern = r"^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$"
    ))]
    id: String,
    /// Default `default`.
    agent_id: Option<AgentName>,
    /// Delete instead of archive.
    #[serde(default)]
    permanent: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = crate::tool::without_required)]
pub(super) struct Output {
    success: bool,
    #[schemars(with = "String")]
    action: Action,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Archived,
    Deleted,
}

impl Tool for DeleteMemory {
    const NAME: &'static str = "delete_memory";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let Input { id, agent_id, permanent } = input;
        let done = if permanent { "deleted" } else { "archived" };
        let WriteAgent { name, note } = WriteAgent::new(agent_id, done);
        let agent = Agent::open(call, &name)?;
        let changed = agent.change(Purpose::Change, |writer| {
            let before = writer.find(&id)?.ok_or_else(|| Error::no_memory(agent.name, &id))?;
            let mut action = Action::Archived;
            let mut notes = Vec::from_iter(note.clone());
            if permanent {
                writer.remove(&before)?;
                action = Action::Deleted;
                notes.extend(writer.keeps_backup().then(|| backup_note(agent.name)));
            } else if !before.archived {
                let updated_at = call.context.now.max(before.created_at);
                let archived = Memory { archived: true, updated_at, ..before.clone() };
                writer.update(&before, &archived)?;
            }
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            Ok(Output { success: true, action, id: id.clone(), note })
        });
        changed.map_err(|error| agents::with_agents(call, agent.name, error))
    }
}

fn backup_note(agent: &str) -> String {
    format!("the backup `{agent}.json.backup` has it until the next change")
}
