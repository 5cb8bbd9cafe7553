//! The resources that calls of `records` report as changed.

use agent_memory_conformance::case::Format;
use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::Place;
use agent_memory_core::toolbox;
use serde_json::{Value, json};

/// Makes a sequence of calls, each with the id of the first call's memory, and returns the resources
/// that each reports as changed.
fn changed(format: Format, agent: &str, calls: &[(&str, Value)]) -> Vec<Vec<String>> {
    let storage = InMemoryStorage::new();
    storage.grant(Place::named("records"));
    let mut id = Value::Null;
    let mut all = Vec::new();
    for (seed, (tool, arguments)) in calls.iter().enumerate() {
        let mut arguments = arguments.clone();
        arguments["agent_id"] = json!(agent);
        if arguments.get("id").is_some() {
            arguments["id"] = id.clone();
        }
        let context = json!({
            "settings": {"toolsets": ["records"], "records": {"format": format.name()}},
            "now": "2025-01-20T10:00:00.000Z", "seed": seed,
        });
        storage.begin_call();
        let arguments = arguments.to_string();
        let context = context_of(&context);
        let outcome = toolbox::call_tool(&storage, tool, &arguments, &context).expect(tool);
        let result: Value = serde_json::from_str(outcome.json()).expect("JSON");
        assert!(outcome.answer.is_ok(), "{tool}: {result}");
        if seed == 0 {
            id = result["id"].clone();
        }
        all.push(outcome.changed);
    }
    all
}

#[test]
fn every_change_and_only_a_change_reports_the_resources_of_its_agent() {
    let calls = [
        ("add_core_memory", json!({"content": "x"})),
        ("store_memory", json!({"id": "", "type": "task", "content": "y"})),
        ("update_memory", json!({"id": "", "content": "z"})),
        ("recall_context", json!({})),
        ("delete_memory", json!({"id": ""})),
        ("store_memory", json!({"id": "", "type": "task", "content": "z"})),
        ("update_memory", json!({"id": "", "content": "z"})),
        ("delete_memory", json!({"id": ""})),
        ("recall_context", json!({})),
        ("query_memories", json!({})),
        ("get_memory_stats", json!({})),
        ("delete_memory", json!({"id": "", "permanent": true})),
    ];
    // The sixth and the following calls change nothing, except for the last.
    let changes = [0, 1, 2, 3, 4, calls.len() - 1];
    for format in Format::ALL {
        for (agent, uris) in [
            ("ada", &["memory://ada/recent", "memory://ada/stats"][..]),
            (
                "default",
                &[
                    "memory://default/recent",
                    "memory://default/stats",
                    "memory://recent",
                    "memory://stats",
                ],
            ),
        ] {
            for (index, changed) in changed(format, agent, &calls).iter().enumerate() {
                let expected = if changes.contains(&index) { uris } else { &[] };
                assert_eq!(changed, expected, "{format:?}, {agent}: call {index}");
            }
        }
    }
}
