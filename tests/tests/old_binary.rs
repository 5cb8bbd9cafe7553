//! A binary of an earlier version and this one on the same files: no data is lost, and the old one
//! refuses to write to a database that the new one has migrated.

use agent_memory_conformance::case::{Documents, Format};
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::not_asked_for;
use agent_memory_tests::stored_records::tasks;
use serde_json::json;
use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::thread;

/// The variable with the path of the old binary.
const OLD: &str = "AGENT_MEMORY_OLD_BINARY";
const WRITERS: usize = 4;
const WRITES: usize = 100;

#[test]
fn an_old_binary_and_this_one_lose_no_memory_of_a_file() {
    let Some(old) = old() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let memories = directory.path().join("memories");
    let written = race(
        |launcher| Process::start_on_records_by(launcher, Host::Native, &memories, Format::Json),
        &old,
        |content| Call { tool: "add_recent_task", arguments: json!({"content": content}) },
    );
    let kept = tasks(&memories, Format::Json);
    assert_eq!(kept.len(), written.len());
    assert_eq!(kept.into_iter().map(|task| task.content).collect::<BTreeSet<_>>(), written);
}

#[test]
fn an_old_binary_and_this_one_lose_no_entry_of_a_log() {
    let Some(old) = old() else { return };
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let root = repository.to_str().expect("UTF-8");
    let session = json!({"agent_name": "aristotle", "repo_root": root, "date": "2025-01-20"});
    let start_session = Call { tool: "start_session", arguments: session.clone() };
    let mut first = Process::start(Host::Native, &repository);
    assert!(matches!(first.call(&start_session), Answer::Result(_)));
    let written = race(
        |launcher| Process::start_by(launcher, Host::Native, &repository),
        &old,
        |content| {
            let mut arguments = session.clone();
            arguments["section"] = json!("Context");
            arguments["content"] = json!(content);
            Call { tool: "append_entry", arguments }
        },
    );
    let documents = scratch.documents();
    let logs = documents.iter().filter(|(path, _)| path.contains("/logs/"));
    let logs: Vec<_> = logs.map(|(_, log)| String::from_utf8_lossy(log)).collect();
    let [log] = &logs[..] else { panic!("{} logs in {:?}", logs.len(), documents.keys()) };
    for content in written {
        assert_eq!(log.matches(&content).count(), 1, "{content}");
    }
}

#[test]
fn an_old_binary_refuses_a_database_that_this_one_has_migrated() {
    let Some(old) = old() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let memories = directory.path().join("memories");
    let start = |launcher: &[&str]| {
        Process::start_on_records_by(launcher, Host::Native, &memories, Format::Sqlite)
    };
    let add = |process: &mut Process, content: &str| {
        process.call(&Call { tool: "add_recent_task", arguments: json!({"content": content}) })
    };
    let (mut before, mut now) = (start(&launcher(&old)), start(&[]));
    assert!(matches!(add(&mut before, "first"), Answer::Result(_)));
    assert!(matches!(add(&mut now, "second"), Answer::Result(_)));
    // A process that opened the database before the migration, and a new one.
    for mut old in [before, start(&launcher(&old))] {
        match add(&mut old, "lost") {
            Answer::Error(error) => {
                let message = error["error"]["message"].as_str().expect("a message");
                assert!(message.contains("a later version of this program"), "{message}");
            }
            answer => panic!("{answer:?}"),
        }
    }
    assert!(matches!(add(&mut now, "third"), Answer::Result(_)));
    let kept = tasks(&memories, Format::Sqlite);
    let kept: Vec<_> = kept.iter().map(|task| task.content.as_str()).collect();
    assert_eq!(kept, ["first", "second", "third"]);
}

fn old() -> Option<String> {
    let old = env::var(OLD).ok();
    if old.is_none() {
        not_asked_for(&format!("{OLD}=<path>"));
    }
    old
}

/// A launcher that runs the old binary instead of this one, with the same arguments.
fn launcher(old: &str) -> [&str; 5] {
    assert!(Path::new(old).is_file(), "`{OLD}` names no file: {old}");
    ["sh", "-c", "old=$1; shift 2; exec \"$old\" \"$@\"", "sh", old]
}

/// Lets processes of both binaries write at once, and returns the acknowledged contents.
fn race(
    start: impl Fn(&[&str]) -> Process,
    old: &str,
    call: impl Fn(&str) -> Call + Sync,
) -> BTreeSet<String> {
    let launcher = launcher(old);
    let processes: Vec<_> =
        (0..WRITERS).map(|number| start(if number % 2 == 0 { &launcher } else { &[] })).collect();
    let call = &call;
    let write = |(number, mut process): (usize, Process)| {
        move || -> Vec<String> {
            let contents = (0..WRITES).map(|write| format!("{number}-{write:03}."));
            contents
                .inspect(|content| match process.call(&call(content)) {
                    Answer::Result(_) => {}
                    answer => panic!("{content}: {answer:?}"),
                })
                .collect()
        }
    };
    thread::scope(|scope| {
        let running: Vec<_> =
            processes.into_iter().enumerate().map(|process| scope.spawn(write(process))).collect();
        running.into_iter().flat_map(|writer| writer.join().expect("no call fails")).collect()
    })
}
