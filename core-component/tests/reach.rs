//! What a caller may reach is enforced by the core.

use agent_memory_core::storage::{Place, memory::MemoryStorage};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

#[test]
fn a_caller_that_may_reach_two_agents_reaches_no_third() {
    let storage = MemoryStorage::new();
    storage.grant(Place::repository("/project"));
    let call = |agent: &str, tool: &str| {
        let context = json!({
            "settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
            "utc_offset_minutes": 0, "seed": 1, "agents": ["ada", "bob"],
        });
        let arguments = json!({"agent_name": agent, "repo_root": "/project"});
        let outcome =
            toolbox::call_tool(&storage, tool, &arguments.to_string(), &context.to_string());
        serde_json::from_str::<Value>(&outcome.expect("an outcome").result).expect("JSON")
    };
    for tool in ["start_session", "read_summary"] {
        assert_eq!(call("ada", tool).get("error"), None, "{tool}");
        assert_eq!(call("bob", tool).get("error"), None, "{tool}");
        assert_eq!(call("eve", tool)["error"], "PermissionDenied", "{tool}");
    }
}
