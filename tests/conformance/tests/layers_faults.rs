//! Recent memories and their summaries, where storage fails.

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::faults::{Every, FaultyStorage};
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::{ErrorCode, Place};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

#[test]
fn every_acknowledged_memory_is_recent_or_counted_by_the_compost_whatever_fails() {
    for code in [ErrorCode::Io, ErrorCode::NoSpace, ErrorCode::Busy] {
        for period in [2, 3, 5, 7, 8, 9, 11, 13, 17, 19, 23, 29, 31, 37] {
            let memory = InMemoryStorage::new();
            memory.grant(Place::named("layers"));
            let storage = FaultyStorage::new(memory, Every::new(period, code));
            let context = context_of(&json!({
                "settings": {"toolsets": ["layers"], "layers": {"recent_capacity": 3}},
                "now": "2025-01-20T10:00:00.000Z", "seed": 1,
            }));
            let mut acknowledged = 0;
            let mut uncertain = 0;
            for number in 0..40 {
                storage.memory().begin_call();
                let arguments = json!({"agent_id": "ada", "memory": format!("m{number}")});
                let outcome = toolbox::call_tool(
                    &storage,
                    "add_recent_memory",
                    &arguments.to_string(),
                    &context,
                );
                let answer: Value =
                    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON");
                let error = answer["error"]["message"].as_str();
                acknowledged += u64::from(error.is_none());
                uncertain += u64::from(error.is_some_and(|text| text.contains("may have been")));
            }
            let number = |sql: &str| {
                let rows = storage.memory().query_sql(sql).unwrap_or_default();
                rows.first().and_then(|row| row[0].as_u64()).unwrap_or_default()
            };
            let kept = number("SELECT count(*) FROM recent_memories")
                + number("SELECT sum(original_count) FROM memory_compost");
            assert!(
                (acknowledged..=acknowledged + uncertain).contains(&kept),
                "{code:?} at every {period}th operation: {kept} kept, {acknowledged} acknowledged"
            );
        }
    }
}
