use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, in_repository, parse_log};
use super::error::Error;
use super::log::{LogId, default_session_id, new_log};
use super::schema;
use super::summary;
use crate::names::AgentName;
use crate::storage::{Area, Change};
use crate::time::Date;
use crate::tool::{Call, Hints, Tool};

pub(super) struct StartSession;

/// Opens today's session log of an agent, or that of another day, and creates it where it is
/// missing, with the agent's schema and summary. Needed once a day before `append_entry`. Never
/// changes what is there.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Start a session")]
pub(super) struct Input {
    /// The agent's name, the same in every session.
    agent_name: AgentName,
    /// The absolute path of the repository's top level. Leave it out if only one is granted.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: Option<String>,
    /// The day of the session, `YYYY-MM-DD`. Leave it out for today.
    date: Option<Date>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// The log's path, relative to `repo_root`.
    session_file: String,
    /// Whether this call created the log.
    created: bool,
    /// The id in the log's header.
    session_id: String,
    /// What differs between the log, its schema and this program, and a date in the future.
    warnings: Vec<String>,
}

impl Tool for StartSession {
    const NAME: &'static str = "start_session";
    const HINTS: Hints = Hints::CREATES;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let date = input.date.unwrap_or_else(|| call.context.today());
        let agent = Agent::open(call, input.repo_root.as_deref(), &input.agent_name)?;
        let state = State::read(&agent, date)?;
        let mut output = if state.missing.is_empty() {
            state.output
        } else {
            // Reads again under the lock: other writers may have created documents since.
            agent.change(call, |writer| {
                let state = State::read(&agent, date)?;
                writer.commit(&state.missing)?;
                Ok(state.output)
            })?
        };
        output.warnings.extend(future(date, call.context.today()));
        Ok(output)
    }
}

/// The warning about a day after tomorrow. Tomorrow gets no warning: it may be today already where
/// the user is.
fn future(date: Date, today: Date) -> Option<String> {
    let is_after_tomorrow = today.plus_days(1).is_some_and(|tomorrow| date > tomorrow);
    is_after_tomorrow.then(|| {
        format!("{date} is in the future: today is {today}; leave `date` out for today's log")
    })
}

/// The output of the tool, and the changes that create the missing documents of the session.
struct State {
    output: Output,
    missing: Vec<Change>,
}

impl State {
    fn read(agent: &Agent<'_>, date: Date) -> Result<Self, Error> {
        let id = LogId { agent: agent.name, date };
        let effective = agent.schema()?;
        let path = agent.log_path(date);
        let mut missing = Vec::new();
        let mut create = |path: String, text: &str| {
            let contents = text.as_bytes().to_vec();
            missing.push(Change::Put { area: Area::Documents, path, contents, expects: None });
        };
        if !effective.exists {
            create(agent.schema_path(), schema::DEFAULT);
        }
        if !agent.exists(&agent.summary_path())? {
            create(agent.summary_path(), summary::TEMPLATE);
        }
        let log = agent.log(date)?;
        let created = log.is_none();
        let text = log.map_or_else(|| new_log(id, &effective.schema), |log| log.text);
        if created {
            create(path.clone(), &text);
        }
        let log = parse_log(&text, &effective.schema, id, &path)?;
        let session_id = log.session_id().map_or_else(|| default_session_id(id), str::to_owned);
        let warnings = log.all_warnings();
        let session_file = in_repository(&path);
        Ok(Self { output: Output { session_file, created, session_id, warnings }, missing })
    }
}
