//! The agent of a command, its open records, and calls that work page by page.

use crate::cli::Error;
use crate::cli::answer::result_of;
use crate::cli::options::{Choice, ToolsetOptions, Writing};
use crate::cli::program::runtime;
use crate::cli::settings::memory_of;
use crate::{AgentMemory, Toolset, ToolsetSetting};
use clap::Args;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

// The agent, and where its records are. No doc comment here: clap would show it as the help of each
// command.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The agent
    #[arg(long = "agent", value_name = "NAME", default_value = "default")]
    agent: String,

    #[command(flatten)]
    settings: ToolsetOptions<RecordsOnly>,

    #[command(flatten)]
    writing: Writing,
}

const TOOLSET: &str = "records";

/// The label of the directory of records.
pub(super) const PLACE: &str = "records";

/// The settings of this toolset only.
#[derive(Clone, Debug)]
struct RecordsOnly;

impl Choice for RecordsOnly {
    fn has(toolset: &Toolset, _: &ToolsetSetting) -> bool {
        toolset.name == TOOLSET
    }
}

/// The records of one agent, and a runtime to call their tools.
pub(super) struct Open {
    pub(super) agent: String,
    pub(super) memory: AgentMemory,
    runtime: tokio::runtime::Runtime,
}

impl Target {
    pub(super) fn open(self) -> Result<Open, Error> {
        let memory = memory_of(TOOLSET, &self.settings, &self.writing, None)?;
        Ok(Open { agent: self.agent, memory, runtime: runtime()? })
    }
}

impl Open {
    /// Calls a tool for one page.
    pub(super) fn page<T: DeserializeOwned>(
        &self,
        tool: &str,
        mut arguments: Value,
    ) -> Result<T, Error> {
        arguments["agent_id"] = json!(self.agent);
        result_of(self.runtime.block_on(self.memory.call(tool, &arguments.to_string())))
    }
}

/// A number of records in words.
pub(super) fn records(count: u64) -> String {
    match count {
        1 => "1 record".to_owned(),
        _ => format!("{count} records"),
    }
}
