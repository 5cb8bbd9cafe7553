//! The open memory with the layers, and calls of its tools.

use crate::cli::Error;
use crate::cli::answer::result_of;
use crate::cli::program::{builder, runtime};
use crate::cli::settings::Reach;
use crate::{AgentMemory, Caller, Completion, Reference};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The toolset `layers`, and a runtime to call its tools.
pub(super) struct Open {
    memory: AgentMemory,
    runtime: tokio::runtime::Runtime,
}

impl Open {
    pub(super) fn with(reach: &Reach) -> Result<Open, Error> {
        Ok(Open { memory: reach.memory(builder().toolsets(["layers"]))?, runtime: runtime()? })
    }

    /// Calls a tool.
    pub(super) fn call<T: DeserializeOwned>(&self, tool: &str, given: Value) -> Result<T, Error> {
        result_of(self.runtime.block_on(self.memory.call(tool, &given.to_string())))
    }

    /// The names of the agents, at most 100.
    pub(super) fn agents(&self) -> Result<Vec<String>, Error> {
        let completion = Completion {
            reference: Reference::Prompt("resume_session".to_owned()),
            argument: "agent_id".to_owned(),
            value: String::new(),
            others: Default::default(),
        };
        result_of(self.runtime.block_on(self.memory.complete(completion, Caller::default())))
    }
}
