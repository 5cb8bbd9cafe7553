//! The stores of a command, their registry, and pages of long work.

use crate::cli::Error;
use crate::cli::options::{Choice, ToolsetOptions, Writing};
use crate::cli::program::runtime;
use crate::cli::settings::{DataDirectory, memory_of};
use crate::storage::{self, ErrorCode};
use crate::{AgentMemory, CallError};
use clap::Args;
use serde::de::DeserializeOwned;
use serde_json::Value;

// Where the stores are, and how to write. (A doc comment would become the help of each command.)
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

/// The label of the family of stores.
pub(super) const PLACE: &str = "stores";

/// The settings of this toolset only.
#[derive(Clone, Debug)]
struct StoresOnly;

impl Choice for StoresOnly {
    fn has(toolset: &str) -> bool {
        toolset == TOOLSET
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

    /// Calls a tool for one page.
    pub(super) fn page<T: DeserializeOwned>(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<T, Error> {
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

pub(super) fn of_storage(error: storage::Error) -> Error {
    match error.code {
        ErrorCode::NotFound | ErrorCode::AlreadyExists | ErrorCode::InvalidPath => {
            Error::tool(error)
        }
        _ => Error::storage(error),
    }
}
