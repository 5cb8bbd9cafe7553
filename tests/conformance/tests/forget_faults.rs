//! `forget_memory` over all toolsets, where storage fails. It continues after an error and reports it.
//! So a sweep cannot test it, because a swept call has to end with its first error.

use std::cell::Cell;

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::faults::{Action, FaultyStorage, INJECTED, PendingOperation, Plan};
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::{Area, ErrorCode, Place, Storage};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

/// Lets one operation of a call fail.
struct Nth {
    left: Cell<usize>,
    code: ErrorCode,
}

impl Plan for Nth {
    fn decide(&self, operation: PendingOperation) -> Action {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        if left == 0 && operation.normal_error != Some(self.code) {
            Action::Fail(self.code, 0)
        } else {
            Action::Proceed
        }
    }
}

fn call(storage: &dyn Storage, tool: &str, arguments: &Value) -> Value {
    let context = context_of(&json!({
        "settings": {"toolsets": ["all"], "records": {"format": "sqlite"}},
        "now": "2025-01-20T10:00:00.000Z", "seed": 1,
    }));
    let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
    serde_json::from_str(outcome.expect("an outcome").json()).expect("JSON")
}

/// Storage in which every toolset has the text.
fn filled() -> InMemoryStorage {
    let memory = InMemoryStorage::new();
    let repository = Place::repository("/project");
    memory.put(&repository, Area::Documents, "ada/_summary.md", "## Keys\n\nhunter22\n");
    memory.put(&repository, Area::Documents, "ada/logs/2025-01-19.md", "hunter22\n");
    let records = Place::named("records");
    let file = r#"{"core_memories": [], "note": "hunter22"}"#;
    memory.put(&records, Area::Documents, "bob.json", file);
    memory.put(&records, Area::Documents, "bob.json.backup", file);
    memory.grant(Place::named("layers"));
    memory.grant_family("stores");
    memory.grant(Place::named("items"));
    memory.put(&Place::named("files"), Area::Documents, "notes.md", "hunter22\n");
    for (tool, arguments) in [
        ("records_add_core_memory", json!({"agent_id": "ada", "content": "hunter22"})),
        ("layers_add_core_memory", json!({"agent_id": "ada", "memory": "Use hunter22"})),
        ("add_recent_memory", json!({"agent_id": "ada", "memory": "Used hunter22"})),
        ("put_item", json!({"namespace": ["a"], "key": "k", "value": {"text": "hunter22"}})),
        ("add_memory", json!({"store": "team", "path": "a/page", "content": "hunter22"})),
    ] {
        memory.begin_call();
        let answer = call(&memory, tool, &arguments);
        assert_eq!(answer.get("error"), None, "{tool}: {answer}");
    }
    memory.begin_call();
    memory
}

#[test]
fn a_text_is_gone_or_told_whatever_fails_and_the_next_call_removes_the_rest() {
    let forget = json!({"text": "hunter22"});
    let look = json!({"text": "hunter22", "dry_run": true});
    for code in [ErrorCode::Io, ErrorCode::Permission, ErrorCode::Busy] {
        for nth in 0.. {
            let plan = Nth { left: Cell::new(nth), code };
            eprintln!("{code:?} {nth}");
            let storage = FaultyStorage::new(filled(), plan);
            eprintln!("filled");
            let at = format!("{code:?} at operation {nth}");
            let answer = call(&storage, "forget_memory", &forget);
            let is_reached = storage.plan().left.get() > nth;
            let is_told = answer.to_string().contains(INJECTED);
            storage.memory().begin_call();
            let rest = call(storage.memory(), "forget_memory", &look);
            let is_gone = rest["error"]["code"] == "NOT_FOUND";
            assert!(is_gone || is_told, "{at}: {answer}, and then {rest}");
            storage.memory().begin_call();
            let again = call(storage.memory(), "forget_memory", &forget);
            assert_eq!(again["error"]["code"] == "NOT_FOUND", is_gone, "{at}: {again}");
            assert_eq!(again.get("left"), None, "{at}: {again}");
            storage.memory().begin_call();
            let rest = call(storage.memory(), "forget_memory", &forget);
            assert_eq!(rest["error"]["code"], "NOT_FOUND", "{at}: {rest}");
            if !is_reached {
                assert!(is_gone && !is_told && nth > 50, "{at}");
                break;
            }
        }
    }
}
