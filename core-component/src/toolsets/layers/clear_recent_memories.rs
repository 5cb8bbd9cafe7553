use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::batch::{compost_all, left_out};
use super::error::Error;
use super::input::line;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct ClearRecentMemories;

/// Moves all recent memories to the compost as one summary. Call it when a phase of work ends, or
/// with a `summary` of your own where `add_recent_memory` says `needs_summary`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Clear the recent memories")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// One or two sentences that stand for them.
    #[schemars(length(max = 1000), regex(pattern = r"\S"))]
    summary: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Recent memories that were moved.
    cleared: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    compost_id: Option<i64>,
    // Which agents there are, if this agent has no recent memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    warnings: Vec<String>,
}

impl Tool for ClearRecentMemories {
    const NAME: &'static str = "clear_recent_memories";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let summary = input.summary.map(|text| line(&text, "summary")).transpose()?;
        let done = agent.change_existing(|writer| {
            Ok((compost_all(writer, summary.as_deref())?, left_out(writer)?))
        })?;
        let (composted, left_out) = done.unwrap_or_default();
        let is_empty = composted.is_none();
        let note =
            if is_empty && left_out.is_none() { agent.note("no recent memories")? } else { None };
        let not_kept = summary.filter(|_| is_empty).map(|_| NOT_KEPT.to_owned());
        let mut output = Output { cleared: 0, compost_id: None, note, warnings: Vec::new() };
        output.warnings.extend(not_kept.into_iter().chain(left_out));
        if let Some(done) = composted {
            output.cleared = done.count;
            output.compost_id = Some(done.compost_id);
            output.warnings.extend(done.warning);
        }
        Ok(output)
    }
}

const NOT_KEPT: &str = "there are no recent memories to summarise: the summary was not kept";
