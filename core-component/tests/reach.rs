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
            "seed": 1, "agents": ["ada", "bob"],
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
            "seed": 1, "agents": agents,
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

#[test]
fn a_caller_of_one_agent_reaches_no_layers_of_another() {
    let storage = MemoryStorage::new();
    storage.grant(Place::named("layers"));
    let context = json!({
        "settings": {"toolsets": ["layers"]}, "now": "2025-01-20T10:00:00.000Z",
        "seed": 1, "agents": ["ada"],
    });
    let context: Context = serde_json::from_value(context).expect("a context");
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let tools = described["toolsets"][2]["tools"].as_array().expect("the tools of `layers`");
    assert!(tools.len() >= 11);
    for tool in tools {
        let required = tool["inputSchema"]["required"].as_array().expect("required fields").iter();
        let mut arguments: Value = required
            .map(|field| (field.as_str().expect("a name").to_owned(), json!("xxxx")))
            .collect::<serde_json::Map<_, _>>()
            .into();
        for (field, of) in tool["inputSchema"]["properties"].as_object().expect("properties") {
            if of["pattern"].as_str().is_some_and(|pattern| pattern.contains("A-Za-z0-9._-")) {
                arguments[field] = json!("eve");
            } else if of["type"] == "integer" && arguments.get(field).is_some() {
                arguments[field] = json!(1);
            }
        }
        let name = tool["name"].as_str().expect("a name");
        let outcome = toolbox::call_tool(&storage, name, &arguments.to_string(), &context);
        let answer: Value =
            serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON");
        assert_eq!(answer["error"]["code"], "PERMISSION_ERROR", "{name}: {answer}");
    }
    let outcome = toolbox::read_resource(&storage, "layers://eve/summary", &context);
    assert!(outcome.expect("an outcome").answer.is_err());
}

#[test]
fn a_name_that_two_mounted_toolsets_share_is_refused_with_both_qualified_names() {
    let storage = MemoryStorage::new();
    let call = |toolsets: Value, name: &str| {
        let context = json!({
            "settings": {"toolsets": toolsets}, "now": "2025-01-20T10:00:00.000Z",
            "seed": 1,
        });
        let context: Context = serde_json::from_value(context).expect("a context");
        toolbox::call_tool(&storage, name, "{}", &context)
    };
    let refused = call(json!(["all"]), "add_core_memory").expect_err("a failure");
    assert_eq!(
        refused.message,
        "several tools are called `add_core_memory`: call `records_add_core_memory` or \
         `layers_add_core_memory`"
    );
    for name in ["records_add_core_memory", "layers_add_core_memory"] {
        assert!(call(json!(["all"]), name).is_ok(), "{name}");
    }
    assert!(call(json!(["layers"]), "add_core_memory").is_ok());
    let unknown = call(json!(["all"]), "add_core_memories").expect_err("a failure");
    assert!(unknown.message.contains("`records_add_core_memory`"), "{}", unknown.message);
    assert!(!unknown.message.contains("`add_core_memory`"), "{}", unknown.message);
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let shared = described["toolsets"].as_array().expect("toolsets").iter().flat_map(|toolset| {
        let tools = toolset["tools"].as_array().expect("tools").iter();
        let tools = tools.filter(|tool| tool["shared_with"] != json!([]));
        tools.map(|tool| (tool["qualified_name"].clone(), tool["shared_with"].clone()))
    });
    assert_eq!(
        shared.collect::<Vec<_>>(),
        [
            (json!("records_add_core_memory"), json!(["layers"])),
            (json!("records_update_memory"), json!(["stores"])),
            (json!("layers_add_core_memory"), json!(["records"])),
            (json!("stores_update_memory"), json!(["records"])),
        ]
    );
}

/// A client lists a shared name with the prefix of its toolset if both toolsets are mounted. A
/// description is the same in either case, so it cannot give the listed name.
#[test]
fn no_description_names_a_tool_that_two_toolsets_share() {
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let toolsets = described["toolsets"].as_array().expect("toolsets").iter();
    let tools: Vec<&Value> =
        toolsets.flat_map(|toolset| toolset["tools"].as_array().expect("tools")).collect();
    let is_shared = |tool: &&&Value| tool["shared_with"] != json!([]);
    let shared: Vec<String> =
        tools.iter().filter(is_shared).map(|tool| format!("`{}`", text(&tool["name"]))).collect();
    assert!(!shared.is_empty());
    for tool in &tools {
        let schemas = tool["inputSchema"].to_string() + &tool["outputSchema"].to_string();
        let texts = text(&tool["description"]).to_owned() + &schemas;
        let named = shared.iter().find(|name| texts.contains(*name));
        assert_eq!(named, None, "in the description of {}", tool["qualified_name"]);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn a_caller_of_one_store_reaches_no_other() {
    let storage = MemoryStorage::new();
    storage.grant_family("stores");
    for name in ["team", "own"] {
        storage.grant(Place::in_group("stores", name));
    }
    let context = json!({
        "settings": {"toolsets": ["stores"]}, "now": "2025-01-20T10:00:00.000Z",
        "seed": 1, "stores": ["own"],
    });
    let context: Context = serde_json::from_value(context).expect("a context");
    let answer = |tool: &str, arguments: &Value| -> Value {
        let outcome = toolbox::call_tool(&storage, tool, &arguments.to_string(), &context);
        serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
    };
    let calls = [
        ("cortex_get_recent_memories", json!({})),
        ("list_memories", json!({})),
        ("get_memory", json!({"path": "a"})),
        ("add_memory", json!({"path": "a", "content": "x"})),
        ("update_memory", json!({"path": "a", "content": "x"})),
        ("move_memory", json!({"from_path": "a", "to_path": "b"})),
        ("remove_memory", json!({"path": "a"})),
        ("prune_memories", json!({})),
        ("reindex_store", json!({})),
    ];
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let tools = described["toolsets"][3]["tools"].as_array().expect("the tools of `stores`");
    let of_models = tools.iter().filter(|tool| tool["audience"] == "model");
    assert!(of_models.map(|tool| &tool["name"]).eq(calls.iter().map(|(name, _)| name)));
    for (tool, mut arguments) in calls {
        for store in ["team", "other"] {
            arguments["store"] = json!(store);
            assert_eq!(answer(tool, &arguments)["error"]["code"], "PERMISSION_ERROR", "{tool}");
        }
    }
    for uri in ["stores://team/", "stores://team/a"] {
        let outcome = toolbox::read_resource(&storage, uri, &context);
        assert!(outcome.expect("an outcome").answer.is_err(), "{uri}");
    }
    let missing = answer("get_memory", &json!({"store": "own", "path": "a"}));
    assert_eq!(missing["error"]["code"], "MEMORY_NOT_FOUND");
    assert!(storage.documents(&Place::in_group("stores", "team"), Area::Documents).is_empty());
}
