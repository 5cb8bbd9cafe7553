//! Vectors in several toolsets: after deletions, after changes by others, and for callers of one
//! agent.

use std::cell::Cell;
use std::collections::BTreeMap;

use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value, json};

/// A host with an embedder. Each call comes a second later.
struct Host {
    storage: InMemoryStorage,
    toolsets: Vec<&'static str>,
    agents: Option<Vec<&'static str>>,
    has_embedder: bool,
    seconds: Cell<i64>,
}

/// A batch of texts that the host has claimed, to embed them.
struct Batch {
    id: String,
    texts: Vec<String>,
    digest: String,
}

impl Host {
    fn new(toolsets: &[&'static str]) -> Self {
        let storage = InMemoryStorage::new();
        for label in ["records", "layers", "files"] {
            storage.grant(Place::named(label));
        }
        let toolsets = toolsets.to_vec();
        Self { storage, toolsets, agents: None, has_embedder: true, seconds: Cell::new(0) }
    }

    fn context(&self, vector: Option<&[f32]>) -> Context {
        let seconds = self.seconds.get();
        self.seconds.set(seconds + 1);
        let time = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60];
        let day = 1 + seconds / 86_400;
        let [hours, minutes, seconds] = time;
        let context = json!({
            "settings": {"toolsets": self.toolsets, "records": {"format": "sqlite"}},
            "now": format!("2025-01-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.000Z"),
            "seed": self.seconds.get(),
            "embedder": self.has_embedder.then_some("model"),
            "agents": self.agents,
            "vector": vector.map(|vector| json!({"text": "dinghies", "vector": vector})),
        });
        serde_json::from_value(context).expect("a context")
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.call_with(tool, arguments, None)
    }

    fn call_with(&self, tool: &str, arguments: &Value, vector: Option<&[f32]>) -> Value {
        self.storage.begin_call();
        let context = self.context(vector);
        let outcome = toolbox::call_tool(&self.storage, tool, &arguments.to_string(), &context);
        let answer: Value = serde_json::from_str(outcome.expect("called").json()).expect("JSON");
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        answer
    }

    fn add(&self, agent: &str, content: &str) -> Value {
        let memory = json!({"agent_id": agent, "type": "task", "content": content});
        self.call("store_memory", &memory)["id"].clone()
    }

    /// The passages of the hits of a search with a vector. No text has the word of the query, so
    /// only the vector finds hits.
    fn hits(&self, vector: &[f32]) -> Vec<String> {
        let found = self.call_with("search_memory", &json!({"query": "dinghies"}), Some(vector));
        let hits = found["hits"].as_array().expect("hits").iter();
        hits.map(|hit| hit["passage"].as_str().expect("a passage").to_owned()).collect()
    }

    fn pending(&self) -> Vec<String> {
        self.storage.begin_call();
        let outcome = toolbox::pending(&self.storage, &self.context(None)).expect("listed");
        let embeddings = outcome.follow_ups.into_iter().filter(|of| of.kind == "embedding");
        embeddings.map(|of| of.id).collect()
    }

    fn claim(&self, id: &str) -> Option<Batch> {
        self.storage.begin_call();
        let outcome = toolbox::claim(&self.storage, id, 90, &self.context(None)).expect("claimed");
        let payload = &outcome.follow_ups.first()?.payload;
        let payload: Value = serde_json::from_str(payload).expect("JSON");
        let texts = payload["texts"].as_array().expect("texts").iter();
        Some(Batch {
            id: id.to_owned(),
            texts: texts.map(|text| text.as_str().expect("a text").to_owned()).collect(),
            digest: payload["batch"].as_str().expect("a digest").to_owned(),
        })
    }

    fn answer(&self, batch: &Batch, vectors: &[Vec<f32>]) -> Value {
        self.answer_with(batch, &json!({"model": "model", "vectors": vectors}))
    }

    fn fail(&self, batch: &Batch) {
        self.answer_with(batch, &json!({"error": "not taken"}));
    }

