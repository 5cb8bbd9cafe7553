use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::agents;
use super::error::Error;
use super::input::WriteAgent;
use super::memory::{Kind, Memory};
use super::store::Purpose;
use crate::names::AgentName;
use crate::time::Timestamp;
use crate::tool::{Audience, Call, Hints, Tool};

/// The maximum number of memories that one call archives.
const MAX_MEMORIES: u32 = 5_000;

const DAY: i64 = 24 * 60 * 60 * 1000;

pub(super) struct ArchiveMemories;

/// Archives memories that nobody has recalled or changed for some days, one page a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Archive old memories")]
pub(super) struct Input {
    /// Days since a memory was last created, changed or recalled.
    #[schemars(range(min = 0, max = 100_000))]
    older_than_days: u32,
    /// Default `default`.
    agent_id: Option<AgentName>,
    /// Only these.
    #[serde(rename = "type")]
    kind: Option<Kind>,
    /// Where the last call stopped.
    #[schemars(length(min = 1, max = 40))]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Memories that this call archived.
    archived: usize,
    /// For the next call; absent after the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// That the call named no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for ArchiveMemories {
    const NAME: &'static str = "archive_memories";
    const HINTS: Hints = Hints::OVERWRITES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let WriteAgent { name, note } = WriteAgent::new(input.agent_id, "archived");
        let agent = Agent::open(call, &name)?;
        let now = call.context.now;
        // The cursor is the time limit of the first page, so that all pages have this limit.
        let since = match &input.cursor {
            Some(cursor) => {
                Timestamp::parse(cursor).ok_or_else(|| Error::invalid_cursor(cursor))?
            }
            None => {
                let milliseconds = now.milliseconds() - i64::from(input.older_than_days) * DAY;
                let oldest = || Timestamp::parse("0000-01-01T00:00:00Z").expect("a moment");
                Timestamp::from_milliseconds(milliseconds).unwrap_or_else(oldest)
            }
        };
        let purpose = if input.cursor.is_none() { Purpose::Change } else { Purpose::Continuation };
        let (archived, unreadable) = agent.change(purpose, |writer| {
            let unused = writer.unused(since, input.kind, MAX_MEMORIES)?;
            for before in &unused {
                let updated_at = now.max(before.created_at);
                let after = Memory { archived: true, updated_at, ..before.clone() };
                writer.update(before, &after)?;
            }
            Ok((unused.len(), writer.unreadable()))
        })?;
        let cursor = (archived == MAX_MEMORIES as usize).then(|| since.to_string());
        let mut warnings: Vec<String> = unreadable.into_iter().collect();
        if archived == 0 && !agent.exists()? {
            let there_are = agents::there_are(call, agent.name, &mut warnings);
            let missing = format!("agent `{}` has no memories", agent.name);
            warnings.push([missing].into_iter().chain(there_are).collect::<Vec<_>>().join("; "));
        }
        Ok(Output { archived, cursor, note, warnings })
    }
}
