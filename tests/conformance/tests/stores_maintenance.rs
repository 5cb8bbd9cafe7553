//! Maintenance of stores: many files, and calls that were interrupted.

use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

fn team() -> Place {
    Place::of_family("stores", "team")
}

fn storage() -> InMemoryStorage {
    let storage = InMemoryStorage::new();
    storage.grant_family("stores");
    storage.grant(team());
    storage
}

fn put(storage: &InMemoryStorage, path: &str, text: &str) {
    storage.put(&team(), Area::Documents, path, text);
}

fn text(storage: &InMemoryStorage, path: &str) -> String {
    let documents = storage.documents(&team(), Area::Documents);
    String::from_utf8(documents[path].clone()).expect("UTF-8")
}

fn context() -> Context {
    let context = json!({
        "settings": {"toolsets": ["stores"]}, "now": "2025-01-20T10:00:00.000Z",
        "utc_offset_minutes": 0, "seed": 1,
    });
    serde_json::from_value(context).expect("a context")
}

fn call(storage: &InMemoryStorage, tool: &str, mut arguments: Value) -> Value {
    storage.begin_call();
    arguments["store"] = json!("team");
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context());
    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
}

const EXPIRED: &str = "---\nexpires_at: 2025-01-01\n---\nOld";

#[test]
fn a_prune_and_a_reindex_take_500_files_a_call_and_go_on_at_the_cursor() {
    let storage = storage();
    for number in 0..1_200 {
        let expiry = if number % 3 == 0 { EXPIRED } else { "New" };
        put(&storage, &format!("c{}/n{number:04}.md", number % 4), expiry);
    }
    let mut pruned = 0;
    let mut arguments = json!({});
    let mut remaining = Vec::new();
    loop {
        let page = call(&storage, "prune_memories", arguments.clone());
        pruned += page["pruned_count"].as_u64().expect("a count");
        remaining.push(page["remaining"].as_u64().expect("a count"));
        let Some(cursor) = page.get("cursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    assert_eq!((pruned, remaining), (400, vec![700, 200, 0]));

    let mut arguments = json!({});
    let mut remaining = Vec::new();
    loop {
        let page = call(&storage, "reindex_store", arguments.clone());
        assert_eq!(page["warnings"], json!([]), "{page}");
        remaining.push(page["remaining"].as_u64().expect("a count"));
        let Some(cursor) = page.get("cursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    assert_eq!(remaining, [304, 0]);
    let listed = call(&storage, "list_memories", json!({"recursive": true, "limit": 1000}));
    assert_eq!((&listed["count"], &listed["has_more"]), (&json!(800), &json!(false)));
    let counts = listed["subcategories"].as_array().expect("subcategories");
    assert!(counts.iter().all(|of| of["memory_count"] == 200), "{counts:?}");
}

#[test]
fn a_writer_reads_at_most_a_hundred_files_that_an_index_lacks() {
    let storage = storage();
    for number in 0..250 {
        put(&storage, &format!("a/n{number:04}.md"), "x");
    }
    let add = |path: &str| call(&storage, "add_memory", json!({"path": path, "content": "x"}));
    let count = || call(&storage, "list_memories", json!({"category": "a"}))["count"].clone();
    let warnings = add("a/one")["warnings"].clone();
    let warning = "150 more files in `a` are not in its index: call `reindex_store`";
    assert_eq!((warnings, count()), (json!([warning]), json!(101)));
    add("a/two");
    assert_eq!(add("a/three")["warnings"], json!([]));
    let listed = call(&storage, "list_memories", json!({"category": "a", "limit": 1000}));
    assert_eq!(listed["count"], 253);
}

/// A move that stopped after its intent was written.
fn interrupted() -> InMemoryStorage {
    let storage = storage();
    put(&storage, "a/one.md", "One");
    put(&storage, "b/two.md", "Two");
    assert_eq!(call(&storage, "reindex_store", json!({}))["warnings"], json!([]));
    let before = storage.documents(&team(), Area::Documents);

    // The intent of a call is there between its two commits.
    let moved = call(&storage, "move_memory", json!({"from_path": "a/one", "to_path": "b/one"}));
    assert_eq!(moved["warnings"], json!([]));
    let after = storage.documents(&team(), Area::Documents);
    let intent = intent(&before, &after);
    let storage = self::storage();
    for (path, contents) in before {
        storage.put(&team(), Area::Documents, &path, contents);
    }
    storage.put(&team(), Area::Bookkeeping, "intent.json", intent.to_string());
    storage
}

type Documents = std::collections::BTreeMap<String, Vec<u8>>;

/// The intent of a move of `a/one` to `b/one`, written by hand.
fn intent(before: &Documents, after: &Documents) -> Value {
    use agent_memory_core::storage::version_of;
    let edit = |path: &str| {
        let text = String::from_utf8(after[path].clone()).expect("UTF-8");
        json!({"edit": {
            "path": path, "before": version_of(&before[path]), "after": version_of(&after[path]),
            "splices": [{"start": 0, "end": before[path].len(), "text": text}],
        }})
    };
    let rename =
        json!({"rename": {"from": "a/one.md", "to": "b/one.md", "version": version_of(b"One")}});
    json!({
        "tool": "move_memory",
        "steps": [rename, edit("a/index.yaml"), edit("b/index.yaml"), edit("index.yaml")],
    })
}

#[test]
fn an_interrupted_call_is_finished_by_the_next_writer() {
    let storage = interrupted();
    let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
    assert_eq!(added["warnings"], json!([]));
    assert_eq!(text(&storage, "b/one.md"), "One");
    let listed = call(&storage, "list_memories", json!({"recursive": true}));
    let paths = listed["memories"].as_array().expect("memories").iter().map(|of| &of["path"]);
    assert!(paths.eq(["b/one", "b/two", "c/three"]), "{listed}");
    assert!(storage.documents(&team(), Area::Bookkeeping).is_empty());
}

#[test]
fn an_interrupted_call_never_overwrites_what_has_changed_since() {
    for (path, contents) in [
        ("a/one.md", "Mine"),
        ("b/one.md", "Mine"),
        ("b/index.yaml", "memories: []\nsubcategories: []\n# mine\n"),
    ] {
        let storage = interrupted();
        put(&storage, path, contents);
        let before = storage.documents(&team(), Area::Documents);
        // This call changes a category that the interrupted one has nothing to do with.
        let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
        let warnings = added["warnings"].as_array().expect("warnings");
        let warning = warnings.first().and_then(Value::as_str).expect("a warning");
        assert!(warning.contains("`move_memory` was interrupted"), "{path}: {warning}");
        assert!(warning.contains(&format!("`{path}`")), "{path}: {warning}");
        for (path, contents) in before {
            if path != "index.yaml" {
                assert_eq!(text(&storage, &path).as_bytes(), contents, "{path}");
            }
        }
        let aside = storage.documents(&team(), Area::Bookkeeping);
        assert!(aside.keys().all(|path| path.starts_with("set-aside/")) && aside.len() == 1);
        let again = call(&storage, "add_memory", json!({"path": "c/four", "content": "Four"}));
        assert_eq!(again["warnings"], json!([]), "{path}");
    }
}

#[test]
fn a_record_of_an_interrupted_call_that_cannot_be_read_is_set_aside() {
    let storage = interrupted();
    storage.put(&team(), Area::Bookkeeping, "intent.json", "{");
    let added = call(&storage, "add_memory", json!({"path": "c/three", "content": "Three"}));
    assert_eq!(added["warnings"].as_array().map(Vec::len), Some(1), "{added}");
    assert_eq!(text(&storage, "a/one.md"), "One");
}
