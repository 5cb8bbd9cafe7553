//! Records over the library, in both formats.

use agent_memory_host::{AgentMemory, Builder, CallError, Caller, Outcome};
use rusqlite::Connection;
use serde_json::Value;
use std::path::Path;

/// A builder whose records are below this directory.
fn records(directory: &Path, format: &str) -> Builder {
    let builder = AgentMemory::builder().toolsets(["records"]);
    let directory = directory.join("memories").display().to_string();
    builder.setting("records", "directory", directory).setting("records", "format", format)
}

fn parsed(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.json()).expect("JSON")
}

#[tokio::test]
async fn a_record_is_stored_in_either_format_and_resources_show_it() {
    for (format, file) in [("json", "default.json"), ("sqlite", "memories.db")] {
        let directory = tempfile::tempdir().expect("a directory");
        let memory = records(directory.path(), format).build().expect("a memory");
        let uris: Vec<_> = memory.resources().iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["memory://recent", "memory://stats"]);
        let templates = memory.resource_templates().iter();
        let templates: Vec<_> = templates.map(|template| &*template.uri_template).collect();
        assert_eq!(templates, ["memory://{agent_id}/recent", "memory://{agent_id}/stats"]);

        let content = r#"{"content": "tabs, not spaces"}"#;
        let added = memory.call("add_core_memory", content).await.expect("an outcome");
        assert!(added.answer.is_ok(), "{}", added.json());
        assert!(added.changed.iter().any(|uri| uri == uris[0]), "{:?}", added.changed);
        assert!(directory.path().join("memories").join(file).exists(), "{file}");

        let read = memory.read_resource(uris[0], Caller::default()).await.expect("an outcome");
        assert!(read.answer.is_ok(), "{}", read.json());
        let contents = &parsed(&read)[0];
        assert_eq!(contents["uri"], uris[0]);
        assert!(contents["text"].as_str().is_some_and(|text| text.contains("tabs, not spaces")));
        let unknown = memory.read_resource("memory://a/b/c", Caller::default()).await;
        assert!(matches!(unknown, Err(CallError::NotFound(_))), "{unknown:?}");
    }
}

