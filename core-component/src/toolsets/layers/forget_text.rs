use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::database::Rows;
use super::error::Error;
use crate::forget::MAX_ROWS;
use crate::names::AgentName;
use crate::tool::{Audience, Call, Hints, Tool};

pub(super) struct ForgetText;

/// Removes a text, such as a password, from all layers of an agent and from the index: `(removed)`
/// stands in its place. The file may hold it in freed pages until somebody runs `VACUUM` on it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Forget a text")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// Exactly as it stands there.
    #[schemars(length(min = 4, max = 1000), regex(pattern = r"\S"))]
    text: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Entries that had it.
    changed: u64,
    /// False where there are more of them: call again.
    is_done: bool,
    /// Where to look instead, if no entry had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for ForgetText {
    const NAME: &'static str = "forget_text";
    const HINTS: Hints = Hints::OVERWRITES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let done = agent.change_existing(|writer| writer.forget(&input.text, MAX_ROWS))?;
        let Rows { rows, has_more } = done.unwrap_or_default();
        let changed = rows.iter().map(|(_, ids)| ids.len() as u64).sum();
        let note = if changed == 0 { agent.note("no entry with this text")? } else { None };
        Ok(Output { changed, is_done: !has_more, note })
    }
}
