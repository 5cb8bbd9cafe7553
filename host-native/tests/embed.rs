//! The example `embed`, run as a process of its own.

use process::Repository;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

mod process;

/// The example that cargo builds with the tests.
fn embed() -> PathBuf {
    let test = std::env::current_exe().expect("the running program has a path");
    let profile = test.ancestors().nth(2).expect("a test is in `deps`, below its profile");
    let example = profile.join("examples/embed").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        example.is_file(),
        "{} is not built: run `cargo build --release --package agent-memory-host --examples`",
        example.display()
    );
    example
}

/// The result that the example printed for a tool.
fn result(output: &str, tool: &str) -> Value {
    let (_, rest) = output.split_once(&format!("{tool}: ")).expect("the tool is named");
    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
    values.next().expect("a result follows").expect("it is JSON")
}

#[test]
fn the_example_starts_a_session_adds_an_entry_and_reads_the_summary() {
    let repository = Repository::new();
    let output = Command::new(embed()).arg(repository.root()).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    assert_eq!(errors, "");

    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let log = result(&printed, "start_session")["session_file"].clone();
    let log = log.as_str().expect("the log's path");
    assert_eq!(result(&printed, "append_entry")["session_file"], log, "{printed}");
    let summary = result(&printed, "read_summary");
    assert_eq!(summary["summary_file"], ".github/agent-memory/aristotle/_summary.md", "{printed}");

    let text = fs::read_to_string(repository.root().join(log)).expect("the log is there");
    assert!(text.contains("\n## Decisions\n\n- Embed the memory.\n"), "{text}");
}

#[test]
fn an_offset_of_a_day_is_refused() {
    let zones = agent_memory_host::AgentMemory::builder().time_zone("Mars/Olympus");
    let both = zones.clone().utc_offset(0).build();
    assert!(matches!(both, Err(agent_memory_host::BuildError::TwoZones)));
    assert!(matches!(zones.build(), Err(agent_memory_host::BuildError::TimeZone(_))));
    let built = |minutes| agent_memory_host::AgentMemory::builder().utc_offset(minutes).build();
    assert!(matches!(built(-1440), Err(agent_memory_host::BuildError::UtcOffset(-1440))));
    assert!(built(1439).is_ok());
}

#[test]
fn the_example_without_a_repository_says_what_it_needs() {
    let output = Command::new(embed()).output().expect("it runs");
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("give the top level of a repository"), "{errors}");
}

#[tokio::test]
async fn a_query_reads_a_database_and_changes_nothing() {
    use agent_memory_host::storage::{ErrorCode, Statement, Value};

    let directory = tempfile::tempdir().expect("a directory");
    let memory = agent_memory_host::AgentMemory::builder().toolsets(["layers"]);
    let memory = memory.data_dir(directory.path()).build().expect("the memory opens");
    let query = async |sql: &str| {
        let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
        memory.query("layers", "agent_memory.db", statement, 1).await
    };
    let code = |error: agent_memory_host::storage::Error| error.code;
    assert_eq!(query("SELECT 1").await.map_err(code), Err(ErrorCode::NotFound));
    for text in ["One.", "Two."] {
        let arguments = format!(r#"{{"agent_id": "ada", "memory": "{text}"}}"#);
        let outcome = memory.call("add_core_memory", &arguments).await.expect("an outcome");
        assert!(outcome.answer.is_ok(), "{outcome:?}");
    }
    let rows = query("SELECT memory FROM core_memories ORDER BY id").await.expect("rows");
    assert_eq!((rows.rows, rows.truncated), (vec![vec![Value::Text("One.".into())]], true));
    let refused = query("DELETE FROM core_memories").await;
    assert_eq!(refused.map_err(code), Err(ErrorCode::ReadOnly));
}
