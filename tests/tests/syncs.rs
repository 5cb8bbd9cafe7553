//! What is acknowledged has reached the disk, at the least cost: one sync of a file and one of a
//! directory for an entry.

use std::process::Command;

use agent_memory_tests::case::Documents;
use agent_memory_tests::medium::Medium;
use agent_memory_tests::product::program;
use agent_memory_tests::scratch::Scratch;
use serde_json::json;

#[test]
fn an_append_syncs_one_file_and_one_directory() {
    if Command::new("strace").arg("--version").output().is_err() {
        println!("skipped: `strace` is not installed");
        return;
    }
    let scratch = Scratch::within(Medium::Disk.directory().0, &Documents::new());
    let repo = scratch.places().repo;
    let log = json!({"agent_name": "aristotle", "repo_root": repo, "date": "2025-01-20"});
    let started = call("start_session", &log.to_string(), &repo, &[]);
    assert!(started.status.success(), "{started:?}");

    let mut entry = log;
    entry["section"] = json!("Context");
    entry["content"] = json!("an entry");
    let trace = scratch.elsewhere().join("trace");
    let trace_to = trace.to_str().expect("scratch paths are UTF-8");
    let strace = [
        "strace",
        "-f",
        "-y",
        "-e",
        "trace=fsync,fdatasync,sync,syncfs,sync_file_range",
        "-o",
        trace_to,
    ];
    let appended = call("append_entry", &entry.to_string(), &repo, &strace);
    assert!(appended.status.success(), "{appended:?}");

    let trace = std::fs::read_to_string(&trace).expect("strace has written");
    let syncs: Vec<&str> = trace.lines().filter(|line| line.contains("sync")).collect();
    let logs = format!("{repo}/.github/agent-memory/aristotle/logs");
    let of_file = |line: &&&str| line.contains(&format!("<{logs}/"));
    let of_directory = |line: &&&str| line.contains(&format!("<{logs}>"));
    assert_eq!(syncs.iter().filter(of_file).count(), 1, "{trace}");
    assert_eq!(syncs.iter().filter(of_directory).count(), 1, "{trace}");
    assert_eq!(syncs.len(), 2, "{trace}");
}

fn call(tool: &str, arguments: &str, repo: &str, before: &[&str]) -> std::process::Output {
    let binary = program("agent-memory");
    let binary = binary.to_str().expect("build paths are UTF-8");
    let words = [before, &[binary, "call", "--allow", repo, tool, arguments]].concat();
    Command::new(words[0]).args(&words[1..]).output().expect("a program that starts")
}
