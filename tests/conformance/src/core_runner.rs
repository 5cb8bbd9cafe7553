//! The runner of the core: a library call on storage in memory. Only this runner can inject faults.

use std::time::Duration;

use agent_memory_core::context::{Context, EmbeddedText};
use agent_memory_core::storage::{Area, Place, Storage};
use agent_memory_core::toolbox::{
    self, Failure, FailureCode, FollowUp, Outcome, Reference, WantedVector,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::{Case, CaseCaller, Completed, Documents, Embedder, Places, Request};
use crate::faults::{CaseFaults, FaultyStorage};
use crate::in_memory::InMemoryStorage;
use crate::runner::{Answer, Session};

/// A case that runs on the core.
pub struct CoreSession {
    storage: FaultyStorage<CaseFaults>,
    contexts: CallContexts,
    place: Place,
    is_of_stores: bool,
    calls: u32,
    follow_ups: Vec<Value>,
}

/// The path of a case's repository, unless a test chooses another path.
const REPOSITORY: &str = "/scratch/repo";

impl CoreSession {
    /// Starts a case.
    pub fn start(case: &Case) -> Box<dyn Session> {
        Self::start_at(case, REPOSITORY)
    }

    /// Starts a case in a repository of this path.
    pub fn start_at(case: &Case, repository: &str) -> Box<dyn Session> {
        Self::start_in(InMemoryStorage::new(), case, repository)
    }

    /// Starts a case on storage with the locks of a server: a call locks only its agent or store, its
    /// scope. The storage panics if two scopes change one row or document.
    pub fn start_on_server(case: &Case) -> Box<dyn Session> {
        Self::start_in(InMemoryStorage::like_a_server(), case, REPOSITORY)
    }

    fn start_in(memory: InMemoryStorage, case: &Case, repository: &str) -> Box<dyn Session> {
        let faults = CaseFaults::new(case.text.faults.clone());
        let place = place_at(case, repository);
        let contexts =
            CallContexts { repository: repository.into(), ..CallContexts::from_case(case) };
        Box::new(Self {
            storage: FaultyStorage::new(filled(memory, case, &place), faults),
            contexts,
            place,
            is_of_stores: case.toolset() == "stores",
            calls: 0,
            follow_ups: Vec::new(),
        })
    }

    /// Begins the next call and returns its context.
    fn begin(&mut self) -> Context {
        self.storage.plan().begin_step(self.calls as usize);
        self.storage.memory().begin_call();
        let context = context_of(&self.contexts.context(self.calls));
        self.calls += 1;
        context
    }
}

impl Session for CoreSession {
    fn request(&mut self, request: &Request) -> Result<Answer, String> {
        let context = self.begin();
        let mut outcome = send(&self.storage, request, &context);
        let wanted = outcome.as_ref().ok().and_then(|outcome| outcome.wants_vector.as_ref());
        if let Some(vector) = wanted.and_then(|wanted| self.contexts.vector(wanted)) {
            let context = Context { vector: Some(vector), ..context };
            let again = send(&self.storage, request, &context);
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
        self.contexts.places()
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        self.storage.memory().query_sql(sql)
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        if let Some(fault) = self.storage.plan().unused() {
            return Err(format!("this fault never happened: {fault:?}"));
        }
        let memory = self.storage.memory();
        if !self.is_of_stores {
            return Ok(memory.documents(&self.place, Area::Documents));
        }
        let names = memory.list_places("stores").map_err(|error| error.message)?;
        let of_store = |name: String| {
            let place = Place::in_group("stores", &name);
            let documents = memory.documents(&place, Area::Documents).into_iter();
            documents.map(move |(path, contents)| (format!("{name}/{path}"), contents))
        };
        Ok(names.into_iter().flat_map(of_store).collect())
    }
}

/// Makes a request of a step to the core, with a context as JSON.
///
/// # Panics
///
/// If the result is not JSON.
pub fn make(storage: &dyn Storage, request: &Request, context: &Value) -> Answer {
    answer(send(storage, request, &context_of(context))).expect("a result is JSON")
}

fn send(storage: &dyn Storage, request: &Request, context: &Context) -> Result<Outcome, Failure> {
    match request {
        Request::Call { call, arguments } => {
            toolbox::call_tool(storage, call, &arguments.to_string(), context)
        }
        Request::Read { read } => toolbox::read_resource(storage, read, context),
        Request::Prompt { prompt, arguments } => {
            toolbox::get_prompt(storage, prompt, &arguments.to_string(), context)
        }
        Request::Complete { complete, argument, value, others } => {
            let reference = match complete {
                Completed::Prompt(name) => Reference::Prompt(name),
                Completed::ResourceTemplate(uri) => Reference::ResourceTemplate(uri),
            };
            let others = json!(others).to_string();
            toolbox::complete(storage, reference, argument, value, &others, context)
        }
        Request::Pending { .. } => toolbox::pending(storage, context),
        Request::Claim { claim, lease_seconds } => {
            toolbox::claim(storage, claim, *lease_seconds, context)
        }
        Request::Answer { answer, payload } => {
            toolbox::answer(storage, answer, &payload.to_string(), context)
        }
    }
}

/// The follow-ups of an outcome, with their payloads as JSON.
fn follow_ups(outcome: &Outcome) -> Vec<Value> {
    let value = |of: &FollowUp| {
        let payload: Value = serde_json::from_str(&of.payload).expect("a payload is JSON");
        json!({ "id": of.id, "kind": of.kind, "payload": payload })
    };
    outcome.follow_ups.iter().map(value).collect()
}

/// All tools of all toolsets, as the core lists them.
///
/// # Panics
///
/// If the list is not JSON.
pub fn tools() -> Vec<Value> {
    described().iter().flat_map(|of| of["tools"].as_array().expect("tools").clone()).collect()
}

/// The toolsets that the core describes.
fn described() -> Vec<Value> {
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    described["toolsets"].as_array().expect("toolsets").clone()
}

/// The names of all toolsets, in the order of the core's description.
///
/// # Panics
///
/// If the description is not JSON.
pub fn toolsets() -> Vec<String> {
    let name = |toolset: &Value| toolset["name"].as_str().expect("a name").to_owned();
    described().iter().map(name).collect()
}

/// The statements that make the tables of the place with a label.
///
/// # Panics
///
/// If no toolset has a database there.
pub fn tables_of(label: &str) -> Vec<String> {
    let described = described();
    let mut places = described.iter().flat_map(|toolset| toolset["places"].as_array()).flatten();
    let place = places.find(|place| place["label"] == label).expect("a place");
    let tables = place["databases"][0]["sqlite_tables"].as_array().expect("a database");
    tables.iter().map(|sql| sql.as_str().expect("SQL").to_owned()).collect()
}

/// The tools of one toolset.
///
/// # Panics
///
/// If there is no such toolset.
pub fn tools_of(toolset: &str) -> Vec<Value> {
    let prefix = format!("{toolset}_");
    let is_of = |tool: &Value| tool["qualified_name"].as_str().unwrap_or("").starts_with(&prefix);
    let tools: Vec<Value> = tools().into_iter().filter(is_of).collect();
    assert!(!tools.is_empty(), "there is no toolset `{toolset}`");
    tools
}

/// Tools as a host lists them that mounts only these. A name that two of them share becomes the
/// qualified name. The fields `shared_with` and `qualified_name` are removed.
pub fn listed(mut tools: Vec<Value>) -> Vec<Value> {
    let names: Vec<Value> = tools.iter().map(|tool| tool["name"].clone()).collect();
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        let is_shared = names.iter().filter(|name| **name == tool["name"]).count() > 1;
        tool.shift_remove("shared_with");
        if let Some(qualified) = tool.shift_remove("qualified_name")
            && is_shared
        {
            tool["name"] = qualified;
        }
    }
    tools
}

/// Reads a context.
///
/// # Panics
///
/// If the JSON is not a context.
pub fn context_of(json: &Value) -> Context {
    Context::deserialize(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// The place that a case is about.
pub fn place_of(case: &Case) -> Place {
    place_at(case, REPOSITORY)
}

fn place_at(case: &Case, repository: &str) -> Place {
    match case.toolset() {
        "sessions" | "memory" => Place::repository(repository),
        "stores" => Place::in_group("stores", case.store()),
        toolset => Place::named(toolset),
    }
}

/// Storage with the documents that a case begins with.
pub fn storage_of(case: &Case) -> InMemoryStorage {
    filled(InMemoryStorage::new(), case, &place_of(case))
}

fn filled(memory: InMemoryStorage, case: &Case, place: &Place) -> InMemoryStorage {
    if case.toolset() == "stores" {
        memory.grant_family("stores");
        for name in case.given_stores() {
            memory.grant(Place::in_group("stores", name));
        }
        for (path, contents) in case.given() {
            let (name, path) = path.split_once('/').expect("a store and a path");
            memory.put(&Place::in_group("stores", name), Area::Documents, path, contents);
        }
        return memory;
    }
    if case.toolset() == "memory" {
        memory.grant_family("stores");
        let labels = ["records", "layers", "files", "items"].into_iter();
        labels.for_each(|label| memory.grant(Place::named(label)));
    }
    memory.grant(place.clone());
    for (path, contents) in case.given() {
        memory.put(place, Area::Documents, &path, contents);
    }
    memory.run_sql(case.given_sql());
    memory
}

/// The contexts of a case's calls.
#[derive(Clone, Debug)]
pub struct CallContexts {
    settings: Value,
    models: Vec<String>,
    embedder: Option<Embedder>,
    caller: CaseCaller,
    start: Timestamp,
    step_ms: u32,
    zone: Value,
    seed: u64,
    repository: String,
}

impl CallContexts {
    /// The contexts of a case's calls.
    pub fn from_case(case: &Case) -> Self {
        let clock = &case.text.clock;
        Self {
            settings: case.settings(),
            models: case.text.models.clone(),
            embedder: case.text.embedder.clone(),
            caller: case.text.caller.clone(),
            start: clock.now.parse().expect("a case's clock is a timestamp"),
            step_ms: clock.step_ms,
            zone: clock.zone(),
            seed: case.text.seed,
            repository: REPOSITORY.into(),
        }
    }

    /// The context of call number `call`, from 0.
    pub fn context(&self, call: u32) -> Value {
        let later = Duration::from_millis(u64::from(self.step_ms) * u64::from(call));
        let now = self.start + later;
        json!({
            "settings": self.settings,
            "now": format!("{now:.3}"),
            "zone": self.zone,
            "seed": self.seed + u64::from(call),
            "agents": self.caller.agents,
            "stores": self.caller.stores,
            "models": self.models,
            "embedder": self.embedder.as_ref().map(|embedder| &embedder.model),
        })
    }

    /// The vector that the case's embedder has for a text.
    fn vector(&self, wanted: &WantedVector) -> Option<EmbeddedText> {
        let embedder = self.embedder.as_ref().filter(|of| of.model == wanted.model)?;
        let (text, vector) = embedder.vectors.get_key_value(&wanted.text)?;
        Some(EmbeddedText { text: text.clone(), vector: vector.clone() })
    }

    /// The context of the same call when it is repeated: the same time, another random seed.
    pub fn context_again(&self, call: u32) -> Value {
        let mut context = self.context(call);
        context["seed"] = json!(self.seed + u64::from(call) + 1);
        context
    }

    /// The values of a case's placeholders.
    pub fn places(&self) -> Places {
        Places {
            repo: self.repository.clone(),
            elsewhere: "/scratch/elsewhere".into(),
            stores: "/stores".into(),
        }
    }
}

/// The answer of a call, as the suite compares it.
///
/// # Errors
///
/// If the result is not JSON.
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

/// The JSON in the answer to reading a resource.
///
/// # Errors
///
/// If the answer is not one JSON text of this URI.
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
