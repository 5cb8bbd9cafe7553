//! The vectors of records, where storage fails.

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::faults::{Every, FaultyStorage};
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::context::{Context, EmbeddedText};
use agent_memory_core::storage::{ErrorCode, Place, Storage};
use agent_memory_core::toolbox::{self, FollowUp, Outcome};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The number of memories. The text of each may change once.
const MEMORIES: usize = 24;

/// A host that asks an embedder. Each call comes an hour later, so that leases and pauses are over.
struct Host {
    storage: FaultyStorage<Every>,
    fails: bool,
    calls: i64,
}

impl Host {
    fn call(
        &mut self,
        call: impl FnOnce(&dyn Storage, &Context) -> Result<Outcome, toolbox::Failure>,
    ) -> Outcome {
        let start: Timestamp = "2025-01-20T10:00:00Z".parse().expect("a time");
        self.calls += 1;
        let context = context_of(&json!({
            "settings": {"toolsets": ["records", "memory"], "records": {"format": "sqlite"}},
            "now": format!("{:.3}", start + SignedDuration::from_hours(self.calls)),
            "seed": self.calls, "embedder": "scripted",
        }));
        self.storage.memory().begin_call();
        let storage: &dyn Storage = if self.fails { &self.storage } else { self.storage.memory() };
        call(storage, &context).expect("an outcome")
    }

    fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        let arguments = arguments.to_string();
        let outcome =
            self.call(|storage, context| toolbox::call_tool(storage, name, &arguments, context));
        serde_json::from_str(&outcome.answer.expect("a result")).expect("JSON")
    }

    fn pending(&mut self) -> Vec<FollowUp> {
        self.call(toolbox::pending).follow_ups
    }

    /// Claims a batch. None if nothing is wanted, or after a fault.
    fn claim(&mut self) -> Option<FollowUp> {
        let fails = std::mem::take(&mut self.fails);
        let id = self.pending().into_iter().next()?.id;
        self.fails = fails;
        let claimed = self.call(|storage, context| toolbox::claim(storage, &id, 90, context));
        claimed.follow_ups.into_iter().next()
    }

    /// Answers a batch with the vectors of its texts.
    fn answer(&mut self, batch: &FollowUp) {
        let claimed: Value = serde_json::from_str(&batch.payload).expect("JSON");
        let texts = claimed["texts"].as_array().expect("texts").iter();
        let vectors: Vec<Vec<u8>> =
            texts.map(|text| vector(text.as_str().expect("a text"))).collect();
        let answer = json!({"batch": claimed["batch"], "model": "scripted", "vectors": vectors});
        self.call(|storage, context| {
            toolbox::answer(storage, &batch.id, &answer.to_string(), context)
        });
    }

    /// Checks that each stored vector is that of its text, and returns their number.
    fn check(&mut self, at: &str) -> usize {
        let mut stored = 0;
        for number in 0..2 * MEMORIES {
            let text = format!("text {number}");
            let numbers = vector(&text).into_iter().map(f32::from).collect();
            let found = self.call(|storage, context| {
                let query = "dinghies".to_owned();
                let vector = Some(EmbeddedText { text: query.clone(), vector: numbers });
                let context = Context { vector, ..context.clone() };
                let arguments = json!({"query": query}).to_string();
                toolbox::call_tool(storage, "search_memory", &arguments, &context)
            });
            let found: Value = serde_json::from_str(found.json()).expect("JSON");
            for hit in found["hits"].as_array().expect("hits") {
                assert_eq!(hit["passage"], text, "{at}");
                stored += 1;
            }
        }
        stored
    }
}

/// The vector of a text: the number in the text is the place of the only 1.
fn vector(text: &str) -> Vec<u8> {
    let place: usize = text.strip_prefix("text ").expect("a text").parse().expect("a number");
    (0..2 * MEMORIES).map(|at| u8::from(at == place)).collect()
}

#[test]
fn every_memory_gets_the_vector_of_its_text_whatever_failed_before() {
    for code in [ErrorCode::Io, ErrorCode::NoSpace, ErrorCode::Busy] {
        let mut early = 0;
        for period in (31..130).step_by(3) {
            let at = format!("{code:?} at every {period}th operation of claims and answers");
            let memory = InMemoryStorage::new();
            memory.grant(Place::named("records"));
            let storage = FaultyStorage::new(memory, Every::new(period, code));
            let storage = storage.with_faults_in_derived();
            let mut host = Host { storage, fails: false, calls: 0 };
            let mut last = None;
            let mut batch = None;
            for number in 0..MEMORIES {
                host.fails = false;
                // A text that was claimed changes before the answer.
                if let Some(id) = last {
                    let content = format!("text {}", MEMORIES + number);
                    host.tool("update_memory", &json!({"id": id, "content": content}));
                }
                let content = format!("text {number}");
                let added = host.tool("add_core_memory", &json!({"content": content}));
                last = Some(added["id"].clone()).filter(|_| number % 3 == 0);
                host.fails = true;
                if let Some(batch) = batch.take() {
                    host.answer(&batch);
                }
                batch = host.claim();
            }
            host.fails = false;
            early += host.check(&at);

            while !host.pending().is_empty() {
                let batch = host.claim().expect("what is pending can be claimed");
                host.answer(&batch);
            }
            assert_eq!(host.check(&at), MEMORIES, "{at}");
        }
        assert!(early > 0, "no batch was stored in spite of faults: {code:?}");
    }
}
