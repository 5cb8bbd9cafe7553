use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::agents;
use super::error::Error;
use super::input::default_agent;
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
    #[serde(default = "default_agent")]
    agent_id: AgentName,
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
        let agent = Agent::open(call, &input.agent_id)?;
        let Input { id, permanent, .. } = &input;
        let changed = agent.change(Purpose::Change, |writer| {
            let before = writer.find(id)?.ok_or_else(|| Error::no_memory(agent.name, id))?;
            let (mut action, mut note) = (Action::Archived, None);
            if *permanent {
                writer.remove(&before)?;
                let note_backup = || backup_note(agent.name);
                (action, note) = (Action::Deleted, writer.keeps_backup().then(note_backup));
            } else if !before.archived {
                let updated_at = call.context.now.max(before.created_at);
                let archived = Memory { archived: true, updated_at, ..before.clone() };
                writer.update(&before, &archived)?;
            }
            Ok(Output { success: true, action, id: id.clone(), note })
        });
        changed.map_err(|error| agents::with_agents(call, agent.name, error))
    }
}

fn backup_note(agent: &str) -> String {
    format!("the backup `{agent}.json.backup` has it until the next change")
}
