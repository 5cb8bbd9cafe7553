use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::database::Position;
use super::error::Error;
use crate::names::AgentName;
use crate::tool::{Audience, Call, Hints, Tool};

/// The most entries that one call exports.
const MAX_ENTRIES: u32 = 2_000;

pub(super) struct ExportLayers;

/// Exports all layers of an agent as JSON Lines, one page a call: the pages make one text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Export the layers")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// Where the last call stopped.
    #[schemars(length(min = 1, max = 40))]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    text: String,
    /// Entries of this page.
    count: usize,
    /// Entries of the agent.
    total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// About rows that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for ExportLayers {
    const NAME: &'static str = "export_layers";
    const HINTS: Hints = Hints::READS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let start = match &input.cursor {
            None => Position::START,
            Some(cursor) => Position::parse(cursor).ok_or_else(|| Error::invalid_cursor(cursor))?,
        };
        let exported = agent.read(|reader| {
            let counts = reader.counts()?;
            let task = i64::from(reader.has_task()?);
            let total = counts.core + counts.recent + task + counts.episodic + counts.compost;
            if total == 0 && !reader.has_agent() {
                return Err(Error::no_memories(agent.name));
            }
            let (lines, next) = reader.page(start, MAX_ENTRIES)?;
            Ok(Output {
                text: lines.iter().map(|line| line.json() + "\n").collect(),
                count: lines.len(),
                total,
                cursor: next.map(Position::cursor),
                warnings: reader.warnings(),
            })
        });
        exported.map_err(|error| agent.with_others(error))
    }
}
