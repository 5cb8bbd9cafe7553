//! Calls a tool of this toolset for a command.

use crate::cli::Error;
use crate::cli::program::runtime;
use crate::{AgentMemory, CallError};

/// The tool's result as JSON. A tool's error gets the exit status of storage or usage errors: the usual
/// status of tool errors means here that a search found nothing.
pub(super) fn ask(memory: &AgentMemory, tool: &str, arguments: &str) -> Result<String, Error> {
    let called = runtime()?.block_on(memory.call(tool, arguments));
    let outcome = called.map_err(|error| match error {
        CallError::Ended { .. } => Error::storage(error),
        _ => Error::usage(error),
    })?;
    outcome.answer.map_err(|error| match Error::status_of(&error) {
        Error::STORAGE => Error::from_tool(error),
        _ => Error::usage(error.message),
    })
}
