//! The plugin beside other plugins and beside the other hosts, as programs use it.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use agent_memory_conformance::case::Documents;
use agent_memory_tests::product::program;
use agent_memory_tests::runners::plugin;
use agent_memory_tests::scratch::Scratch;
use serde_json::{Value, json};

const AGENT: &str = "aristotle";
const WRITERS: usize = 4;
const ENTRIES: usize = 50;

#[test]
fn nothing_is_lost_between_plugins_and_the_other_hosts_are_refused_beside_them() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let writers: Vec<_> =
        (0..WRITERS).map(|id| start(&repository, &format!("plugin{id}"), ENTRIES)).collect();
    let mut acknowledged = Vec::new();
    for writer in writers {
        let (ok, errors) = lines(writer.wait_with_output().expect("it ends"));
        assert_eq!(errors, Vec::<String>::new());
        acknowledged.extend(ok);
    }
    assert_eq!(acknowledged.len(), WRITERS * ENTRIES);
    let log = scratch.repo().join(format!(".github/agent-memory/{AGENT}/logs/2025-01-20.md"));
    let entries = || std::fs::read_to_string(&log).expect("the log is there");
    let missing: Vec<_> = acknowledged
        .iter()
        .filter(|entry| entries().lines().filter(|line| line == entry).count() != 1)
        .collect();
    assert_eq!(missing, Vec::<&String>::new());

    let before = entries();
    let refused = native_append(&repository);
    assert!(refused.contains("hand-over --to hosts"), "{refused}");
    assert_eq!(entries(), before);

    hand_over(&repository, "hosts");
    assert!(native_append(&repository).contains("\"section\":\"Context\""));
    let (ok, errors) = lines(start(&repository, "late", 1).wait_with_output().expect("it ends"));
    assert_eq!(ok, Vec::<String>::new());
    assert!(errors.iter().all(|error| error.contains("hand-over --to plugins")), "{errors:?}");

    hand_over(&repository, "plugins");
    let (ok, _) = lines(start(&repository, "again", 1).wait_with_output().expect("it ends"));
    assert_eq!(ok, ["again-0"]);
    let refused = native_append(&repository);
    assert!(refused.contains("hand-over --to hosts"), "{refused}");
}

#[test]
fn a_plugin_that_is_killed_leaves_a_lease_that_ends_by_itself() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let mut first = start(&repository, "first", 100_000);
    let log = repository.join(format!(".github/agent-memory/{AGENT}/logs/2025-01-20.md"));
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("first-20")) {
        assert!(first.try_wait().expect("it can be asked").is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    first.kill().expect("it can be killed");
    let (acknowledged, _) = lines(first.wait_with_output().expect("it ends"));
    let (ok, errors) = lines(start(&repository, "second", 1).wait_with_output().expect("it ends"));
    assert_eq!((ok, errors), (vec!["second-0".to_owned()], Vec::new()));
    let text = std::fs::read_to_string(&log).expect("the log is there");
    let lost: Vec<_> =
        acknowledged.iter().filter(|entry| !text.lines().any(|line| line == *entry)).collect();
    assert_eq!(lost, Vec::<&String>::new());
}

/// Starts a plugin that appends entries. It waits for a lease for as long as one may last.
fn start(repository: &Path, id: &str, entries: usize) -> Child {
    let mut command = plugin::program("race_writer_of_plugin.py").expect("it is built");
    command.arg(repository).args([AGENT, &entries.to_string(), id, "40000"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a writer starts")
}

/// The acknowledged entries and the errors in a writer's output.
fn lines(output: Output) -> (Vec<String>, Vec<String>) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (ok, errors): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("ok "));
    let entry = |line: &str| line.split(' ').nth(1).unwrap_or_default().to_owned();
    (ok.into_iter().map(entry).collect(), errors.into_iter().map(str::to_owned).collect())
}

/// The answer of the native host to an append.
fn native_append(repository: &Path) -> String {
    let arguments: Value = json!({
        "agent_name": AGENT, "repo_root": repository, "date": "2025-01-20",
        "section": "Context", "content": "by the native host",
    });
    let arguments = arguments.to_string();
    let output = native(&["call", "append_entry", &arguments, "--allow"], repository);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

fn hand_over(repository: &Path, to: &str) {
    let output = native(&["hand-over", "--to", to], repository);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn native(arguments: &[&str], repository: &Path) -> Output {
    Command::new(program("agent-memory")).args(arguments).arg(repository).output().expect("it runs")
}
