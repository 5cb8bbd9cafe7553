//! The embedding library with the component in wasmtime, over a scratch repository on disk.

use std::collections::BTreeMap;
use std::time::Duration;

use agent_memory_conformance::case::{Case, CaseCaller, Completed, Documents, Places, Request};
use agent_memory_conformance::core_runner::resource_answer;
use agent_memory_conformance::runner::{Answer, Session};
use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::{
    AgentMemory, CallError, Caller, Clock, Completion, EmbeddedText, FollowUp, Outcome, Random,
    Reach, Reference,
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::runners::left_out;
use crate::scratch::Scratch;

/// A case on the embedding library.
pub struct ComponentSession {
    scratch: Scratch,
    memory: AgentMemory,
    runtime: Runtime,
    /// The vectors that the case gives for the texts of queries.
    vectors: BTreeMap<String, Vec<f32>>,
    caller: Caller,
    follow_ups: Vec<Value>,
}

impl ComponentSession {
    /// Starts a case.
    pub fn start(case: &Case) -> Result<Box<dyn Session>, String> {
        Ok(Box::new(Self::open(case, Scratch::from_case(case), None)?))
    }

    /// Starts a case in a scratch directory. If there is a database, it holds the places.
    pub fn open(
        case: &Case,
        scratch: Scratch,
        database: Option<DatabaseOptions>,
    ) -> Result<Self, String> {
        let clock = &case.text.clock;
        let mut settings = scratch.settings(case);
        if database.is_some() {
            let is_path = |toolset: &str, name: &str| {
                [("records", "directory"), ("layers", "file")].contains(&(toolset, name))
            };
            settings.retain(|(toolset, name, _)| !is_path(toolset, name));
        }
        let settings = settings.into_iter();
        let left_out = left_out()?.into_iter();
        let left_out = left_out.map(|(toolset, setting)| (toolset, setting.name, true.into()));
        let embedder = case.text.embedder.as_ref();
        let builder = embedder.map_or_else(AgentMemory::builder, |embedder| {
            AgentMemory::builder().external_embedder(&embedder.model)
        });
        let builder = match database {
            Some(database) => builder.database(database),
            None => builder,
        };
        let builder = match &clock.time_zone {
            Some(name) => builder.time_zone(name),
            None => builder.utc_offset(clock.utc_offset_minutes),
        };
        let memory = settings
            .chain(left_out)
            .fold(builder, |builder, (toolset, name, value)| builder.setting(toolset, name, value))
            .toolsets(case.toolsets())
            .allow(scratch.repo())
            .data_dir(scratch.data_dir())
            .clock(Clock::Fixed {
                start: clock.now.parse().map_err(|error| format!("the case's clock: {error}"))?,
                step: Duration::from_millis(clock.step_ms.into()),
            })
            .random(Random::Fixed(case.text.seed))
            .external_models(case.text.models.clone())
            .build()
            .map_err(|error| error.to_string())?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let vectors = embedder.map(|embedder| embedder.vectors.clone()).unwrap_or_default();
        let CaseCaller { agents, stores } = case.text.caller.clone();
        let caller =
            Caller { reach: Reach { agents, stores, ..Reach::default() }, ..Caller::default() };
        Ok(Self { scratch, memory, runtime, vectors, caller, follow_ups: Vec::new() })
    }
}

impl Session for ComponentSession {
    fn request(&mut self, request: &Request) -> Result<Answer, String> {
        let mut outcome = self.runtime.block_on(send(&self.memory, request, self.caller.clone()));
        let wanted = outcome.as_ref().ok().and_then(|outcome| outcome.wants_vector.as_ref());
        let vector = wanted.and_then(|wanted| self.vectors.get_key_value(&wanted.text));
        if let Some((text, vector)) = vector {
            let vector = Some(EmbeddedText { text: text.clone(), vector: vector.clone() });
            let caller = Caller { vector, ..self.caller.clone() };
            let again = self.runtime.block_on(send(&self.memory, request, caller));
            // If the request fails with the vector, the first answer counts.
            if again.as_ref().is_ok_and(|again| again.answer.is_ok()) {
                outcome = again;
            }
        }
        self.follow_ups = outcome.as_ref().map(follow_ups).unwrap_or_default();
        let answer = answer(outcome)?;
        match request {
            Request::Read { read } => resource_answer(read, answer),
            _ => Ok(answer),
        }
    }

    fn follow_ups(&self) -> Option<&[Value]> {
        Some(&self.follow_ups)
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

/// Sends a request to a memory.
///
/// # Errors
///
/// The errors of the call.
pub async fn send(
    memory: &AgentMemory,
    request: &Request,
    caller: Caller,
) -> Result<Outcome, CallError> {
    match request {
        Request::Call { call, arguments } => {
            let arrival = memory.arrive(call);
            memory.call_as(arrival, call, &arguments.to_string(), caller).await
        }
        Request::Read { read } => memory.read_resource(read, caller).await,
        Request::Prompt { prompt, arguments } => {
            memory.get_prompt(prompt, &arguments.to_string(), caller).await
        }
        Request::Complete { complete, argument, value, others } => {
            let text =
                |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.into()));
            let completion = Completion {
                reference: match complete.clone() {
                    Completed::Prompt(name) => Reference::Prompt(name),
                    Completed::ResourceTemplate(uri) => Reference::ResourceTemplate(uri),
                },
                argument: argument.clone(),
                value: value.clone(),
                others: others.iter().filter_map(text).collect(),
            };
            memory.complete(completion, caller).await
        }
        Request::Pending { .. } => memory.pending(caller).await,
        Request::Claim { claim, lease_seconds } => {
            memory.claim(claim, Duration::from_secs((*lease_seconds).into())).await
        }
        Request::Answer { answer, payload } => {
            memory.answer(answer, &payload.to_string(), caller).await
        }
    }
}

fn follow_ups(outcome: &Outcome) -> Vec<Value> {
    let value = |of: &FollowUp| {
        let payload: Value = serde_json::from_str(&of.payload).expect("a payload is JSON");
        json!({ "id": of.id, "kind": of.kind, "payload": payload })
    };
    outcome.follow_ups.iter().map(value).collect()
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
