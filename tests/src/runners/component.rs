//! The component in wasmtime, over a scratch repository on disk: the embedding library as other
//! Rust programs use it.

use std::time::Duration;

use agent_memory_host::{CallError, Clock, Memory, Random};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::case::{Case, Documents, Places};
use crate::runner::{Answer, Session};
use crate::scratch::Scratch;

/// A case on the embedding library.
pub struct ComponentSession {
    scratch: Scratch,
    memory: Memory,
    runtime: Runtime,
}

impl ComponentSession {
    /// Starts a case.
    pub fn start(case: &Case) -> Result<Box<dyn Session>, String> {
        let scratch = Scratch::new(&case.given());
        let clock = &case.text.clock;
        let memory = Memory::builder()
            .toolsets(case.text.toolsets.clone())
            .allow(scratch.repo())
            .utc_offset(clock.utc_offset_minutes)
            .clock(Clock::Fixed {
                start: clock.now.parse().map_err(|error| format!("the case's clock: {error}"))?,
                step: Duration::from_millis(clock.step_ms.into()),
            })
            .random(Random::Fixed(case.text.seed))
            .build()
            .map_err(|error| error.to_string())?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Box::new(Self { scratch, memory, runtime }))
    }
}

impl Session for ComponentSession {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        let called = self.runtime.block_on(self.memory.call(tool, &arguments.to_string()));
        match called {
            Ok(outcome) => {
                let value = serde_json::from_str(&outcome.result)
                    .map_err(|error| format!("the result is not JSON: {error}"))?;
                Ok(if outcome.is_error { Answer::Error(value) } else { Answer::Result(value) })
            }
            Err(CallError::NotFound(_)) => Ok(Answer::Refused(&["not-found"])),
            Err(CallError::InvalidRequest(_)) => Ok(Answer::Refused(&["invalid-request"])),
            Err(error) => Err(error.to_string()),
        }
    }

    fn places(&self) -> Places {
        self.scratch.places()
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        self.scratch.end()
    }
}
