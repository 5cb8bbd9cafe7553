//! The core enforces which agents a caller may use.

use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

#[test]
fn a_caller_with_access_to_two_agents_has_none_to_a_third() {
    let storage = MemoryStorage::new();
    storage.grant(Place::repository("/project"));
    let call = |agent: &str, tool: &str| {
        let context = json!({
            "settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
            "utc_offset_minutes": 0, "seed": 1, "agents": ["ada", "bob"],
        });
        let arguments = json!({"agent_name": agent, "repo_root": "/project"});
        let context = serde_json::from_value(context).expect("a context");
        let outcome = toolbox::call_tool(&storage, tool, &arguments.to_string(), &context);
        serde_json::from_str::<Value>(outcome.expect("an outcome").json()).expect("JSON")
    };
    for tool in ["start_session", "read_summary"] {
        assert_eq!(call("ada", tool).get("error"), None, "{tool}");
        assert_eq!(call("bob", tool).get("error"), None, "{tool}");
        assert_eq!(call("eve", tool)["error"], "PermissionDenied", "{tool}");
    }
}

#[test]
fn a_caller_with_access_to_one_agent_has_none_to_memories_of_another() {
    let storage = MemoryStorage::new();
    storage.grant(Place::named("records"));
    let context = |agents: Value| {
        let context = json!({
            "settings": {"toolsets": ["records"]}, "now": "2025-01-20T10:00:00.000Z",
            "utc_offset_minutes": 0, "seed": 1, "agents": agents,
        });
        serde_json::from_value::<Context>(context).expect("a context")
    };
    let id = "00000000-0000-4000-8000-000000000000";
    let calls = [
        ("recall_context", json!({})),
        ("add_core_memory", json!({"content": "x"})),
        ("add_recent_learning", json!({"content": "x"})),
        ("add_recent_task", json!({"content": "x"})),
        ("store_memory", json!({"type": "core", "content": "x"})),
        ("query_memories", json!({})),
        ("update_memory", json!({"id": id, "content": "x"})),
        ("delete_memory", json!({"id": id})),
        ("get_memory_stats", json!({})),
    ];
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let tools = described["toolsets"][1]["tools"].as_array().expect("the tools of `records`");
    let of_models = tools.iter().filter(|tool| tool["audience"] == "model");
    assert!(of_models.map(|tool| &tool["name"]).eq(calls.iter().map(|(name, _)| name)));
    for (tool, mut arguments) in calls {
        arguments["agent_id"] = json!("eve");
        let outcome =
            toolbox::call_tool(&storage, tool, &arguments.to_string(), &context(json!(["ada"])));
        let answer: Value =
            serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON");
        assert_eq!(answer["error"]["code"], "PERMISSION_ERROR", "{tool}");
    }
    for uri in ["memory://eve/recent", "memory://eve/stats", "memory://recent", "memory://stats"] {
        let outcome = toolbox::read_resource(&storage, uri, &context(json!(["ada"])));
        assert!(outcome.expect("an outcome").answer.is_err(), "{uri}");
    }
    assert!(storage.documents(&Place::named("records"), Area::Documents).is_empty());
}
