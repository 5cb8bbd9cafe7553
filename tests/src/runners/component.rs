//! The embedding library with the component in wasmtime, over a scratch repository on disk.

use std::time::Duration;

use agent_memory_conformance::case::{Case, Documents, Places};
use agent_memory_conformance::core_runner::resource_answer;
use agent_memory_conformance::runner::{Answer, Session};
use agent_memory_host::{AgentMemory, CallError, Clock, Outcome, Random};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::scratch::Scratch;

/// A case on the embedding library.
pub struct ComponentSession {
    scratch: Scratch,
    memory: AgentMemory,
    runtime: Runtime,
}

impl ComponentSession {
    /// Starts a case.
    pub fn start(case: &Case) -> Result<Box<dyn Session>, String> {
        let scratch = Scratch::of(case);
        let clock = &case.text.clock;
        let settings = scratch.settings(case).into_iter();
        let memory = settings
            .fold(AgentMemory::builder(), |builder, (name, value)| {
                builder.setting(case.toolset(), name, value)
            })
            .toolsets(case.toolsets())
            .allow(scratch.repo())
            .data_dir(scratch.data_dir())
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
        answer(self.runtime.block_on(self.memory.call(tool, &arguments.to_string())))
    }

    fn read(&mut self, uri: &str) -> Result<Answer, String> {
        let read = self.runtime.block_on(self.memory.read_resource(uri, None));
        resource_answer(uri, answer(read)?)
    }

    fn places(&self) -> Places {
        self.scratch.places()
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        self.scratch.query(sql)
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        self.scratch.end()
    }
}

fn answer(called: Result<Outcome, CallError>) -> Result<Answer, String> {
    match called {
        Ok(outcome) => {
            let value = serde_json::from_str(outcome.json())
                .map_err(|error| format!("the result is not JSON: {error}"))?;
            Ok(if outcome.answer.is_err() { Answer::Error(value) } else { Answer::Result(value) })
        }
        Err(CallError::NotFound(_)) => Ok(Answer::Refused(&["not-found"])),
        Err(CallError::InvalidRequest(_)) => Ok(Answer::Refused(&["invalid-request"])),
        Err(error) => Err(error.to_string()),
    }
}
