//! Commands about the records of an agent. Each calls a tool of the core, page by page.

mod archive;
mod convert;
mod destination;
mod export;
mod import;

use crate::cli::options::{Choice, ToolsetOptions, Writing};
use crate::cli::settings::memory_of;
use crate::cli::{Error, help, runtime};
use crate::{AgentMemory, CallError};
use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Convert, export, import or archive the records of an agent.
///
/// Records are the memories of the toolset `records`. Other programs may go on reading and writing
/// them at the same time.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "COMMAND",
    disable_help_subcommand = true,
    after_long_help = help::sections(&[include_str!("help/records.txt")]),
)]
pub struct Records {
    #[command(subcommand)]
    command: RecordsCommand,
}

#[derive(Debug, Subcommand)]
enum RecordsCommand {
    Convert(convert::Convert),
    Export(export::Export),
    Import(import::Import),
    Archive(archive::Archive),
}

impl Records {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        match self.command {
            RecordsCommand::Convert(convert) => convert.run(),
            RecordsCommand::Export(export) => export.run(),
            RecordsCommand::Import(import) => import.run(),
            RecordsCommand::Archive(archive) => archive.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

// The agent, and where its records are. (A doc comment would become the help of each command.)
#[derive(Debug, Args)]
struct Target {
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
const PLACE: &str = "records";

/// The settings of this toolset only.
#[derive(Clone, Debug)]
struct RecordsOnly;

impl Choice for RecordsOnly {
    fn has(toolset: &str) -> bool {
        toolset == TOOLSET
    }
}

/// The records of one agent, and a runtime to call their tools.
struct Open {
    agent: String,
    memory: AgentMemory,
    runtime: tokio::runtime::Runtime,
}

impl Target {
    fn open(self) -> Result<Open, Error> {
        let memory = memory_of(TOOLSET, &self.settings, &self.writing)?;
        Ok(Open { agent: self.agent, memory, runtime: runtime()? })
    }
}

impl Open {
    /// Calls a tool for one page.
    fn page<T: DeserializeOwned>(&self, tool: &str, mut arguments: Value) -> Result<T, Error> {
        arguments["agent_id"] = json!(self.agent);
        let arguments = arguments.to_string();
        let call = self.memory.call(tool, &arguments);
        let outcome = self.runtime.block_on(call).map_err(|error| match error {
            CallError::Ended { .. } => Error::storage(error),
            _ => Error::usage(error),
        })?;
        let page = outcome.answer.map_err(Error::of_tool)?;
        let unreadable =
            |error| Error::storage(format!("the component's page cannot be read: {error}"));
        serde_json::from_str(&page).map_err(unreadable)
    }
}

/// A number of records in words.
fn records(count: u64) -> String {
    match count {
        1 => "1 record".to_owned(),
        _ => format!("{count} records"),
    }
}