    fn answer_with(&self, batch: &Batch, answer: &Value) -> Value {
        self.storage.begin_call();
        let mut answer = answer.clone();
        answer["batch"] = json!(batch.digest);
        let context = self.context(None);
        let outcome = toolbox::answer(&self.storage, &batch.id, &answer.to_string(), &context);
        serde_json::from_str(outcome.expect("answered").json()).expect("JSON")
    }

    /// Answers all pending batches with vectors. Returns the number of texts.
    fn embed(&self, vector_of: impl Fn(&str) -> Vec<f32>) -> usize {
        let mut embedded = 0;
        for id in self.pending() {
            while let Some(batch) = self.claim(&id) {
                let vectors: Vec<_> = batch.texts.iter().map(|text| vector_of(text)).collect();
                assert_eq!(self.answer(&batch, &vectors)["applied"], true);
                embedded += batch.texts.len();
            }
        }
        embedded
    }

    /// The number of all vectors.
    fn vectors(&self) -> u64 {
        let models = self.call("drop_vectors", &json!({}));
        models["models"].as_array().expect("models").iter().map(vectors_of).sum()
    }

    fn put(&self, place: &Place, path: &str, text: &str) {
        self.storage.put(place, Area::Documents, path, text);
    }
}

fn vectors_of(model: &Value) -> u64 {
    model["vectors"].as_u64().expect("a number")
}

fn one(_: &str) -> Vec<f32> {
    vec![1.0]
}

/// One vector for texts about boats, and another for all other texts.
fn boats(text: &str) -> Vec<f32> {
    if text.contains("sloop") { vec![0.0, 1.0] } else { vec![1.0, 0.0] }
}

#[test]
fn a_database_without_its_tables_is_made_anew() {
    let host = Host::new(&["records", "memory"]);
    host.add("ada", "One.");
    assert_eq!(host.embed(one), 1);
    let drop = ["DROP TABLE vector_version"];
    host.storage.run_derived_sql(&Place::named("records"), "vectors.db", &drop);
    assert_eq!(host.hits(&[1.0]), [""; 0]);
    assert_eq!(host.embed(one), 1);
    assert_eq!(host.hits(&[1.0]), ["One."]);
}

#[test]
fn damaged_vectors_are_made_anew_and_a_search_warns_until_then() {
    for (damage, memories) in [
        // 150 memories are more than one pass reads.
        ("UPDATE vector_documents SET texts = x'01'", 150),
        ("UPDATE vector_collections SET asked = 'x'", 2),
        ("UPDATE vector_version SET version = 'x'", 2),
    ] {
        let host = Host::new(&["records", "memory"]);
        for number in 0..memories {
            host.add("ada", &format!("Memory {number}."));
        }
        assert_eq!(host.embed(one), memories);
        host.storage.run_derived_sql(&Place::named("records"), "vectors.db", &[damage]);
        let search =
            || host.call_with("search_memory", &json!({"query": "dinghies"}), Some(&[1.0]));
        let warning =
            "no vectors were compared: `vectors.db` is damaged: delete it, and it is made anew";
        let found = search();
        assert_eq!((&found["hits"], &found["warnings"]), (&json!([]), &json!([warning])));
        assert_eq!(host.embed(one), memories, "{damage}");
        let found = search();
        assert_eq!(found.get("warnings"), None, "{damage}");
        assert_ne!(found["hits"], json!([]), "{damage}");
    }
}

#[test]
fn a_call_that_forgets_empties_damaged_vectors() {
    let host = Host::new(&["records", "memory"]);
    let id = host.add("ada", "One.");
    host.add("ada", "Two.");
    assert_eq!(host.embed(one), 2);
    let place = Place::named("records");
    let damage = ["UPDATE vector_documents SET texts = x'01'"];
    host.storage.run_derived_sql(&place, "vectors.db", &damage);
    host.call("delete_memory", &json!({"agent_id": "ada", "id": id, "permanent": true}));
    let vectors = "SELECT count(*) FROM vectors";
    let vectors = host.storage.query_derived_sql(&place, "vectors.db", vectors);
    assert_eq!(vectors.expect("rows"), [[json!(0)]]);
}

