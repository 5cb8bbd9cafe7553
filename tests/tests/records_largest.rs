//! One call converts the longest file of records to a database, on the native host and on Node,
//! while memories of other agents are added.

use agent_memory_conformance::case::Format;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::product::program;
use agent_memory_tests::stored_records::tasks;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

/// The longest file that is read.
const LONGEST: usize = 16 << 20;
/// The number of memories in the file.
const MEMORIES: usize = 100_000;
const AGENT: &str = "default.json";

#[test]
fn the_longest_file_converts_while_other_agents_are_written() {
    let file = longest_file();
    for host in Host::all() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("memories");
        fs::create_dir(&path).expect("it is made");
        fs::write(path.join(AGENT), &file).expect("it is written");

        let mut writing = Process::start_on_records(*host, &path, Format::Json);
        let began = Instant::now();
        let converting = {
            let host = *host;
            let path = path.clone();
            thread::spawn(move || (convert(host, &path), began.elapsed()))
        };
        let mut added = 0;
        while !converting.is_finished() {
            assert!(began.elapsed() < TIMEOUT, "{host:?}: the conversion does not end");
            let task = json!({"agent_id": "other", "content": format!("task {added}")});
            called(&mut writing, "add_recent_task", task);
            added += 1;
        }
        let (result, took) = converting.join().expect("it converts");
        println!("{host:?}: {MEMORIES} memories in {took:.1?}, {added} adds of another agent");
        assert_eq!(result["converted"], true, "{result}");
        assert_eq!(result["records"], MEMORIES, "{host:?}");
        assert!(!path.join(AGENT).exists(), "{host:?}: the file is still there");
        assert_eq!(tasks(&path, Format::Sqlite).len(), MEMORIES, "{host:?}");
    }
}

/// Converts with the command, since the MCP server does not offer this tool.
fn convert(host: Host, directory: &Path) -> Value {
    if host == Host::Node {
        let mut process = Process::start_on_records(host, directory, Format::Sqlite);
        return called(&mut process, "convert_records", json!({"to": "sqlite"}));
    }
    let output = Command::new(program("agent-memory"))
        .args(["call", "--toolset=records", "convert_records", r#"{"to": "sqlite"}"#])
        .args(["--lock-wait=5m", "--memory-dir"])
        .arg(directory)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a result is JSON")
}

/// A file with the most memories and bytes that one may have.
fn longest_file() -> String {
    let mut file = String::from("{\"core_memories\":[],\"learnings\":[],\"tasks\":[");
    let each = (LONGEST - file.len()) / MEMORIES - 1;
    for number in 0..MEMORIES {
        let begin = format!(
            "{{\"id\":\"aaaaaaaa-0000-4000-8000-{number:012}\",\
             \"created_at\":\"2025-01-01T07:00:00\",\"content\":\"task {number} "
        );
        let room = each - begin.len() - "\"}".len();
        file.extend([
            if number == 0 { "" } else { "," },
            &begin,
            &"word ".repeat(room)[..room],
            "\"}",
        ]);
    }
    file.push_str("]}");
    assert!((LONGEST - MEMORIES..=LONGEST).contains(&file.len()), "{} bytes", file.len());
    file
}

fn called(process: &mut Process, tool: &'static str, arguments: Value) -> Value {
    match process.call(&Call { tool, arguments }) {
        Answer::Result(result) => result,
        answer => panic!("{tool}: {answer:?}"),
    }
}
