//! The list of follow-ups over several toolsets.

use agent_memory_core::context::Context;
use agent_memory_core::storage::Place;
use agent_memory_core::toolbox;
use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value, json};

#[test]
fn a_toolset_that_cannot_be_read_does_not_hide_the_follow_ups_of_another() {
    let storage = InMemoryStorage::new();
    storage.grant(Place::named("records"));
    storage.grant(Place::named("layers"));
    let context = json!({
        "settings": {
            "toolsets": ["records", "layers", "memory"],
            "records": {"format": "sqlite"}, "layers": {"recent_capacity": 2},
        },
        "now": "2025-01-20T10:00:00.000Z", "seed": 1,
        "models": ["model"], "embedder": "embedder",
    });
    let context: Context = serde_json::from_value(context).expect("a context");
    let call = |tool: &str, arguments: Value| {
        storage.begin_call();
        let outcome = toolbox::call_tool(&storage, tool, &arguments.to_string(), &context);
        outcome.expect("an outcome").answer.expect("a result");
    };
    call("records_add_core_memory", json!({"agent_id": "ada", "content": "The port is 1."}));
    for memory in ["The port is 1.", "The port is 2.", "The port is 3."] {
        call("add_recent_memory", json!({"agent_id": "ada", "memory": memory}));
    }
    let pending = || {
        storage.begin_call();
        let outcome = toolbox::pending(&storage, &context).expect("an outcome");
        let ids: Vec<_> = outcome.follow_ups.into_iter().map(|of| of.id).collect();
        (outcome.answer.is_ok(), ids)
    };
    let [of_layers, of_records] = ["memory/30627978182545", "memory/44289301703576"];
    let listed = |ids: &[&str]| (true, ids.iter().copied().map(str::to_owned).collect());
    assert_eq!(pending(), listed(&["layers/1", of_layers, of_records]));
    // The database of records is now damaged.
    storage.run_sql(&["ALTER TABLE agents RENAME TO lost"]);
    assert_eq!(pending(), listed(&["layers/1", of_layers]));
}
