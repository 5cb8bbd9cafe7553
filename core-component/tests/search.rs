//! The mark of a weak answer to a question for days. A case of the conformance suite cannot say that an
//! answer has no note.

use agent_memory_core::context::Context;
use agent_memory_core::storage::Place;
use agent_memory_core::toolbox;
use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value, json};

fn call(storage: &InMemoryStorage, day: &str, tool: &str, arguments: &Value) -> Value {
    let context = json!({
        "settings": {"toolsets": ["records", "memory"]}, "now": format!("{day}T10:00:00.000Z"), "seed": 1,
    });
    let context: Context = serde_json::from_value(context).expect("a context");
    storage.begin_call();
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
}

/// Six memories of a day, three of them about Maria, and the note of the answer to a question.
fn note(day: &str, question: &str) -> Option<String> {
    let storage = InMemoryStorage::new();
    storage.grant(Place::named("records"));
    for text in ["a puppy", "a boat", "two sisters"] {
        for name in ["Maria", "Peter"] {
            let content = format!("{name} has {text}.");
            let added = call(&storage, day, "add_core_memory", &json!({"content": content}));
            assert!(added.get("error").is_none(), "{added}");
        }
    }
    let answer = call(&storage, "2025-02-20", "search_memory", &json!({"query": question}));
    let hits = answer["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert!(!hits.is_empty(), "{answer}");
    answer["note"].as_str().map(str::to_owned)
}

#[test]
fn an_entry_of_an_asked_day_need_not_name_the_day() {
    let weak = "no hit has most of the query";
    let is_weak =
        |day: &str, question: &str| note(day, question).is_some_and(|note| note.contains(weak));
    let question = "What about Maria in January 2025?";
    assert!(!is_weak("2025-01-10", question));
    assert!(is_weak("2025-02-10", question), "its entries are of another month");
    assert!(!is_weak("2025-01-10", "What about Maria?"));
}
