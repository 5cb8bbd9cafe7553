//! `resume_memory` over several repositories, and over many or long documents. A case of the
//! conformance suite can grant only one repository.

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

#[test]
fn the_last_20_logs_are_told_and_the_heading_says_so_if_there_are_older_ones() {
    let storage = MemoryStorage::new();
    let place = Place::repository("/a");
    storage.grant(place.clone());
    let put = |day: u32, text: &str| {
        let log = format!("# ada — 2025-01-{day:02}\n\n## Header\n\n## Open Questions\n\n{text}\n");
        storage.put(&place, Area::Documents, &format!("ada/logs/2025-01-{day:02}.md"), log);
    };
    let told = || {
        let answer = call(&storage, "sessions", "resume_memory", &json!({}));
        answer["text"].as_str().expect("a text").to_owned()
    };
    (1..=20).for_each(|day| put(day, &format!("- Question {day}?")));
    let heading = |days: &str, count: &str| {
        format!("## Open Questions of {days}: agent `ada` in sessions of `/a`{count}\n\n")
    };
    let all = told();
    assert!(all.contains(&heading("2025-01-01 to 2025-01-20", "")), "{all}");
    put(21, "- Question 21?");
    let last = told();
    let count = " (20 of 20 in the last 20 logs; `read_session` reads more)";
    assert!(last.contains(&heading("2025-01-02 to 2025-01-21", count)), "{last}");
    assert!(last.contains("- 2025-01-21: Question 21?\n- 2025-01-20: Question 20?\n"), "{last}");
    // This log alone is longer than the logs that a call reads, so the call reads no earlier log.
    put(22, &format!("{}\n\n- Question 22?", "text ".repeat(60_000)));
    let long = told();
    assert!(long.contains(" in the last log; `read_session` reads more)\n\n"), "{long}");
}

#[test]
fn logs_without_anything_to_go_on_with_hide_no_earlier_work() {
    let storage = MemoryStorage::new();
    let place = Place::repository("/a");
    storage.grant(place.clone());
    let put = |day: u32, text: &str| {
        let date = format!("2024-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
        let log = format!("# ada — {date}\n\n## Header\n\n## Next Actions\n\n{text}\n");
        storage.put(&place, Area::Documents, &format!("ada/logs/{date}.md"), log);
    };
    let resumed = || call(&storage, "sessions", "resume_memory", &json!({"agent": "ada"}));
    put(0, "- [ ] Old work");
    (1..100).for_each(|day| put(day, ""));
    let answer = resumed();
    assert!(answer["text"].as_str().is_some_and(|text| text.contains("Old work")), "{answer}");
    put(100, "");
    let warnings = resumed()["warnings"].take();
    let warning = "agent `ada` has nothing to go on with in the last 100 logs, and older ones were not \
                   read: `list_sessions` lists them";
    let warnings = warnings.as_array().expect("warnings");
    assert!(warnings.iter().any(|told| told == warning), "{warnings:?}");
}

/// Stores so many long documents that a call would take long to read them all.
#[test]
fn a_text_is_within_its_budget_whatever_is_stored() {
    let storage = MemoryStorage::new();
    let place = Place::repository("/a");
    storage.grant(place.clone());
    let items: String = (0..5_000).map(|at| format!("- décidé ``` {at}\n")).collect();
    let long = format!("## Decisions\n\n{items}\n");
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
            // A part has at most 200 items. They are short here, so the text does not fill a large
            // budget.
            assert!(characters > 2 * budget.min(1_500), "{arguments}: {characters}");
        }
    }
}
