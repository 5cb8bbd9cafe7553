//! `forget_memory` over several repositories. A case of the conformance suite can grant only one.

use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

const SUMMARY: &str = "ada/_summary.md";

fn call(storage: &MemoryStorage, arguments: &Value) -> Value {
    let context = json!({
        "settings": {"toolsets": ["sessions", "memory"]}, "now": "2025-01-20T10:00:00.000Z",
        "seed": 1,
    });
    let context: Context = serde_json::from_value(context).expect("a context");
    storage.begin_call();
    let outcome = toolbox::call_tool(storage, "forget_memory", &arguments.to_string(), &context);
    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
}

fn storage() -> MemoryStorage {
    let storage = MemoryStorage::new();
    for root in ["/a", "/b", "/c"] {
        storage.put(&Place::repository(root), Area::Documents, SUMMARY, "## Keys\n\nhunter22\n");
    }
    storage
}

fn summary(storage: &MemoryStorage, root: &str) -> String {
    let mut documents = storage.documents(&Place::repository(root), Area::Documents);
    String::from_utf8(documents.remove(SUMMARY).expect("the summary")).expect("a text")
}

fn roots(answer: &Value) -> Vec<&str> {
    let found = answer["found"].as_array().expect("a list").iter();
    found.map(|one| one["repo_root"].as_str().expect("a path")).collect()
}

#[test]
fn one_call_changes_all_repositories_or_the_named_one() {
    let storage = storage();
    let answer = call(&storage, &json!({"text": "hunter22", "repo_root": "/b"}));
    assert_eq!(roots(&answer), ["/b"]);
    assert_eq!(summary(&storage, "/a"), "## Keys\n\nhunter22\n");
    let answer = call(&storage, &json!({"text": "hunter22"}));
    assert_eq!(roots(&answer), ["/a", "/c"]);
    for root in ["/a", "/b", "/c"] {
        assert_eq!(summary(&storage, root), "## Keys\n\n(removed)\n");
    }
}

#[test]
fn a_path_in_one_of_several_repositories_needs_its_repository() {
    let storage = storage();
    let path = ".github/agent-memory/ada/_summary.md";
    let answer = call(&storage, &json!({"path": path}));
    let left = answer["left"][0].as_str().expect("a text");
    assert!(left.contains("pass `repo_root`"), "{left}");
    let answer = call(&storage, &json!({"path": path, "repo_root": "/b"}));
    assert_eq!(roots(&answer), ["/b"]);
    assert_eq!(summary(&storage, "/a"), "## Keys\n\nhunter22\n");
}

#[test]
fn more_than_one_call_looks_through_is_told() {
    let storage = MemoryStorage::new();
    for number in 0..10 {
        let text = format!("{}\nhunter22\n", "x".repeat(15 << 20));
        storage.put(&Place::repository(format!("/{number}")), Area::Documents, SUMMARY, text);
    }
    let answer = call(&storage, &json!({"text": "hunter22", "dry_run": true}));
    assert_eq!(roots(&answer).len(), 8, "8 times 15 MiB are looked through");
    let left = answer["left"].as_array().expect("a list");
    assert!(left.iter().all(|left| left.as_str().is_some_and(|left| left.contains("`repo_root`"))));
    assert_eq!(left.len(), 2);
}
