//! Calls of `sessions` that name no repository, and the resources that calls change. They cannot be
//! conformance cases: a case grants exactly one repository.

use agent_memory_core::context::Context;
use agent_memory_core::storage::Place;
use agent_memory_core::toolbox::{self, Outcome, Reference};
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

fn storage(repositories: &[&str]) -> MemoryStorage {
    let storage = MemoryStorage::new();
    for path in repositories {
        storage.grant(Place::repository(*path));
    }
    storage
}

fn context() -> Context {
    let context = json!({
        "settings": {"toolsets": ["sessions"]}, "now": "2025-01-20T10:00:00.000Z",
        "seed": 1,
    });
    serde_json::from_value(context).expect("a context")
}

fn call(storage: &MemoryStorage, tool: &str, arguments: &Value) -> Outcome {
    storage.begin_call();
    toolbox::call_tool(storage, tool, &arguments.to_string(), &context()).expect("an outcome")
}

fn value(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.json()).expect("JSON")
}

#[test]
fn without_exactly_one_granted_repository_the_path_has_to_be_given() {
    let tools = [
        ("start_session", json!({"agent_name": "ada"})),
        ("append_entry", json!({"agent_name": "ada", "section": "Context", "content": "x"})),
        ("read_summary", json!({"agent_name": "ada"})),
        (
            "update_summary",
            json!({"agent_name": "ada", "section": "Overview", "content": "x", "mode": "append"}),
        ),
        ("list_sessions", json!({"agent_name": "ada"})),
        ("read_session", json!({"agent_name": "ada"})),
        ("validate", json!({})),
    ];
    for (granted, named) in [(&[][..], "absolute path"), (&["/a", "/b"], "`/a`, `/b`")] {
        let storage = storage(granted);
        let check = |outcome: Outcome| {
            let error = value(&outcome);
            assert_eq!(error["error"], "InvalidInput", "{error}");
            assert_eq!(error["details"][0]["pointer"], "/repo_root", "{error}");
            assert!(error["message"].as_str().expect("a text").contains(named), "{error}");
        };
        for (tool, arguments) in &tools {
            check(call(&storage, tool, arguments));
        }
        for uri in ["sessions://ada/summary", "sessions://ada/2025-01-20"] {
            check(toolbox::read_resource(&storage, uri, &context()).expect("an outcome"));
        }
        let template = Reference::ResourceTemplate("sessions://{agent}/summary");
        let completed = toolbox::complete(&storage, template, "agent", "", "{}", &context());
        check(completed.expect("an outcome"));
    }
}

#[test]
fn calls_report_the_logs_and_summaries_that_they_change() {
    let steps = [
        ("start_session", json!({}), &["sessions://ada/summary", "sessions://ada/2025-01-20"][..]),
        ("start_session", json!({}), &[]),
        ("start_session", json!({"date": "2025-01-19"}), &["sessions://ada/2025-01-19"]),
        (
            "append_entry",
            json!({"section": "Context", "content": "x"}),
            &["sessions://ada/2025-01-20"],
        ),
        ("append_entry", json!({"section": "None", "content": "x"}), &[]),
        (
            "update_summary",
            json!({"section": "Overview", "content": "x", "mode": "replace"}),
            &["sessions://ada/summary"],
        ),
        ("update_summary", json!({"section": "Overview", "content": "x", "mode": "replace"}), &[]),
        ("read_summary", json!({}), &[]),
        ("read_session", json!({}), &[]),
        ("list_sessions", json!({}), &[]),
    ];
    let one = storage(&["/a"]);
    let two = storage(&["/a", "/b"]);
    for (tool, mut arguments, changed) in steps {
        arguments["agent_name"] = json!("ada");
        arguments["repo_root"] = json!("/a");
        assert_eq!(call(&one, tool, &arguments).changed, changed, "{tool} {arguments}");
        // A URI names no repository. With two repositories, it would not say which one has changed,
        // so no URI is reported.
        assert!(call(&two, tool, &arguments).changed.is_empty(), "{tool} {arguments}");
    }
}
