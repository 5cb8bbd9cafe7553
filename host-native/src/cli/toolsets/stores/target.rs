//! The open stores of a command, changes of their registry, and calls of tools.

use crate::cli::Error;
use crate::cli::answer::result_of;
use crate::cli::options::{Choice, ToolsetOptions, Writing};
use crate::cli::program::runtime;
use crate::cli::settings::{DataDirectory, memory_of};
use crate::storage::{self, ErrorCode};
use crate::{AgentMemory, Outcome, Toolset, ToolsetSetting};
use clap::Args;
use serde::de::DeserializeOwned;
use serde_json::Value;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

// Where the stores are, and how to write. No doc comment here: clap would show it as the help of each
// command.
#[derive(Debug, Args)]
pub(super) struct Target {
    #[command(flatten)]
    settings: ToolsetOptions<StoresOnly>,

    #[command(flatten)]
    data_directory: DataDirectory,

    #[command(flatten)]
    writing: Writing,
}

const TOOLSET: &str = "stores";

/// The label of the place group of stores.
pub(super) const PLACE: &str = "stores";

/// The code of the error for a memory that does not exist.
const MEMORY_NOT_FOUND: &str = "MEMORY_NOT_FOUND";

/// The settings of this toolset only.
#[derive(Clone, Debug)]
struct StoresOnly;

impl Choice for StoresOnly {
    fn has(toolset: &Toolset, _: &ToolsetSetting) -> bool {
        toolset.name == TOOLSET
    }
}

/// The stores, and a runtime to wait for locks and to call tools.
pub(super) struct Open {
    pub(super) memory: AgentMemory,
    runtime: tokio::runtime::Runtime,
}

impl Target {
    pub(super) fn open(&self) -> Result<Open, Error> {
        let directory = Some(&self.data_directory);
        let memory = memory_of(TOOLSET, &self.settings, &self.writing, directory)?;
        Ok(Open { memory, runtime: runtime()? })
    }
}

impl Open {
    /// Changes the registry under its lock.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&storage::RegistryWriter) -> Result<T, storage::Error>,
    ) -> Result<T, Error> {
        let locked = self.runtime.block_on(self.memory.lock_registry(PLACE)).map_err(of_storage)?;
        change(&locked).map_err(of_storage)
    }

    /// From now on Ctrl-C does not end this program, even after the returned value is dropped.
    pub(super) fn interrupts(&self) -> Option<impl Sized> {
        let _guard = self.runtime.enter();
        #[cfg(unix)]
        return signal(SignalKind::interrupt()).ok();
        #[cfg(not(unix))]
        return tokio::signal::windows::ctrl_c().ok();
    }

    /// Calls a tool. For a memory that does not exist, the error names the command that lists the
    /// memories, instead of the tool.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<T, Error> {
        let called = self.runtime.block_on(self.memory.call(tool, &arguments.to_string()));
        match (&called, arguments["store"].as_str(), arguments["path"].as_str()) {
            (Ok(Outcome { answer: Err(error), .. }), Some(store), Some(path))
                if error.code == MEMORY_NOT_FOUND =>
            {
                Err(Error::tool(format!(
                    "there is no memory `{path}`: `agent-memory store list {store} --recursive` prints \
                     the paths"
                )))
            }
            _ => result_of(called),
        }
    }
}

pub(super) fn of_storage(error: storage::Error) -> Error {
    match error.code {
        ErrorCode::NotFound | ErrorCode::AlreadyExists | ErrorCode::InvalidPath => {
            Error::tool(error)
        }
        _ => Error::storage(error),
    }
}
