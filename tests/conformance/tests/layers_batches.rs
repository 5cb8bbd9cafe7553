//! Batches of recent memories that wait for a model, while another program changes the rows.

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::Place;
use agent_memory_core::toolbox::{self, Outcome};
use serde_json::json;

/// Adds a recent memory. Two fill the layer, and a model is there to summarise them.
fn add(storage: &InMemoryStorage, memory: &str) -> Outcome {
    storage.begin_call();
    let context = context_of(&json!({
        "settings": {"toolsets": ["layers"], "layers": {"recent_capacity": 2}},
        "now": "2025-01-20T10:00:00.000Z", "seed": 1,
        "models": ["scripted"],
    }));
    let arguments = json!({"agent_id": "ada", "memory": memory}).to_string();
    toolbox::call_tool(storage, "add_recent_memory", &arguments, &context).expect("an outcome")
}

#[test]
fn a_batch_whose_memories_another_program_deleted_makes_room_for_the_next() {
    let storage = InMemoryStorage::new();
    storage.grant(Place::named("layers"));
    add(&storage, "One.");
    assert_eq!(add(&storage, "Two.").follow_ups[0].id, "layers/1");
    storage.run_sql(&["DELETE FROM recent_memories".to_owned()]);
    assert!(add(&storage, "Three.").follow_ups.is_empty());
    let next = add(&storage, "Four.").follow_ups;
    assert_eq!(next.len(), 1, "{next:?}");
    assert_eq!(next[0].id, "layers/2");
    assert!(next[0].payload.contains(r#"["Three.","Four."]"#), "{next:?}");
}
