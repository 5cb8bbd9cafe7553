//! `resume_memory` over several repositories and stores. A case of the conformance suite grants exactly
//! one repository.

use agent_memory_core::context::Context;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_storage_memory::MemoryStorage;
use serde_json::{Value, json};

fn call(storage: &MemoryStorage, toolset: &str, tool: &str, arguments: &Value) -> Value {
    let context = json!({
        "settings": {"toolsets": [toolset, "memory"]}, "now": "2025-01-20T10:00:00.000Z", "seed": 1,
    });
    let context: Context = serde_json::from_value(context).expect("a context");
    storage.begin_call();
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
}

#[test]
fn every_granted_repository_is_told_and_one_that_cannot_be_opened_is_named() {
    let storage = MemoryStorage::new();
    for (root, agent) in [("/a", "ada"), ("/b", "bob")] {
        storage.grant(Place::repository(root));
        let arguments = json!({"repo_root": root, "agent_name": agent});
        call(&storage, "sessions", "start_session", &arguments);
        let mut entry = arguments.clone();
        entry["section"] = json!("Decisions");
        entry["content"] = json!(format!("- decided in {root}"));
        call(&storage, "sessions", "append_entry", &entry);
    }
    let headings = |arguments| -> Vec<String> {
        let answer = call(&storage, "sessions", "resume_memory", &arguments);
        let text = answer["text"].as_str().expect("a text");
        text.lines().filter(|line| line.starts_with("## ")).map(str::to_owned).collect()
    };
    let of = |root: &str, agent: &str| {
        format!("## Decisions of 2025-01-20: agent `{agent}` in sessions of `{root}`")
    };
    assert_eq!(headings(json!({})), [of("/a", "ada"), of("/b", "bob")]);
    assert_eq!(headings(json!({"agent": "bob"})), [of("/b", "bob")]);
    assert_eq!(headings(json!({"repo_root": "/a"})), [of("/a", "ada")]);
    let answer = call(&storage, "sessions", "resume_memory", &json!({"repo_root": "/c"}));
    let warnings = answer["warnings"].as_array().expect("warnings");
    assert!(warnings.len() == 1 && warnings[0].as_str().is_some_and(|of| of.contains("`/c`")));
}

/// Many long documents, which a call that reads all of them would take long for.
#[test]
fn a_text_is_within_its_budget_whatever_is_stored() {
    let storage = MemoryStorage::new();
    let place = Place::repository("/a");
    storage.grant(place.clone());
    let long = format!("## Decisions\n\n{}\n", "- décidé ``` ok\n".repeat(5_000));
    for at in 0..40 {
        let agent = format!("agent-{at:02}");
        let log = format!("# {agent} — 2025-01-18\n\n## Header\n\n{long}");
        storage.put(&place, Area::Documents, &format!("{agent}/logs/2025-01-18.md"), log);
        let summary = format!("# Agent Summary\n\n{long}");
        storage.put(&place, Area::Documents, &format!("{agent}/_summary.md"), summary);
    }
    for budget in [200, 250, 500, 1_500, 6_000, 20_000] {
        for arguments in [json!({"budget": budget}), json!({"budget": budget, "agent": "agent-07"})]
        {
            let answer = call(&storage, "sessions", "resume_memory", &arguments);
            let text = answer["text"].as_str().expect("a text");
            let characters = text.chars().count();
            assert!(characters <= 4 * budget, "{arguments}: {characters}");
            // A part has at most 200 items, which are short here.
            assert!(characters > 2 * budget.min(1_500), "{arguments}: {characters}");
        }
    }
}
