//! The program for Windows, under Wine: the conformance suite over MCP, several processes at once, and
//! kills. `scripts/windows` builds the program and runs these tests.

use std::collections::BTreeMap;
use std::thread;

use agent_memory_conformance::case::{Case, Documents, load_all};
use agent_memory_conformance::core_runner::CoreSession;
use agent_memory_conformance::expectations::Expectations;
use agent_memory_conformance::report::{Report, Table, differences};
use agent_memory_tests::runners::mcp::McpSession;
use agent_memory_tests::runners::mcp_client::{Client, ProtocolVersion};
use agent_memory_tests::runners::{for_people, node, report};
use agent_memory_tests::scratch::Scratch;
use agent_memory_tests::skip::not_asked_for;
use agent_memory_tests::wine;
use serde_json::{Value, json};

/// The number of processes of the program that write at once, and of the entries of each. A process of
/// Node writes beside them.
const WRITERS: usize = 3;
const ENTRIES: usize = 25;
/// Of this many entries, a writer is killed during the first, and started again.
const KILLED_EVERY: usize = 8;

/// Runs the cases in as many parts at once as this machine has processors.
fn in_parts(cases: &[Case], run: impl Fn(&[Case]) -> Report + Sync) -> Report {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let share = cases.len().div_ceil(processors);
    let parts = thread::scope(|scope| {
        let run = &run;
        let running: Vec<_> =
            cases.chunks(share).map(|cases| scope.spawn(move || run(cases))).collect();
        let ended = running.into_iter().map(|part| part.join().expect("it ends"));
        ended.collect::<Vec<Report>>()
    });
    let cases = parts.into_iter().flat_map(|part| part.cases).collect();
    Report { runner: "windows".to_owned(), tools: Vec::new(), cases }
}

#[test]
fn every_case_holds_with_the_same_documents() {
    if !wine::is_asked_for() {
        return not_asked_for(wine::WINE);
    }
    let cases = load_all();
    let expected = Expectations::load("windows");
    let run = |cases: &_| report("windows", McpSession::start_in_wine, &expected, cases);
    assert_same_as_core(in_parts(&cases, run), &expected, &cases);
}

/// Asserts that the cases hold, and leave the documents that the core leaves.
fn assert_same_as_core(windows: Report, expected: &Expectations, cases: &[Case]) {
    let core =
        report("core", |case| Ok(CoreSession::start(case)), &Expectations::load("core"), cases);
    let for_people = for_people();
    let may_skip = |case: &Case| expected.skip(case, &for_people).is_some();
    let all = cases.iter().map(|case| (case.name.clone(), may_skip(case))).collect();
    let mut complaints = windows.complaints(&all, expected);
    let reports = [core, windows];
    complaints.extend(differences(&reports));
    println!("{}", Table(&reports));
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_case_holds_on_node_with_the_same_documents() {
    if !wine::is_asked_for() {
        return not_asked_for(wine::WINE);
    }
    if node::left_out(node::PROGRAM) {
        return;
    }
    let cases = load_all();
    let expected = Expectations::load(node::RUNNER);
    let run = |cases: &_| node::report_in_wine(cases).expect("it lists its tools");
    assert_same_as_core(in_parts(&cases, run), &expected, &cases);
}

#[test]
fn nothing_is_lost_between_processes_of_which_some_are_killed() {
    if !wine::is_asked_for() {
        return not_asked_for(wine::WINE);
    }
    let schema = b"# Agent Memory Schema v1\n\n## Context\n".to_vec();
    let schema = ("aristotle/_schema.md".to_owned(), schema);
    let scratch = Scratch::new(&Documents::from([schema]));
    call(&mut start(&scratch), "start_session", json!({}));
    let killed: usize = thread::scope(|scope| {
        let scratch = &scratch;
        let writers = (0..WRITERS).map(|writer| scope.spawn(move || write(scratch, writer)));
        let writers: Vec<_> = writers.collect();
        write_in_node(scratch, WRITERS);
        writers.into_iter().map(|writer| writer.join().expect("it writes to the end")).sum()
    });
    assert_eq!(killed, WRITERS * ENTRIES.div_ceil(KILLED_EVERY));
    let documents = scratch.documents();
    let (_, log) = documents.iter().find(|(path, _)| path.contains("/logs/")).expect("a log");
    let log = str::from_utf8(log).expect("UTF-8");
    let mut times = BTreeMap::<&str, usize>::new();
    for line in log.lines().filter(|line| line.starts_with("writer ")) {
        *times.entry(line).or_default() += 1;
    }
    for entry in (0..=WRITERS).flat_map(|writer| (0..ENTRIES).map(move |n| entry(writer, n))) {
        let times = times.remove(&*entry).unwrap_or_default();
        // A call that a kill has cut off is made again, and may have been carried out before.
        let is_possible = if is_cut_off(&entry) { 1..=2 } else { 1..=1 };
        assert!(is_possible.contains(&times), "`{entry}` is there {times} times:\n{log}");
    }
    assert!(times.is_empty(), "torn: {times:?}");
}

fn entry(writer: usize, number: usize) -> String {
    let cut_off = if number.is_multiple_of(KILLED_EVERY) { " cut off" } else { "" };
    format!("writer {writer} entry {number}{cut_off}")
}

fn is_cut_off(entry: &str) -> bool {
    entry.ends_with("cut off")
}

fn start(scratch: &Scratch) -> Client {
    let allow = format!("--allow={}{}", wine::DRIVE, scratch.repo().display());
    let command = wine::command();
    let version = ProtocolVersion::Stateless;
    let arguments = [allow, "--lock-wait=60s".to_owned()];
    Client::start_command(command, &arguments, &scratch.elsewhere(), version).expect("it starts")
}

/// Appends the entries of a writer, and returns how often it was killed.
fn write(scratch: &Scratch, writer: usize) -> usize {
    let mut client = start(scratch);
    let mut killed = 0;
    for number in 0..ENTRIES {
        let entry = entry(writer, number);
        let arguments = json!({"section": "Context", "content": entry});
        if is_cut_off(&entry) {
            client.kill_during("tools/call", parameters("append_entry", &arguments)).expect("sent");
            killed += 1;
            client = start(scratch);
        }
        call(&mut client, "append_entry", arguments);
    }
    killed
}

/// Appends the entries of a writer in Node, which is not killed.
fn write_in_node(scratch: &Scratch, writer: usize) {
    let mut program = node::start_in_wine().expect("host-node is built");
    let repo = scratch.shown(&scratch.repo());
    let open = json!({"open": {"allow": [repo], "lockWait": 60_000, "workers": 1}});
    assert_eq!(program.ask(&open).expect("an answer"), json!({}));
    for number in 0..ENTRIES {
        let content = entry(writer, number);
        let arguments =
            json!({"agent_name": "aristotle", "section": "Context", "content": content});
        let answer = program.ask(&json!({"call": "append_entry", "arguments": arguments}));
        let answer = answer.expect("an answer");
        assert!(answer.get("result").is_some(), "{answer}");
    }
}

fn parameters(tool: &str, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["agent_name"] = "aristotle".into();
    json!({"name": tool, "arguments": arguments})
}

fn call(client: &mut Client, tool: &str, arguments: Value) {
    let answer = client.ask("tools/call", parameters(tool, &arguments)).expect("an answer");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}
