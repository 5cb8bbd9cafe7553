//! The component in wasmtime, with the embedding library.

use std::time::Duration;

use agent_memory_conformance::case::{Documents, Places};
use agent_memory_conformance::runner::Answer;
use agent_memory_host::{AgentMemory, CallError, Clock, Random};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::{Host, HostOptions, put, scratch};
use crate::scratch::Scratch;

/// The library with one repository.
pub struct Component {
    scratch: Scratch,
    memory: AgentMemory,
    runtime: Runtime,
}

impl Component {
    /// Opens an empty repository.
    pub fn open(options: &HostOptions) -> Result<Box<dyn Host>, String> {
        let scratch = scratch();
        let memory = AgentMemory::builder()
            .toolsets([options.toolset])
            .allow(scratch.repo())
            .utc_offset(options.utc_offset_minutes)
            .clock(Clock::Fixed {
                start: options.now,
                step: Duration::from_millis(options.step_ms.into()),
            })
            .random(Random::Fixed(options.seed))
            .build()
            .map_err(|error| error.to_string())?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Box::new(Self { scratch, memory, runtime }))
    }
}

impl Host for Component {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        match self.runtime.block_on(self.memory.call(tool, &arguments.to_string())) {
            Ok(outcome) => {
                let value = serde_json::from_str(outcome.json()).map_err(|e| e.to_string())?;
                Ok(if outcome.answer.is_err() {
                    Answer::Error(value)
                } else {
                    Answer::Result(value)
                })
            }
            Err(CallError::NotFound(_)) => Ok(Answer::Refused(&["not-found"])),
            Err(error) => Err(error.to_string()),
        }
    }

    fn put(&mut self, path: &str, contents: Option<&[u8]>) {
        put(&self.scratch, path, contents);
    }

    fn documents(&self) -> Documents {
        self.scratch.documents()
    }

    fn places(&self) -> Places {
        self.scratch.places()
    }

    fn end(self: Box<Self>) -> Result<(), String> {
        self.scratch.end().map(drop)
    }
}