#[test]
fn a_caller_of_one_agent_drops_the_vectors_of_no_other() {
    let mut host = Host::new(&["records", "memory"]);
    host.add("ada", "One.");
    host.add("bob", "Two.");
    assert_eq!(host.embed(one), 2);
    host.agents = Some(vec!["ada"]);
    assert_eq!(host.vectors(), 1);
    assert_eq!(host.call("drop_vectors", &json!({"model": "model"}))["dropped"], 1);
    host.agents = None;
    assert_eq!(host.vectors(), 1);
}

#[test]
fn what_layers_forget_leaves_no_vector_even_by_a_late_answer() {
    let mut host = Host::new(&["layers", "memory"]);
    let set = |host: &Host, agent: &str, task: &str| {
        host.call("set_current_task", &json!({"agent_id": agent, "task": task}));
    };
    set(&host, "bob", "Another task.");
    set(&host, "ada", "The secret is hunter22.");
    assert_eq!(host.embed(one), 2);
    host.has_embedder = false;
    host.call("forget_memory", &json!({"text": "hunter22"}));
    assert_eq!(host.vectors(), 1);
    for number in 0..3 {
        let memory = format!("Recent {number}.");
        host.call("add_recent_memory", &json!({"agent_id": "bob", "memory": memory}));
    }
    host.has_embedder = true;
    set(&host, "ada", "The secret is hunter23.");
    let batches: Vec<Batch> = host.pending().iter().filter_map(|id| host.claim(id)).collect();
    host.call("forget_memory", &json!({"text": "hunter23"}));
    for batch in &batches {
        let vectors: Vec<_> = batch.texts.iter().map(|text| one(text)).collect();
        let stored = usize::from(!batch.texts[0].contains("hunter23")) * batch.texts.len();
        assert_eq!(host.answer(batch, &vectors), json!({"applied": true, "stored": stored}));
    }
    host.embed(one);
    let before = host.vectors();
    host.has_embedder = false;
    host.call("clear_recent_memories", &json!({"agent_id": "bob"}));
    assert_eq!(host.vectors(), before - 3);
}

/// A log with these blocks.
fn log(date: &str, blocks: &[&str]) -> String {
    format!("# ada — {date}\n\n## Context\n\n{}\n", blocks.join("\n\n"))
}

#[test]
fn a_change_beside_a_text_does_not_hide_it_whether_there_is_an_index_or_not() {
    let host = Host::new(&["sessions", "memory"]);
    let place = Place::repository("/project");
    let filler = "lorem ipsum dolor ".repeat(300);
    for day in 1..20 {
        let date = format!("2024-12-{day:02}");
        host.put(&place, &format!("ada/logs/{date}.md"), &log(&date, &[&filler]));
    }
    let changed = "ada/logs/2024-12-28.md";
    let with = |beside: &str| log("2024-12-28", &["The sloop is moored.", beside]);
    host.put(&place, changed, &with("One."));
    host.hits(&[1.0, 0.0]);
    host.embed(boats);
    for beside in ["One.", "Two.", "Three."] {
        host.put(&place, changed, &with(beside));
        for _ in 0..3 {
            assert_eq!(host.hits(&[0.0, 1.0]), ["The sloop is moored."], "{beside}");
        }
    }
}

#[test]
fn what_cannot_be_a_hit_takes_no_place_of_the_nearest() {
    let host = Host::new(&["records", "memory"]);
    for number in 0..60 {
        let id = host.add("ada", &format!("The archived sloop {number}."));
        host.call("delete_memory", &json!({"agent_id": "ada", "id": id}));
    }
    host.add("ada", "The current one.");
    host.embed(|text| if text.contains("sloop") { vec![0.1, 1.0] } else { vec![1.0, 0.9] });
    assert_eq!(host.hits(&[0.0, 1.0]), ["The current one."]);
    for number in 0..40 {
        host.add("ada", &format!("Filler {number} {}", "lorem ipsum ".repeat(300)));
    }
    for _ in 0..3 {
        assert_eq!(host.hits(&[0.0, 1.0]), ["The current one."]);
    }
}

