//! The questions that `doctor` asks the toolsets.

pub(in crate::cli) use super::sessions::validate::summary_of as of_repository;

use crate::AgentMemory;
use crate::cli::Error;
use crate::cli::program::description;
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Runtime;

/// The toolsets to mount. `memory` is named because a variable may leave it out of `all`.
pub(in crate::cli) const ALL: [&str; 2] = ["all", "memory"];

/// The tool that reads everything, and warns of what it cannot read.
const READER: &str = "search_memory";

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    warnings: Vec<String>,
}

/// Everything that cannot be read, each with its reason. Without a repository, only the toolsets with
/// places of their own are read.
pub(in crate::cli) fn unreadable(
    memory: &AgentMemory,
    runtime: &Runtime,
    has_repository: bool,
) -> Result<Vec<String>, Error> {
    let toolsets = description().toolsets.iter();
    let toolsets = toolsets.filter(|toolset| !toolset.places.is_empty());
    let names: Vec<&str> = toolsets.map(|toolset| toolset.name.as_str()).collect();
    let arguments =
        if has_repository { json!({"limit": 1}) } else { json!({"limit": 1, "toolsets": names}) };
    let arguments = arguments.to_string();
    let outcome = runtime.block_on(memory.call(READER, &arguments)).map_err(Error::usage)?;
    match outcome.answer {
        Ok(answer) => {
            let read = serde_json::from_str(&answer).map(|Answer { warnings }| warnings);
            read.map_err(|error| Error::storage(format!("an answer cannot be read: {error}")))
        }
        // An error that is not one of storage means that nothing is stored yet.
        Err(error) if Error::status_of(&error) != Error::STORAGE => Ok(Vec::new()),
        Err(error) => Err(Error::from_tool(error)),
    }
}
