use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::batch::relieve;
use super::error::Error;
use super::input::{line, sentence_warning};
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

/// The beginning of a warning: the memory was added, but the summary that was due was not made.
const NOT_SUMMARIZED: &str = "the recent memories could not be summarised now";

const NEEDS_SUMMARY: &str = "the recent memories wait for your summary: read them with \
    `get_recent_memories`, then call `clear_recent_memories` with a `summary` of one or two \
    sentences that stand for them";

pub(super) struct AddRecentMemory;

/// Adds to recent memory what the agent just did, found or was told. When enough have gathered, ten by
/// default, they become one summary in the compost; `warnings` name those that it shortens. Use
/// `add_episodic_memory` for what should stay word for word.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Add a recent memory")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// One short sentence.
    #[schemars(length(max = 1000), regex(pattern = r"\S"))]
    memory: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    id: i64,
    created: bool,
    // Whether a summary, in the table `memory_compost`, has replaced the oldest recent memories.
    summarized: bool,
    // The id of that summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    compost_id: Option<i64>,
    /// A model is summarising them.
    summary_pending: bool,
    /// The recent memories wait for a summary by the agent.
    needs_summary: bool,
    // What the agent has to do if `needs_summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    warnings: Vec<String>,
}

impl Tool for AddRecentMemory {
    const NAME: &'static str = "add_recent_memory";
    const HINTS: Hints = Hints::ADDS;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let memory = line(&input.memory, "memory")?;
        let capacity = agent.settings().recent_capacity;
        let (id, count) = agent.change(|writer| {
            let id = writer.add_recent(&memory)?;
            Ok((id, writer.reader().recent_count(capacity)?))
        })?;
        let mut output = Output {
            id,
            created: true,
            summarized: false,
            compost_id: None,
            summary_pending: false,
            needs_summary: false,
            note: None,
            warnings: sentence_warning(&memory, "memory").into_iter().collect(),
        };
        if count < capacity {
            return Ok(output);
        }
        // The memory stays stored, even if the summary fails.
        match relieve(&agent) {
            Ok(relief) => {
                output.warnings.extend(relief.missing_model.map(|model| {
                    format!("the built-in summariser was used: this host cannot ask `{model}`")
                }));
                output.warnings.extend(relief.left_out);
                if let Some(done) = relief.composted {
                    output.summarized = true;
                    output.compost_id = Some(done.compost_id);
                    output.warnings.extend(done.warning);
                }
                output.summary_pending = relief.is_pending;
                output.needs_summary = relief.needs_summary;
                output.note = relief.needs_summary.then(|| NEEDS_SUMMARY.to_owned());
            }
            Err(error) => output.warnings.push(format!(
                "{NOT_SUMMARIZED}, which the next add or clear does: {}",
                error.message()
            )),
        }
        Ok(output)
    }
}
