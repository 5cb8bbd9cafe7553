use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use crate::answer::cut_list;
use crate::names::AgentName;
use crate::time::Date;
use crate::tool::{Call, Hints, Tool};

pub(super) struct ListSessions;

/// Lists an agent's session logs, the newest first. `read_session` reads one of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "List the sessions")]
pub(super) struct Input {
    /// The agent's name, the same in every session.
    agent_name: AgentName,
    /// The absolute path of the repository's top level. Leave it out if only one is granted.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: Option<String>,
    /// How many at most. Leave it out for all.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// The names of the logs, `YYYY-MM-DD.md`, which are in the agent's directory `logs`.
    sessions: Vec<String>,
    /// Which logs are left out: those that are no files, and the oldest of a long list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// Where to look instead, if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for ListSessions {
    const NAME: &'static str = "list_sessions";
    const HINTS: Hints = Hints::READS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, input.repo_root.as_deref(), &input.agent_name)?;
        agent.schema()?;
        let limit = input.limit.map_or(usize::MAX, |limit| limit as usize);
        let (days, not_files) = agent.sessions_and_others()?;
        let newest = days.into_iter().rev().take(limit);
        let mut sessions: Vec<_> = newest.map(|date| format!("{date}.md")).collect();
        let mut warnings: Vec<_> =
            not_files.last().map(|date| not_read(*date, not_files.len())).into_iter().collect();
        let left_out = cut_list(&mut sessions);
        if left_out > 0 {
            warnings.push(format!(
                "the list is long, so the {left_out} oldest are left out: read them with \
                 `read_session` and a `date`"
            ));
        }
        let others =
            if sessions.is_empty() && warnings.is_empty() { agent.others(call)? } else { None };
        let note =
            others.map(|others| format!("`{}` has no session log yet; {others}", agent.name));
        Ok(Output { sessions, warnings, note })
    }
}

/// The warning about this many logs that are links or directories. `last` is the latest of their days.
fn not_read(last: Date, logs: usize) -> String {
    let more = match logs - 1 {
        0 => String::new(),
        1 => ", and so is an earlier log".to_owned(),
        more => format!(", and so are {more} earlier logs"),
    };
    format!("the log of {last} is left out, since it is no file but a link or a directory{more}")
}
