//! A writer of a race: appends entries to a session log and prints which were acknowledged. The Node
//! host has a program of the same name with the same arguments and output.
//!
//! `race-writer REPOSITORY AGENT COUNT ID LOCK-WAIT` prints `ok ID-N MILLISECONDS` or `error ...` for
//! each entry `ID-N`, N from 0 to COUNT - 1. LOCK-WAIT is in milliseconds.

use std::env;
use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use agent_memory_host::{AgentMemory, Outcome};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [repository, agent, count, id, lock_wait] = arguments.as_slice() else {
        panic!("usage: race-writer REPOSITORY AGENT COUNT ID LOCK-WAIT");
    };
    let count: u32 = count.parse().expect("COUNT is a number");
    let lock_wait = Duration::from_millis(lock_wait.parse().expect("LOCK-WAIT is a number"));
    let memory = AgentMemory::builder().allow(repository).lock_wait(lock_wait).build();
    let memory = memory.expect("the memory opens");
    let mut arguments = json!({"agent_name": agent, "repo_root": repository, "date": "2025-01-20"});
    let started = memory.call("start_session", &arguments.to_string()).await;
    if let Some(error) = error(started) {
        say(&error);
    }
    arguments["section"] = json!("Context");
    for n in 0..count {
        arguments["content"] = json!(format!("{id}-{n}"));
        let before = Instant::now();
        let outcome = memory.call("append_entry", &arguments.to_string()).await;
        let took = before.elapsed().as_millis();
        say(&error(outcome).unwrap_or_else(|| format!("ok {id}-{n} {took}")));
    }
}

fn error<E: std::fmt::Display>(outcome: Result<Outcome, E>) -> Option<String> {
    match outcome {
        Ok(outcome) if outcome.answer.is_err() => Some(format!("error {}", outcome.json())),
        Ok(_) => None,
        Err(error) => Some(format!("error {error}")),
    }
}

/// Prints a line and flushes it, so that a kill cannot lose it.
fn say(line: &str) {
    let mut out = stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("standard output is read");
}
