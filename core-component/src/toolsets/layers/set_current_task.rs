use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::database::Writer;
use super::error::Error;
use super::input::{line, sentence_warning};
use super::memory::{Task, column_text, cut_to_seconds};
use crate::names::AgentName;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

/// The tag of the episode that a task becomes.
const TAG: &str = "task";

pub(super) struct SetCurrentTask;

/// Sets what the agent works on now. The task before becomes an episode. Call it when work on
/// another task begins, or with an empty `task` when it is finished and no other follows; the same
/// task again only notes that it goes on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Set the current task")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// One short sentence, or empty for no task.
    // A missing `task` is an error: if it counted as empty, it would end the current task by
    // mistake.
    #[schemars(length(max = 1000), regex(pattern = r"^$|\S"), extend("clearedByNull" = true))]
    task: String,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Whether there is another task than before.
    created: bool,
    started_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    /// The episode that the task before became.
    #[serde(skip_serializing_if = "Option::is_none")]
    episode_id: Option<i64>,
    warnings: Vec<String>,
}

impl Tool for SetCurrentTask {
    const NAME: &'static str = "set_current_task";
    const HINTS: Hints = Hints::ADDS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        if input.task.is_empty() {
            let episode_id = agent.change_existing(finish)?.flatten();
            let warnings = match episode_id {
                Some(_) => Vec::new(),
                None => vec![match agent.others()? {
                    Some(others) => format!("{NO_TASK}; {others}"),
                    None => NO_TASK.to_owned(),
                }],
            };
            return Ok(Output { episode_id, warnings, ..Output::default() });
        }
        let task = line(&input.task, "task")?;
        let mut output = agent.change(|writer| set(writer, &task))?;
        output.warnings.extend(sentence_warning(&task, "task"));
        Ok(output)
    }
}

const NO_TASK: &str = "there was no current task: nothing changed";

fn set(writer: &mut Writer<'_>, task: &str) -> Result<Output, Error> {
    let now = cut_to_seconds(writer.now);
    let before = writer.reader().task_to_change()?;
    if let Some(Task { started_at, .. }) = before.as_ref().filter(|before| before.task == task) {
        let updated_at = end_of(*started_at, now);
        writer.refresh_task(updated_at)?;
        let started_at = *started_at;
        let updated_at = Some(updated_at);
        return Ok(Output { started_at, updated_at, ..Output::default() });
    }
    let episode_id = before.map(|before| add_episode(writer, &before)).transpose()?;
    let started_at = Some(now);
    let updated_at = Some(now);
    writer.set_task(&Task { task: task.to_owned(), started_at, updated_at })?;
    Ok(Output { created: true, started_at, updated_at, episode_id, warnings: Vec::new() })
}

/// Makes the current task an episode and leaves no task. Returns the id of the episode, or `None`
/// if there was no task.
fn finish(writer: &mut Writer<'_>) -> Result<Option<i64>, Error> {
    let Some(before) = writer.reader().task_to_change()? else { return Ok(None) };
    let episode_id = add_episode(writer, &before)?;
    writer.remove_task()?;
    Ok(Some(episode_id))
}

fn add_episode(writer: &mut Writer<'_>, before: &Task) -> Result<i64, Error> {
    let ended_at = end_of(before.started_at, cut_to_seconds(writer.now));
    writer.add_episode(&episode(before, ended_at), Some(TAG))
}

/// `now`, or the start of the task if the start is later: a clock may be set back.
fn end_of(started_at: Option<Timestamp>, now: Timestamp) -> Timestamp {
    started_at.map_or(now, |start| start.max(now))
}

/// The episode that a task becomes when it ends.
fn episode(Task { task, started_at, .. }: &Task, ended_at: Timestamp) -> String {
    let started = started_at.map(|started| format!("{} to ", column_text(started)));
    format!("Task: {task} ({}{} UTC)", started.unwrap_or_default(), column_text(ended_at))
}
