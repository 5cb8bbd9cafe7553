//! Tests of `items` that cannot be conformance cases: the index of a search, and many items.

use agent_memory_core::storage::Place;
use agent_memory_core::toolbox;
use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value, json};

struct Scene(InMemoryStorage);

impl Scene {
    fn new() -> Self {
        let storage = InMemoryStorage::new();
        storage.grant(Place::named("items"));
        Self(storage)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.call_as(&Value::Null, "10:00:00", tool, arguments)
    }

    fn call_as(&self, agents: &Value, time: &str, tool: &str, arguments: &Value) -> Value {
        let mut context = json!({
            "settings": {"toolsets": ["items", "memory"]}, "now": format!("2025-01-20T{time}.000Z"),
            "seed": 1,
        });
        if !agents.is_null() {
            context["agents"] = agents.clone();
        }
        let context = serde_json::from_value(context).expect("a context");
        self.0.begin_call();
        let outcome = toolbox::call_tool(&self.0, tool, &arguments.to_string(), &context);
        serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
    }

    /// Puts one item for each text, under the keys `0`, `1` and so on.
    fn put(&self, namespace: &[&str], texts: &[String], ttl_seconds: Option<u32>) {
        for (chunk, texts) in texts.chunks(100).enumerate() {
            let operation = |(at, text): (usize, &String)| {
                let key = (100 * chunk + at).to_string();
                let mut put = json!({"namespace": namespace, "key": key, "value": {"t": text}});
                if let Some(seconds) = ttl_seconds {
                    put["ttl_seconds"] = seconds.into();
                }
                json!({"put": put})
            };
            let operations: Vec<Value> = texts.iter().enumerate().map(operation).collect();
            let answer = self.call("batch_items", &json!({"operations": operations}));
            assert!(answer["error"].is_null(), "{answer}");
        }
    }

    /// The number of postings in the index, over all collections.
    fn postings(&self) -> u64 {
        let sql = "SELECT count(*) FROM postings";
        let rows = self.0.query_derived_sql(&Place::named("items"), "search.db", sql);
        rows.expect("an index")[0][0].as_u64().expect("a number")
    }

    fn rows(&self) -> u64 {
        let rows = self.0.query_sql("SELECT count(*) FROM items").expect("rows");
        rows[0][0].as_u64().expect("a number")
    }
}

#[test]
fn an_item_that_is_removed_leaves_the_index_in_the_same_call() {
    let several = json!(["ada", "bob"]);
    let delete = json!({"namespace": ["ada", "x"], "key": "0"});
    let removals = [
        ("delete_item", "10:00:00", delete.clone()),
        ("delete_item", "11:00:00", delete.clone()),
        ("batch_items", "10:00:00", json!({"operations": [{"delete": delete}]})),
        ("put_item", "11:00:00", json!({"namespace": ["ada", "x"], "key": "0", "value": {}})),
        ("put_item", "11:00:00", json!({"namespace": ["bob", "y"], "key": "k", "value": {}})),
        ("forget_memory", "10:00:00", json!({"text": "quetzal"})),
        ("forget_memory", "10:00:00", json!({"id": "items/1"})),
    ];
    for (tool, time, arguments) in removals {
        let scene = Scene::new();
        scene.put(&["ada", "x"], &["a quetzal".to_owned()], Some(60));
        let others = vec!["kite ".repeat(500); 60];
        scene.put(&["bob", "y"], &others, None);
        for agents in [Value::Null, several.clone(), json!(["ada"]), json!(["bob"])] {
            let query = json!({"query": "kite"});
            scene.call_as(&agents, "10:00:00", "search_memory", &query);
        }
        let before = scene.postings();
        scene.call_as(&Value::Null, time, tool, &arguments);
        let gone = before - scene.postings();
        assert!(gone >= 2, "{tool} at {time}: {gone} words of {before} left");
        // `put_item` adds a row. Forgetting a text keeps the row of its item.
        let rows = if tool == "put_item" || !arguments["text"].is_null() { 61 } else { 60 };
        assert_eq!(scene.rows(), rows, "{tool} at {time}");
    }
}

#[test]
fn a_question_reaches_all_items_of_a_namespace_however_many_others_match() {
    let scene = Scene::new();
    scene.put(&["users", "ada"], &vec![format!("tea {}", "word ".repeat(50)); 5], None);
    scene.put(&["users", "bob"], &vec!["tea tea".to_owned(); 900], None);
    let found = |arguments: Value| {
        let answer = scene.call("search_items", &arguments);
        answer["items"].as_array().unwrap_or_else(|| panic!("{answer}")).len()
    };
    assert_eq!(found(json!({"namespace_prefix": ["users", "ada"], "query": "tea"})), 5);
    let pages = (0..12).map(|page| {
        found(json!({"namespace_prefix": ["users"], "query": "tea", "limit": 80, "offset": 80 * page}))
    });
    assert_eq!(pages.sum::<usize>(), 905);
}

#[test]
fn a_question_in_a_small_namespace_is_answered_while_the_index_is_behind() {
    let scene = Scene::new();
    scene.put(&["users", "ada"], &["green tea".to_owned()], None);
    scene.put(&["users", "bob"], &vec!["some more words ".repeat(6_000); 400], None);
    let ask = |prefix: &[&str]| {
        scene.call("search_items", &json!({"namespace_prefix": prefix, "query": "tea"}))
    };
    assert_eq!(ask(&["users", "ada"])["items"][0]["key"], "0");
    let answer = ask(&[]);
    let note = answer["note"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(note.contains("call again"), "{note}");
}

#[test]
fn a_dense_item_is_refused() {
    let scene = Scene::new();
    let put = |values: usize| {
        let value = json!({"list": vec![json!({}); values - 1]});
        scene.call("put_item", &json!({"namespace": ["a"], "key": "k", "value": value}))
    };
    assert_eq!(put(50_000), json!({"is_new": true}));
    assert_eq!(put(50_001)["error"]["code"], "LIMIT_EXCEEDED");
}

#[test]
fn an_answer_that_is_full_goes_on_at_an_offset() {
    let scene = Scene::new();
    scene.put(&["a"], &vec![format!("tea {}", "x".repeat(1_000_000)); 12], None);
    for query in ["", "tea"] {
        let mut keys = Vec::new();
        while keys.len() < 12 {
            let arguments = json!({"query": query, "limit": 10_000, "offset": keys.len()});
            let answer = scene.call("search_items", &arguments);
            let items = answer["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
            keys.extend(items.iter().map(|item| item["key"].clone()));
            let left = answer["note"].as_str();
            let expected = if keys.len() < 4 { "so more are left out" } else { "are left out" };
            assert!(keys.len() == 12 || left.is_some_and(|left| left.contains(expected)));
        }
        keys.sort_by_key(ToString::to_string);
        keys.dedup();
        assert_eq!(keys.len(), 12);
    }
}
