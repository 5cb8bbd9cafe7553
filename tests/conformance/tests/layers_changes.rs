//! Which calls of `layers` tell subscribers that the resource of an agent has changed.

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::Place;
use agent_memory_core::toolbox;
use serde_json::json;

#[test]
fn every_change_of_layers_names_the_summary_of_its_agent_and_nothing_else_does() {
    let storage = InMemoryStorage::new();
    storage.grant(Place::named("layers"));
    let changed = |tool: &str, mut arguments: serde_json::Value| {
        arguments["agent_id"] = json!("ada");
        storage.begin_call();
        let context = context_of(&json!({
            "settings": {"toolsets": ["layers"], "layers": {"recent_capacity": 2}},
            "now": "2025-01-20T10:00:00.000Z", "seed": 1,
        }));
        let outcome = toolbox::call_tool(&storage, tool, &arguments.to_string(), &context);
        outcome.expect(tool).changed
    };
    let changes = [
        ("add_core_memory", json!({"memory": "x"}), true),
        ("add_core_memory", json!({"memory": "x"}), false),
        ("add_core_memory", json!({"memory": ""}), false),
        ("add_recent_memory", json!({"memory": "x"}), true),
        ("add_recent_memory", json!({"memory": "y"}), true),
        ("clear_recent_memories", json!({}), false),
        ("add_recent_memory", json!({"memory": "z"}), true),
        ("clear_recent_memories", json!({}), true),
        ("set_current_task", json!({"task": "x"}), true),
        ("set_current_task", json!({"task": "x"}), true),
        ("add_episodic_memory", json!({"memory": "x"}), true),
        ("delete_core_memory", json!({"memory_id": 2}), false),
        ("delete_core_memory", json!({"memory_id": 1}), true),
        ("get_memory_summary", json!({}), false),
        ("search_episodic_memories", json!({}), false),
    ];
    for (tool, arguments, is_change) in changes {
        let expected = if is_change { vec!["layers://ada/summary"] } else { Vec::new() };
        assert_eq!(changed(tool, arguments.clone()), expected, "{tool} {arguments}");
    }
}
