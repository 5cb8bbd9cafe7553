use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::Error;
use crate::names::AgentName;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

pub(super) struct GetCurrentTask;

/// Gets what the agent works on now, or null.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Get the current task")]
pub(super) struct Input {
    /// The agent.
    agent_id: AgentName,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    task: Option<String>,
    started_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    // Which agents there are, if this agent has no current task.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    // Warnings about rows that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for GetCurrentTask {
    const NAME: &'static str = "get_current_task";
    const HINTS: Hints = Hints::READS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let (task, warnings) = agent.read(|reader| Ok((reader.task()?, reader.warnings())))?;
        Ok(match task {
            None => {
                let note = agent.note("no current task")?;
                Output { task: None, started_at: None, updated_at: None, note, warnings }
            }
            Some(current) => Output {
                task: Some(current.task),
                started_at: current.started_at,
                updated_at: current.updated_at,
                note: None,
                warnings,
            },
        })
    }
}
