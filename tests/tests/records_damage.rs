//! An agent's file with damage at any byte. A call answers an error, or the contents of the undamaged
//! part. It never overwrites a record that it cannot read.

use std::collections::BTreeMap;

use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_tests::records_file::{BACKUP, FILE, FIRST, GOLDEN, SECOND};
use serde_json::{Value, json};

type Files = BTreeMap<String, Vec<u8>>;

fn call(file: &[u8], tool: &str, arguments: &Value) -> (Value, Files) {
    let storage = InMemoryStorage::new();
    storage.put(&Place::named("records"), Area::Documents, FILE, file);
    let context = json!({
        "settings": {"toolsets": ["records"]},
        "now": "2025-01-20T10:00:00.000Z", "seed": 1,
    });
    let arguments = arguments.to_string();
    let context = context_of(&context);
    let outcome = toolbox::call_tool(&storage, tool, &arguments, &context).expect(tool);
    let answer = serde_json::from_str(outcome.json()).expect("a result is JSON");
    (answer, storage.documents(&Place::named("records"), Area::Documents))
}

fn calls() -> [(&'static str, Value); 7] {
    [
        ("query_memories", json!({"archived": true, "search": "f"})),
        ("get_memory_stats", json!({})),
        ("recall_context", json!({"limit": 1})),
        ("add_core_memory", json!({"content": "new"})),
        ("store_memory", json!({"id": FIRST, "type": "task", "content": "moved"})),
        ("update_memory", json!({"id": FIRST, "tags": ["y"], "category": null})),
        ("delete_memory", json!({"id": SECOND, "permanent": true})),
    ]
}

/// Whether bytes are JSON by its grammar. It allows half of a surrogate pair, which `serde_json`
/// refuses, and bytes in a string that are not UTF-8.
fn is_json(file: &[u8]) -> bool {
    let parsed = serde_json::from_str::<Value>(&String::from_utf8_lossy(file));
    parsed.map_or_else(|error| error.to_string().contains("hex escape"), |_| true)
}

/// Makes every call on a damaged file and checks its answer.
fn judge(file: &[u8], what: &str) {
    for (tool, arguments) in calls() {
        let (answer, after) = call(file, tool, &arguments);
        let at = || format!("{what}: {tool} answers {answer}");
        if let Some(error) = answer.get("error") {
            let code = error["code"].as_str().expect("a code");
            assert!(matches!(code, "CORRUPTED_DATA" | "NOT_FOUND"), "{}", at());
            assert_eq!(after, Files::from([(FILE.into(), file.to_vec())]), "{}", at());
            continue;
        }
        assert!(is_json(file), "{}: the file is not JSON", at());
        assert!(is_json(&after[FILE]), "{}: no JSON is left", at());
        if after[FILE] != file && tool != "recall_context" {
            assert_eq!(after.get(BACKUP).map(Vec::as_slice), Some(file), "{}", at());
        }
        // If the file could be read before the change, it can be read after it.
        let read = |file: &[u8]| call(file, "query_memories", &json!({"archived": true})).0;
        let sound = read(file).get("error").is_none();
        assert!(!sound || read(&after[FILE]).get("error").is_none(), "{}", at());
    }
}

#[test]
fn the_golden_file_is_sound() {
    for (tool, arguments) in calls() {
        let (answer, _) = call(GOLDEN.as_bytes(), tool, &arguments);
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
    }
    judge(GOLDEN.as_bytes(), "as it is");
}

#[test]
fn every_truncated_file_gives_an_error_and_is_left_unchanged() {
    // Without its line end, the object is still complete.
    for length in 0..GOLDEN.len() - 1 {
        let file = &GOLDEN.as_bytes()[..length];
        judge(file, &format!("the first {length} bytes"));
        let (answer, _) = call(file, "query_memories", &json!({}));
        assert_eq!(answer["error"]["code"], "CORRUPTED_DATA", "{length} bytes: {answer}");
    }
}

#[test]
fn every_flipped_byte_gives_an_error_or_an_unaffected_call() {
    for at in 0..GOLDEN.len() {
        for bits in [1, 4, 32, 128] {
            let mut file = GOLDEN.as_bytes().to_vec();
            file[at] ^= bits;
            judge(&file, &format!("byte {at} with bits {bits:#x} flipped"));
        }
    }
}

#[test]
fn every_missing_or_doubled_byte_gives_an_error_or_an_unaffected_call() {
    for at in 0..GOLDEN.len() {
        let (before, after) = GOLDEN.as_bytes().split_at(at);
        judge(&[before, &after[1..]].concat(), &format!("without byte {at}"));
        judge(&[before, &after[..1], after].concat(), &format!("byte {at} doubled"));
    }
}