#[test]
fn the_same_text_is_asked_for_once() {
    let host = Host::new(&["files", "memory"]);
    let place = Place::named("files");
    host.put(&place, "a.md", "The sloop is moored.");
    assert_eq!(host.embed(boats), 1);
    host.put(&place, "b.md", "The sloop is moored.");
    assert_eq!(host.embed(boats), 0);
    assert_eq!(host.hits(&[0.0, 1.0]).len(), 2);
    for name in ["c.md", "d.md"] {
        host.put(&place, name, "The same text twice at once.");
    }
    assert_eq!(host.embed(boats), 1);
    assert_eq!(host.vectors(), 4);
    host.storage.remove(&place, Area::Documents, "a.md");
    assert_eq!(host.embed(boats), 0);
    assert_eq!(host.vectors(), 3);
}

#[test]
fn texts_that_an_embedder_never_takes_do_not_keep_the_others_waiting() {
    let host = Host::new(&["records", "memory"]);
    for number in 0..10 {
        host.add("ada", &format!("Good {number}."));
    }
    for number in 0..140 {
        host.add("ada", &format!("Poison {number}."));
    }
    let id = host.pending().swap_remove(0);
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..200 {
        if let Some(batch) = host.claim(&id) {
            if let [text] = &batch.texts[..] {
                *asked.entry(text.clone()).or_default() += 1;
            }
            if batch.texts.iter().any(|text| text.starts_with("Poison")) {
                host.fail(&batch);
            } else {
                host.answer(&batch, &vec![vec![1.0]; batch.texts.len()]);
            }
        }
        host.seconds.set(host.seconds.get() + 3_601);
    }
    assert_eq!(host.vectors(), 10);
    assert_eq!(asked.len(), 150);
}

#[test]
fn blank_texts_do_not_end_the_batches_of_the_others() {
    let host = Host::new(&["files", "memory"]);
    let place = Place::named("files");
    for number in 0..200 {
        host.put(&place, &format!("a{number:03}.md"), " \n");
    }
    host.put(&place, "z.md", "The sloop is moored.");
    assert_eq!(host.embed(boats), 1);
    assert_eq!(host.pending(), [""; 0]);
}

#[test]
fn a_new_text_comes_before_a_backlog() {
    let host = Host::new(&["sessions", "memory"]);
    let place = Place::repository("/project");
    let old: Vec<String> = (0..300).map(|number| format!("Old block {number}.")).collect();
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    host.put(&place, "ada/logs/2024-12-01.md", &log("2024-12-01", &old));
    let id = host.pending().swap_remove(0);
    let batch = host.claim(&id).expect("a batch");
    host.answer(&batch, &vec![vec![1.0]; batch.texts.len()]);
    host.put(&place, "ada/logs/2024-12-02.md", &log("2024-12-02", &["The newest."]));
    assert_eq!(host.claim(&id).expect("a batch").texts[0], "The newest.");
}

#[test]
fn a_search_without_an_embedder_leaves_vectors_as_they_are() {
    let mut host = Host::new(&["sessions", "memory"]);
    let place = Place::repository("/project");
    let path = "ada/logs/2024-12-01.md";
    let text = log("2024-12-01", &["The sloop is moored."]);
    host.put(&place, path, &text);
    assert_eq!(host.embed(boats), 1);
    // The log is missing for a while, as after a checkout of another Git branch.
    host.storage.remove(&place, Area::Documents, path);
    host.has_embedder = false;
    host.call("search_memory", &json!({"query": "kite"}));
    host.put(&place, path, &text);
    assert_eq!(host.vectors(), 1);
}
