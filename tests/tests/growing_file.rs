//! A file that grows after a host has asked for its length and before it reads it: the call answers
//! for the file as it is by then.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use agent_memory_conformance::case::Documents;
use agent_memory_conformance::runner::Answer;
use agent_memory_tests::PATIENCE;
use agent_memory_tests::process::{Call, Host, Process};
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::skip;
use agent_memory_tests::syscalls;
use agent_memory_tests::traced::{launcher, wait_for};
use serde_json::json;

/// The longest document that is read.
const LONGEST: usize = 16 << 20;
const SUMMARY: &str = "aristotle/_summary.md";
const TEXT: &str = "# Agent Summary\n\n## Overview\n\nshort\n";

#[test]
fn a_file_that_grows_while_it_is_read_is_read_as_it_is_by_then() {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    for host in Host::all() {
        let grown = format!("{TEXT}{}", "more\n".repeat(100_000));
        let Answer::Result(result) = read_while_it_becomes(*host, &grown) else {
            panic!("{host:?}: a file that may be so long is refused");
        };
        assert!(result["summary"] == *grown, "{host:?}: another text");
    }
}

#[test]
fn a_file_that_grows_beyond_the_bound_while_it_is_read_is_refused() {
    if let Err(why) = syscalls::available() {
        return skip(&why);
    }
    for host in Host::all() {
        let grown = format!("{TEXT}{}", "x".repeat(LONGEST));
        let answer = read_while_it_becomes(*host, &grown);
        let Answer::Error(error) = answer else {
            panic!("{host:?}: {} bytes are read", grown.len())
        };
        assert_eq!(error["error"], "StorageError", "{host:?}: {error}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("longer than 16777216 bytes"), "{host:?}: {message}");
    }
}

/// Stops a host when it knows the length of the summary, and lets it go on with a longer one.
fn read_while_it_becomes(host: Host, grown: &str) -> Answer {
    let scratch = Scratch::new(&Documents::from([
        ("aristotle/_schema.md".into(), source("schema-v1.md")),
        (SUMMARY.into(), TEXT.into()),
    ]));
    let summary = scratch.repo().join(".github/agent-memory").join(SUMMARY);
    let trace = scratch.elsewhere().join("trace");
    let path = summary.to_str().expect("scratch paths are UTF-8");
    let calls = "fstat,newfstatat,statx";
    let (traced, stops) = (format!("trace={calls}"), format!("inject={calls}:signal=SIGSTOP"));
    let launcher = launcher(&trace, &["-P", path, "-e", &traced, "-e", &stops]);
    let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
    let mut process = Process::start_by(&launcher, host, &scratch.repo());
    let arguments = json!({"agent_name": "aristotle", "repo_root": scratch.repo()});
    process.send(0, &Call { tool: "read_summary", arguments });

    let mut stops = 0;
    loop {
        stops += 1;
        let stopped = Stopped::wait(&trace, stops);
        // By its name it may be looked at before it is open.
        if stopped.has_descriptor {
            fs::write(&summary, grown).expect("the file can be written");
            break;
        }
    }
    let answer = process.answer(Instant::now() + PATIENCE);
    answer.unwrap_or_else(|| panic!("{host:?} hangs")).1
}

/// A process that is stopped, and goes on when this is dropped.
struct Stopped {
    process: String,
    /// Whether it was stopped after it asked for the length of a file that it had open.
    has_descriptor: bool,
}

impl Stopped {
    /// Waits until a process has stopped for the n-th time.
    fn wait(trace: &Path, nth: usize) -> Self {
        wait_for(trace, "nobody asks for the length", |text| {
            let lines: Vec<&str> = text.lines().collect();
            let is_signal = |line: &str| line.contains("--- SIGSTOP ");
            let signals = (0..lines.len()).filter(|index| is_signal(lines[*index]));
            let at = signals.skip(nth - 1).find(|index| *index > 0)?;
            let (process, _) = lines[at].split_once(' ')?;
            let stopped = format!("{process} --- stopped by SIGSTOP ---");
            lines[at..].contains(&stopped.as_str()).then(|| Self {
                process: process.to_owned(),
                has_descriptor: lines[at - 1].split_once('(').is_some_and(|(_, arguments)| {
                    arguments.starts_with(|first: char| first.is_ascii_digit())
                }),
            })
        })
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let status = Command::new("kill").args(["-CONT", &self.process]).status();
        assert!(status.expect("`kill` runs").success(), "it goes on");
    }
}

fn source(document: &str) -> Vec<u8> {
    agent_memory_conformance::workspace::source(&format!("tests/conformance/documents/{document}"))
        .into()
}
