//! The core as a plain library, over storage in memory. It alone runs cases with faults.

use std::time::Duration;

use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox::{self, Failure, FailureCode, Outcome};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::{Case, Documents, Places};
use crate::faults::{FaultyStorage, Planned};
use crate::in_memory::FullStorage;
use crate::runner::{Answer, Session};

/// A case on the library.
pub struct CoreSession {
    storage: FaultyStorage<Planned>,
    circumstances: Circumstances,
    place: Place,
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
            place: place_of(case),
            calls: 0,
        })
    }

    /// The context of the next call.
    fn begin(&mut self) -> Context {
        self.storage.plan().begin_step(self.calls as usize);
        self.storage.memory().begin_call();
        let context = context_of(&self.circumstances.context(self.calls));
        self.calls += 1;
        context
    }
}

impl Session for CoreSession {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        let context = self.begin();
        answer(toolbox::call_tool(&self.storage, tool, &arguments.to_string(), &context))
    }

    fn read(&mut self, uri: &str) -> Result<Answer, String> {
        let context = self.begin();
        resource_answer(uri, answer(toolbox::read_resource(&self.storage, uri, &context))?)
    }

    fn places(&self) -> Places {
        self.circumstances.places()
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        self.storage.memory().query_sql(sql)
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        if let Some(fault) = self.storage.plan().unused() {
            return Err(format!("this fault never happened: {fault:?}"));
        }
        Ok(self.storage.memory().documents(&self.place, Area::Documents))
    }
}

/// Every tool of every toolset, as the core lists them.
///
/// # Panics
///
/// Where the list is not JSON.
pub fn tools() -> Vec<Value> {
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let toolsets = described["toolsets"].as_array().expect("toolsets");
    toolsets.iter().flat_map(|of| of["tools"].as_array().expect("tools").clone()).collect()
}

/// The tools of one toolset.
///
/// # Panics
///
/// Where there is no such toolset.
pub fn tools_of(toolset: &str) -> Vec<Value> {
    let prefix = format!("{toolset}_");
    let is_of = |tool: &Value| tool["qualified_name"].as_str().unwrap_or("").starts_with(&prefix);
    let tools: Vec<Value> = tools().into_iter().filter(is_of).collect();
    assert!(!tools.is_empty(), "there is no toolset `{toolset}`");
    tools
}

/// Tools as a host lists them: without what decides under which name that is.
pub fn listed(mut tools: Vec<Value>) -> Vec<Value> {
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        for name in ["qualified_name", "shared_with"] {
            tool.shift_remove(name);
        }
    }
    tools
}

/// A context from its JSON.
///
/// # Panics
///
/// Where it is none.
pub fn context_of(json: &Value) -> Context {
    Context::deserialize(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The place that a case is about.
pub fn place_of(case: &Case) -> Place {
    match case.toolset() {
        "sessions" => Place::repository(REPOSITORY),
        toolset => Place::labelled(toolset),
    }
}

/// Storage that holds what a case gives.
pub fn memory_of(case: &Case) -> FullStorage {
    let memory = FullStorage::new();
    let place = place_of(case);
    memory.grant(place.clone());
    for (path, contents) in case.given() {
        memory.put(&place, Area::Documents, &path, contents);
    }
    memory.run_sql(case.given_sql());
    memory
}

/// What the calls of a case are told.
#[derive(Clone, Debug)]
pub struct Circumstances {
    settings: Value,
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
            settings: case.settings(),
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
            "settings": self.settings,
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
            let value = serde_json::from_str(outcome.json())
                .map_err(|error| format!("the result is not JSON: {error}"))?;
            Ok(if outcome.answer.is_err() { Answer::Error(value) } else { Answer::Result(value) })
        }
        Err(failure) => Ok(Answer::Refused(match failure.code {
            FailureCode::NotFound => &["not-found"],
            FailureCode::InvalidRequest => &["invalid-request"],
        })),
    }
}

/// What a resource was read as: the JSON of its one text.
///
/// # Errors
///
/// Where it is not one JSON text of that URI.
pub fn resource_answer(uri: &str, answer: Answer) -> Result<Answer, String> {
    let Answer::Result(contents) = answer else { return Ok(answer) };
    let text = match contents.as_array().map(Vec::as_slice) {
        Some([content]) if content["uri"] == uri && content["mimeType"] == "application/json" => {
            content["text"].as_str().and_then(|text| serde_json::from_str(text).ok())
        }
        _ => None,
    };
    text.map(Answer::Result).ok_or_else(|| format!("not one JSON text of `{uri}`: {contents}"))
}
