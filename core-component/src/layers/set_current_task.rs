use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use super::input::{line, sentence_warning};
use super::memory::{Task, column_text, cut_to_seconds};
use super::sqlite::Writer;
use crate::names::AgentName;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

/// The tag of the episode that a task becomes.
const TAG: &str = "task";

pub(super) struct SetCurrentTask;

/// Sets what the agent works on now. The task before becomes an episode. Call it when work on
/// another task begins; the same task again only notes that it goes on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Set the current task")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
    /// One short sentence.
    #[schemars(length(max = 1000), regex(pattern = r"\S"))]
    task: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Whether it is another task than before.
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
        let task = line(&input.task, "task")?;
        let mut output = agent.change(|writer| set(writer, &task))?;
        output.warnings.extend(sentence_warning(&task, "task"));
        Ok(output)
    }
}

fn set(writer: &mut Writer<'_>, task: &str) -> Result<Output, Error> {
    let now = cut_to_seconds(writer.now);
    // A clock may run backwards.
    let after = |started_at: Option<Timestamp>| started_at.map_or(now, |start| start.max(now));
    let before = writer.reader().task()?;
    if let Some(Task { started_at, .. }) = before.as_ref().filter(|before| before.task == task) {
        let updated_at = after(*started_at);
        writer.refresh_task(updated_at)?;
        return Ok(output(false, *started_at, updated_at, None));
    }
    let episode_id = before
        .map(|before| writer.add_episode(&episode(&before, after(before.started_at)), Some(TAG)));
    let new = Task { task: task.to_owned(), started_at: Some(now), updated_at: Some(now) };
    writer.set_task(&new)?;
    Ok(output(true, Some(now), now, episode_id.transpose()?))
}

fn output(
    created: bool,
    started_at: Option<Timestamp>,
    updated_at: Timestamp,
    episode_id: Option<i64>,
) -> Output {
    Output { created, started_at, updated_at: Some(updated_at), episode_id, warnings: Vec::new() }
}

/// The episode that a task becomes when it ends.
fn episode(Task { task, started_at, .. }: &Task, ended_at: Timestamp) -> String {
    let started = started_at.map(|started| format!("{} to ", column_text(started)));
    format!("Task: {task} ({}{})", started.unwrap_or_default(), column_text(ended_at))
}
