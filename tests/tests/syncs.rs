//! Before an entry or a record is acknowledged, one file and one directory are synced, and no more.
//! For a memory of a store, at most three files and two directories are synced.

use std::path::{Path, PathBuf};
use std::process::Command;

use agent_memory_conformance::case::Documents;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::product::program;
use agent_memory_tests::scratch::Scratch;
use serde_json::{Value, json};

#[test]
fn an_append_syncs_one_file_and_one_directory() {
    let scratch = Scratch::within(Medium::Disk.directory().0, &Documents::new());
    let repo = scratch.places().repo;
    let log = json!({"agent_name": "aristotle", "repo_root": repo, "date": "2025-01-20"});
    let settings = ["--allow", &repo];
    call(&[], &settings, "start_session", &log);
    let mut entry = log;
    entry["section"] = json!("Context");
    entry["content"] = json!("an entry");
    let logs = scratch.repo().join(".github/agent-memory/aristotle/logs");
    assert_syncs_one_file_in(&logs, &scratch, &settings, "append_entry", &entry);
}

#[test]
fn a_record_syncs_one_file_and_one_directory_and_its_backup_nothing() {
    let scratch = Scratch::within(Medium::Disk.directory().0, &Documents::new());
    let memories = scratch.memory_dir();
    let directory = memories.to_str().expect("scratch paths are UTF-8");
    let settings = ["--toolset", "records", "--memory-dir", directory];
    let learning = json!({"content": "a learning"});
    call(&[], &settings, "add_recent_learning", &learning);
    assert_syncs_one_file_in(&memories, &scratch, &settings, "add_recent_learning", &learning);
    assert!(memories.join("default.json.backup").exists());
}

#[test]
fn a_stored_memory_syncs_at_most_three_files_and_two_directories() {
    let scratch = Scratch::within(Medium::Disk.directory().0, &Documents::new());
    let data = scratch.data_dir();
    let data = data.to_str().expect("scratch paths are UTF-8");
    let settings = ["--toolset", "stores", "--data-dir", data];
    let mut memory = json!({"store": "team", "path": "notes/first", "content": "the first"});
    call(&[], &settings, "add_memory", &memory);
    memory["path"] = json!("notes/second");
    let Some(trace) = syncs(&scratch, &settings, "add_memory", &memory) else { return };
    let store = scratch.stores_dir().join("team");
    let synced = |line: &str| PathBuf::from(line.split(['<', '>']).nth(1).unwrap_or_default());
    let paths: Vec<PathBuf> = trace.lines().map(synced).collect();
    assert!(paths.iter().all(|path| path.starts_with(&store)), "{trace}");
    let directories = paths.iter().filter(|path| path.is_dir()).count();
    assert!(directories <= 2 && paths.len() - directories <= 3, "{trace}");
    assert!(directories > 0 && paths.len() > directories, "{trace}");
}

/// Makes a call, and checks its syncs.
fn assert_syncs_one_file_in(
    directory: &Path,
    scratch: &Scratch,
    settings: &[&str],
    tool: &str,
    arguments: &Value,
) {
    let Some(trace) = syncs(scratch, settings, tool, arguments) else { return };
    let directory = directory.display();
    let of_file = |line: &&str| line.contains(&format!("<{directory}/"));
    let of_directory = |line: &&str| line.contains(&format!("<{directory}>"));
    assert_eq!(trace.lines().filter(of_file).count(), 1, "{trace}");
    assert_eq!(trace.lines().filter(of_directory).count(), 1, "{trace}");
    assert_eq!(trace.lines().count(), 2, "{trace}");
}

/// Makes a call, and returns a line for each of its syncs; none without `strace`.
fn syncs(scratch: &Scratch, settings: &[&str], tool: &str, arguments: &Value) -> Option<String> {
    if Command::new("strace").arg("--version").output().is_err() {
        println!("skipped: `strace` is not installed");
        return None;
    }
    let trace = scratch.elsewhere().join("trace");
    let strace = [
        "strace",
        "-f",
        "-y",
        "-e",
        "trace=fsync,fdatasync,sync,syncfs,sync_file_range",
        "-o",
        trace.to_str().expect("scratch paths are UTF-8"),
    ];
    call(&strace, settings, tool, arguments);

    let trace = std::fs::read_to_string(&trace).expect("strace has written");
    let syncs: Vec<&str> = trace.lines().filter(|line| line.contains("sync")).collect();
    Some(syncs.join("\n"))
}

fn call(before: &[&str], settings: &[&str], tool: &str, arguments: &Value) {
    let binary = program("agent-memory");
    let binary = binary.to_str().expect("build paths are UTF-8");
    let arguments = arguments.to_string();
    let words = [before, &[binary, "call"], settings, &[tool, &arguments]].concat();
    let output = Command::new(words[0]).args(&words[1..]).output().expect("a program that starts");
    assert!(output.status.success(), "{output:?}");
}
