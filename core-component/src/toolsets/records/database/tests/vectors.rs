//! Tests of the vectors of rows that cannot be conformance cases: several models, and deleted
//! memories.

use serde_json::{Value as Json, json};

use super::Host;
use crate::context::{Context, EmbeddedText};
use crate::toolbox::{self, Outcome, WantedVector};

/// The context of a call of a host that asks an embedder.
fn context(embedder: &str) -> Context {
    let context = json!({
        "settings": {"toolsets": ["records", "memory"], "records": {"format": "sqlite"}},
        "now": "2025-03-01T10:00:00.000Z", "seed": 1,
        "embedder": embedder,
    });
    serde_json::from_value(context).expect("a context")
}

impl Host {
    fn pending_for(&self, embedder: &str) -> Vec<String> {
        self.storage.begin_call();
        let outcome = toolbox::pending(&self.storage, &context(embedder)).expect("listed");
        outcome.follow_ups.into_iter().map(|of| of.id).collect()
    }

    /// Claims a batch, and returns the id, the texts and their digest.
    fn claim(&self, embedder: &str) -> (String, Vec<String>, String) {
        let id = &self.pending_for(embedder)[0];
        self.storage.begin_call();
        let outcome = toolbox::claim(&self.storage, id, 90, &context(embedder));
        let outcome = outcome.expect("claimed");
        let claimed = &outcome.follow_ups[0];
        let payload: Json = serde_json::from_str(&claimed.payload).expect("JSON");
        let texts = payload["texts"].as_array().expect("texts").iter();
        let texts = texts.map(|text| text.as_str().expect("a text").to_owned()).collect();
        let batch = payload["batch"].as_str().expect("a digest").to_owned();
        (claimed.id.clone(), texts, batch)
    }

    fn answer(&self, embedder: &str, id: &str, batch: &str, vectors: &Json) -> Json {
        self.storage.begin_call();
        let payload = json!({"batch": batch, "model": embedder, "vectors": vectors}).to_string();
        let context = context(embedder);
        let outcome = toolbox::answer(&self.storage, id, &payload, &context);
        serde_json::from_str(outcome.expect("answered").json()).expect("JSON")
    }

    /// Claims and answers all pending batches, with `vector` for each text.
    fn embed(&self, embedder: &str, vector: &[f32]) {
        while !self.pending_for(embedder).is_empty() {
            let (id, texts, batch) = self.claim(embedder);
            let vectors = json!(vec![vector; texts.len()]);
            assert_eq!(self.answer(embedder, &id, &batch, &vectors)["applied"], true);
        }
    }

    fn search(&self, context: &Context) -> Outcome {
        self.storage.begin_call();
        let query = json!({"query": "dinghies"}).to_string();
        toolbox::call_tool(&self.storage, "search_memory", &query, context).expect("searched")
    }

    /// The number of hits of a search with a vector.
    fn hits(&self, embedder: &str, vector: &[f32]) -> usize {
        let vector = EmbeddedText { text: "dinghies".to_owned(), vector: vector.to_vec() };
        let outcome = self.search(&Context { vector: Some(vector), ..context(embedder) });
        let found: Json = serde_json::from_str(outcome.json()).expect("JSON");
        found["hits"].as_array().expect("hits").len()
    }

    /// The number of vectors of each model.
    fn vectors(&self) -> Json {
        self.drop_vectors(&json!({}))["models"].take()
    }

    fn drop_vectors(&self, arguments: &Json) -> Json {
        self.storage.begin_call();
        let context = context("any");
        let arguments = arguments.to_string();
        let outcome = toolbox::call_tool(&self.storage, "drop_vectors", &arguments, &context);
        serde_json::from_str(outcome.expect("called").json()).expect("JSON")
    }
}