#[tokio::test]
async fn a_dropped_memory_leaves_its_database_complete_in_one_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let memory = records(directory.path(), "sqlite").build().expect("a memory");
    let adds: Vec<_> = (0..5)
        .map(|_| {
            let memory = memory.clone();
            tokio::spawn(async move { memory.call("add_core_memory", r#"{"content": "x"}"#).await })
        })
        .collect();
    for added in adds {
        let added = added.await.expect("it ends").expect("an outcome");
        assert!(added.answer.is_ok(), "{}", added.json());
    }
    let database = directory.path().join("memories/memories.db");
    assert!(database.with_extension("db-wal").exists(), "connections are kept");
    let clone = memory.clone();
    drop(memory);
    assert!(database.with_extension("db-wal").exists(), "a clone is the same memory");
    drop(clone);
    assert!(!database.with_extension("db-wal").exists());
    assert!(!database.with_extension("db-shm").exists());

    let elsewhere = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(elsewhere.path().join("memories")).expect("a directory");
    std::fs::copy(database, elsewhere.path().join("memories/memories.db")).expect("a copy");
    let copy = records(elsewhere.path(), "sqlite").build().expect("a memory");
    let found = copy.call("query_memories", "{}").await.expect("an outcome");
    assert_eq!(parsed(&found)["total"], 5, "{}", found.json());
}

#[tokio::test]
async fn a_damaged_database_is_reported_as_corrupted_data_and_left_unchanged() {
    let whole = tempfile::tempdir().expect("a directory");
    let memory = records(whole.path(), "sqlite").build().expect("a memory");
    let added = memory.call("add_core_memory", r#"{"content": "x"}"#).await.expect("an outcome");
    assert!(added.answer.is_ok(), "{}", added.json());
    drop(memory);
    let whole = std::fs::read(whole.path().join("memories/memories.db")).expect("it is there");
    let damaged = [
        (b"no database".repeat(1000), "is damaged: look at it with `agent-memory doctor`"),
        (whole[..whole.len() / 2].to_vec(), "is damaged: look at it with `agent-memory doctor`"),
    ];
    for (bytes, says) in damaged {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("memories/memories.db");
        std::fs::create_dir(directory.path().join("memories")).expect("a directory");
        std::fs::write(&file, &bytes).expect("a file");
        let memory = records(directory.path(), "sqlite").build().expect("a memory");
        for tool in ["query_memories", "recall_context"] {
            let error = parsed(&memory.call(tool, "{}").await.expect("an outcome"))["error"].take();
            assert_eq!(error["code"], "CORRUPTED_DATA", "{tool}: {error}");
            assert!(error["message"].as_str().is_some_and(|text| text.contains(says)), "{error}");
        }
        drop(memory);
        assert!(std::fs::read(file).expect("it is there") == bytes, "{says}");
    }
}

#[tokio::test]
async fn settings_limit_how_much_an_agent_may_store() {
    for format in ["json", "sqlite"] {
        for (name, most) in [("max_memories", 1), ("max_bytes", 900)] {
            let directory = tempfile::tempdir().expect("a directory");
            let memory = records(directory.path(), format)
                .setting("records", name, most)
                .build()
                .expect("a memory");
            let content = format!(r#"{{"content": "{}"}}"#, "x".repeat(400));
            let first = memory.call("add_core_memory", &content).await.expect("an outcome");
            assert!(first.answer.is_ok(), "{format}: {}", first.json());
            let second = memory.call("add_core_memory", &content).await.expect("an outcome");
            assert_eq!(parsed(&second)["error"]["code"], "LIMIT_EXCEEDED", "{}", second.json());
        }
    }
}

#[tokio::test]
async fn records_are_granted_if_they_are_mounted_or_given_a_directory() {
    let memory = AgentMemory::builder().build().expect("a memory");
    let of_records = |uri: &str| uri.starts_with("memory://");
    assert!(!memory.resources().iter().any(|resource| of_records(&resource.uri)));
    assert!(!memory.resource_templates().iter().any(|template| of_records(&template.uri_template)));
    let unknown = memory.call("query_memories", "{}").await;
    assert!(matches!(unknown, Err(CallError::NotFound(_))), "{unknown:?}");

    let directory = tempfile::tempdir().expect("a directory");
    let taken = directory.path().join("memories");
    std::fs::write(&taken, "").expect("a file");
    let memory = records(directory.path(), "json").build().expect("only its tools fail");
    let refused = memory.call("query_memories", "{}").await.expect("an outcome");
    let error = &parsed(&refused)["error"];
    assert_eq!(error["code"], "STORAGE_ERROR", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("move it away"), "{message}");
    assert!(message.contains(taken.to_str().expect("UTF-8")), "{message}");
    std::fs::remove_file(&taken).expect("the file");
    let found = memory.call("query_memories", "{}").await.expect("an outcome");
    assert!(found.answer.is_ok(), "{}", found.json());
}

#[tokio::test]
async fn another_programs_database_is_refused_and_left_unchanged() {
    let directory = tempfile::tempdir().expect("a directory");
    let memory = records(directory.path(), "sqlite").build().expect("a memory");
    std::fs::create_dir(directory.path().join("memories")).expect("a directory");
    let path = directory.path().join("memories/memories.db");
    let other = Connection::open(&path).expect("a database");
    other.execute_batch("CREATE TABLE notes (text)").expect("a table");
    let added = memory.call("add_core_memory", r#"{"content": "x"}"#).await.expect("an outcome");
    let error = &parsed(&added)["error"];
    assert_eq!(error["code"], "CORRUPTED_DATA", "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("another program")));
    let tables = "SELECT group_concat(name) FROM sqlite_schema";
    let tables: String = other.query_row(tables, [], |row| row.get(0)).expect("tables");
    assert_eq!(tables, "notes");
}

#[tokio::test]
async fn an_agent_in_a_file_stays_there_beside_an_empty_database() {
    let directory = tempfile::tempdir().expect("a directory");
    let memory = records(directory.path(), "json").build().expect("a memory");
    let added = memory.call("add_core_memory", r#"{"content": "x"}"#).await.expect("an outcome");
    assert!(added.answer.is_ok(), "{}", added.json());
    let path = directory.path().join("memories/memories.db");
    let empty = Connection::open(&path).expect("a database");
    empty.pragma_update(None, "journal_mode", "WAL").expect("a file");
    drop(empty);
    let back = memory.call("convert_records", r#"{"to": "json"}"#).await.expect("an outcome");
    assert_eq!(parsed(&back), serde_json::json!({"converted": false, "records": 1}));
}
