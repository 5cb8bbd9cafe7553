//! The core as a plain library, over storage in memory. It alone runs cases with faults.

use std::time::Duration;

use agent_memory_core::storage::{Place, Side, memory::MemoryStorage};
use agent_memory_core::toolbox::{self, Failure, FailureCode, Outcome};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::case::{Case, Documents, Places};
use crate::faults::{FaultyStorage, Planned};
use crate::runner::{Answer, Session};

/// A case on the library.
pub struct CoreSession {
    storage: FaultyStorage<Planned>,
    circumstances: Circumstances,
    calls: u32,
}

/// The repository of a case.
pub const REPOSITORY: &str = "/scratch/repo";

impl CoreSession {
    /// Starts a case.
    pub fn start(case: &Case) -> Box<dyn Session> {
        let faults = Planned::new(case.text.faults.clone());
        Box::new(Self {
            storage: FaultyStorage::new(memory_of(case), faults),
            circumstances: Circumstances::of(case),
            calls: 0,
        })
    }
}

impl Session for CoreSession {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        self.storage.plan().begin_step(self.calls as usize);
        let context = self.circumstances.context(self.calls).to_string();
        self.calls += 1;
        answer(toolbox::call_tool(&self.storage, tool, &arguments.to_string(), &context))
    }

    fn places(&self) -> Places {
        self.circumstances.places()
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        if let Some(fault) = self.storage.plan().unused() {
            return Err(format!("this fault never happened: {fault:?}"));
        }
        Ok(self.storage.memory().documents(&Place::repository(REPOSITORY), Side::Documents))
    }
}

/// Storage that holds what a case gives.
pub fn memory_of(case: &Case) -> MemoryStorage {
    let memory = MemoryStorage::new();
    let place = Place::repository(REPOSITORY);
    memory.grant(place.clone());
    for (path, contents) in case.given() {
        memory.put(&place, Side::Documents, &path, contents);
    }
    memory
}

/// What the calls of a case are told.
#[derive(Clone, Debug)]
pub struct Circumstances {
    toolsets: Vec<String>,
    start: Timestamp,
    step_ms: u32,
    utc_offset_minutes: i32,
    seed: u64,
}

impl Circumstances {
    /// Those of a case.
    pub fn of(case: &Case) -> Self {
        let clock = &case.text.clock;
        Self {
            toolsets: case.text.toolsets.clone(),
            start: clock.now.parse().expect("a case's clock is a timestamp"),
            step_ms: clock.step_ms,
            utc_offset_minutes: clock.utc_offset_minutes,
            seed: case.text.seed,
        }
    }

    /// The context of a call, counted from 0.
    pub fn context(&self, call: u32) -> Value {
        let later = Duration::from_millis(u64::from(self.step_ms) * u64::from(call));
        let now = self.start + later;
        json!({
            "settings": {"toolsets": self.toolsets},
            "now": format!("{now:.3}"),
            "utc_offset_minutes": self.utc_offset_minutes,
            "seed": self.seed + u64::from(call),
        })
    }

    /// The context of that call made again at the same moment.
    pub fn context_again(&self, call: u32) -> Value {
        let mut context = self.context(call);
        context["seed"] = json!(self.seed + u64::from(call) + 1);
        context
    }

    /// What the placeholders of a case stand for.
    pub fn places(&self) -> Places {
        Places { repo: REPOSITORY.into(), elsewhere: "/scratch/elsewhere".into() }
    }
}

/// What a call answered, as the suite compares it.
///
/// # Errors
///
/// Where a result is not JSON.
pub fn answer(outcome: Result<Outcome, Failure>) -> Result<Answer, String> {
    match outcome {
        Ok(outcome) => {
            let value = serde_json::from_str(&outcome.result)
                .map_err(|error| format!("the result is not JSON: {error}"))?;
            Ok(if outcome.is_error { Answer::Error(value) } else { Answer::Result(value) })
        }
        Err(failure) => Ok(Answer::Refused(match failure.code {
            FailureCode::NotFound => &["not-found"],
            FailureCode::InvalidRequest => &["invalid-request"],
        })),
    }
}