#[test]
fn a_search_wants_the_vector_of_its_query_only_where_vectors_of_the_model_are() {
    let host = Host::new();
    host.add("ada", "The sloop is moored.");
    assert_eq!(host.search(&context("first")).wants_vector, None);
    host.embed("first", &[1.0, 0.0]);
    let wanted =
        WantedVector { model: "first".to_owned(), text: "dinghies".to_owned(), deadline_ms: 1_000 };
    assert_eq!(host.search(&context("first")).wants_vector, Some(wanted));
    assert_eq!(host.search(&context("second")).wants_vector, None);
    assert_eq!(host.hits("first", &[1.0, 0.0]), 1);
    let of_another_text = EmbeddedText { text: "yawls".to_owned(), vector: vec![1.0, 0.0] };
    let outcome = host.search(&Context { vector: Some(of_another_text), ..context("first") });
    assert!(outcome.wants_vector.is_some(), "the vector is of another text");
}

#[test]
fn the_vectors_of_another_model_are_ignored_and_stay() {
    let host = Host::new();
    host.add("ada", "The sloop is moored.");
    host.embed("first", &[1.0, 0.0]);
    assert_eq!(host.hits("second", &[1.0, 0.0]), 0);
    host.embed("second", &[0.0, 1.0, 0.0]);
    assert_eq!(host.hits("second", &[0.0, 1.0, 0.0]), 1);
    assert_eq!(host.hits("first", &[1.0, 0.0]), 1);
    let first = json!({"name": "first", "vectors": 1});
    let second = json!({"name": "second", "vectors": 1});
    assert_eq!(host.vectors(), json!([first, second]));
    let dropped = host.drop_vectors(&json!({"model": "second"}));
    assert_eq!(dropped, json!({"dropped": 1, "models": [first]}));
    assert_eq!(host.hits("second", &[0.0, 1.0, 0.0]), 0);
    assert_eq!(host.hits("first", &[1.0, 0.0]), 1);
    assert_eq!(host.drop_vectors(&json!({"model": "other"}))["dropped"], 0);
}

#[test]
fn a_deleted_memory_leaves_no_vector_in_any_format() {
    let host = Host::new();
    let id = host.add("ada", "The sloop is moored.");
    host.add("ada", "The ketch is moored.");
    host.embed("first", &[1.0, 0.0]);
    host.embed("second", &[1.0]);
    let of_each = |vectors: u32| json!([{"name": "first", "vectors": vectors}, {"name": "second", "vectors": vectors}]);
    assert_eq!(host.vectors(), of_each(2));
    host.call("delete_memory", &json!({"agent_id": "ada", "id": id}));
    assert_eq!(host.vectors(), of_each(2), "an archived memory keeps its vectors");
    host.call("delete_memory", &json!({"agent_id": "ada", "id": id, "permanent": true}));
    assert_eq!(host.vectors(), of_each(1));
    host.call("convert_records", &json!({"agent_id": "ada", "to": "json"}));
    host.embed("first", &[1.0, 0.0]);
    assert_eq!(host.hits("first", &[1.0, 0.0]), 1, "a file has vectors, too");
}

#[test]
fn a_memory_that_is_deleted_while_the_embedder_works_leaves_no_vector() {
    let host = Host::new();
    let deleted = host.add("ada", "The sloop is moored.");
    host.add("ada", "The ketch is moored.");
    let (id, texts, batch) = host.claim("first");
    assert_eq!(texts.len(), 2);
    host.call("delete_memory", &json!({"agent_id": "ada", "id": deleted, "permanent": true}));
    let answered = host.answer("first", &id, &batch, &json!([[1.0, 0.0], [1.0, 0.0]]));
    assert_eq!(answered, json!({"applied": true, "stored": 1}));
    assert_eq!(host.vectors(), json!([{"name": "first", "vectors": 1}]));
}

/// A host without an embedder adds memories without vectors. A host with an embedder finds them
/// later, even a memory that has the key of a deleted one.
#[test]
fn memories_of_a_host_without_an_embedder_are_found_later() {
    let host = Host::new();
    for number in 0..40 {
        host.add("ada", &format!("Text {number}."));
    }
    host.embed("first", &[1.0, 0.0]);
    assert_eq!(host.vectors()[0]["vectors"], 40);
    let last = host.add("ada", "The last.");
    host.embed("first", &[1.0, 0.0]);
    host.call("delete_memory", &json!({"agent_id": "ada", "id": last, "permanent": true}));
    host.add("ada", "With the key of the last.");
    assert_eq!(host.vectors()[0]["vectors"], 40);
    assert_eq!(host.claim("first").1, ["With the key of the last."]);
}
