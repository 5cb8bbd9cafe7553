//! The index of the memory files. Callers that may use different agents share it.

use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value, json};

fn call(storage: &InMemoryStorage, agents: Option<&[&str]>, tool: &str, arguments: &Value) {
    let context = json!({
        "settings": {"toolsets": ["files", "memory"]}, "now": "2026-01-01T10:00:00.000Z", "seed": 1,
        "agents": agents,
    });
    let context = serde_json::from_value(context).expect("a context");
    storage.begin_call();
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
    let outcome = outcome.expect("an outcome");
    assert!(!outcome.json().contains("\"code\""), "{}", outcome.json());
}

/// The collections of the index, each with the size of its postings. The number of postings would
/// not show that a file is gone, because files have words in common.
fn postings(storage: &InMemoryStorage) -> Vec<(String, i64)> {
    let sql = "SELECT collection, sum(length(parts)) FROM segments JOIN postings USING (segment) \
               GROUP BY collection ORDER BY collection";
    let rows = storage.query_derived_sql(&Place::named("files"), "search.db", sql);
    let read = |row: Vec<Value>| Some((row[0].as_str()?.to_owned(), row[1].as_i64()?));
    rows.expect(sql).into_iter().map(|row| read(row).expect("a collection")).collect()
}

#[test]
fn a_search_leaves_the_files_in_the_index_that_its_caller_does_not_reach() {
    let storage = InMemoryStorage::new();
    let place = Place::named("files");
    storage.grant(place.clone());
    for (agent, word) in [("ada", "kite"), ("bob", "heron"), ("eve", "stork")] {
        for number in 0..40 {
            let path = format!("{agent}/{number}.md");
            storage.put(&place, Area::Documents, &path, format!("{word} number{number}"));
        }
    }
    let callers: [Option<&[&str]>; 3] = [None, Some(&["ada"]), Some(&["ada", "bob"])];
    let mut before = Vec::new();
    for _ in 0..2 {
        for agents in callers {
            call(&storage, agents, "search_memory", &json!({"query": "kite"}));
        }
        let after = postings(&storage);
        let collections: Vec<&str> = after.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(collections, ["files", "files/ada", "files/bob"]);
        assert!(before.is_empty() || before == after, "{before:?} {after:?}");
        before = after;
    }
    let sql = "SELECT count(*) FROM segments WHERE length(gone) > 0";
    let gone = storage.query_derived_sql(&place, "search.db", sql);
    assert_eq!(gone.expect(sql), [[json!(0)]]);

    call(&storage, Some(&["ada"]), "delete_memory_file", &json!({"path": "/memories/7.md"}));
    let after = postings(&storage);
    assert!(after[0].1 < before[0].1 && after[1].1 < before[1].1, "{before:?} {after:?}");
    assert_eq!(after[2], before[2]);
}
