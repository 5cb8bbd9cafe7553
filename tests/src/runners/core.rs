//! The core as a plain library, over storage in memory. It alone runs cases with faults.

use std::time::Duration;

use agent_memory_core::storage::{Place, Side, memory::MemoryStorage};
use agent_memory_core::toolbox;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::case::{Case, CaseClock, Documents, Places};
use crate::faults::FaultyStorage;
use crate::runner::{Answer, Session};

/// A case on the library.
pub struct CoreSession {
    storage: FaultyStorage,
    place: Place,
    utc_offset_minutes: i32,
    step_ms: u32,
    seed: u64,
    toolsets: Vec<String>,
    start: Timestamp,
    calls: u32,
}

const REPOSITORY: &str = "/scratch/repo";

impl CoreSession {
    /// Starts a case.
    pub fn start(case: &Case) -> Box<dyn Session> {
        let memory = MemoryStorage::new();
        let place = Place::repository(REPOSITORY);
        memory.grant(place.clone());
        for (path, contents) in case.given() {
            memory.put(&place, Side::Documents, &path, contents);
        }
        let CaseClock { now, step_ms, utc_offset_minutes } = &case.text.clock;
        Box::new(Self {
            storage: FaultyStorage::new(memory, case.text.faults.clone()),
            place,
            utc_offset_minutes: *utc_offset_minutes,
            step_ms: *step_ms,
            seed: case.text.seed,
            start: now.parse().expect("a case's clock is a timestamp"),
            toolsets: case.text.toolsets.clone(),
            calls: 0,
        })
    }

    fn context(&self) -> Value {
        let later = Duration::from_millis(u64::from(self.step_ms) * u64::from(self.calls));
        let now = self.start + later;
        json!({
            "settings": {"toolsets": self.toolsets},
            "now": format!("{now:.3}"),
            "utc_offset_minutes": self.utc_offset_minutes,
            "seed": self.seed + u64::from(self.calls),
        })
    }
}

impl Session for CoreSession {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        self.storage.begin_step(self.calls as usize);
        let context = self.context().to_string();
        self.calls += 1;
        match toolbox::call_tool(&self.storage, tool, &arguments.to_string(), &context) {
            Ok(outcome) => {
                let value = serde_json::from_str(&outcome.result)
                    .map_err(|error| format!("the result is not JSON: {error}"))?;
                Ok(if outcome.is_error { Answer::Error(value) } else { Answer::Result(value) })
            }
            Err(failure) => Ok(Answer::Refused(match failure.code {
                toolbox::FailureCode::NotFound => &["not-found"],
                toolbox::FailureCode::InvalidRequest => &["invalid-request"],
            })),
        }
    }

    fn places(&self) -> Places {
        Places { repo: REPOSITORY.into(), elsewhere: "/scratch/elsewhere".into() }
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        if let Some(fault) = self.storage.unused() {
            return Err(format!("this fault never happened: {fault:?}"));
        }
        Ok(self.storage.memory().documents(&self.place, Side::Documents))
    }
}
