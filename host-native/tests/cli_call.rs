//! `agent-memory call`: its output and its exit status.

mod process;

use process::{Repository, agent_memory};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Output, Stdio};

fn call(repository: &Repository, arguments: &[&str]) -> Output {
    let mut call = agent_memory(&repository.root());
    call.arg("call").args(arguments).stdin(Stdio::null());
    call.output().expect("it runs")
}

fn document(output: &Output) -> Value {
    let text = str::from_utf8(&output.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "one line for a program: {text}");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_result_is_printed_on_one_line_and_exits_with_0() {
    let repository = Repository::new();
    let arguments = repository.arguments(json!({})).to_string();
    let output = call(&repository, &["start_session", &arguments]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(document(&output)["created"], true);
}

#[test]
fn arguments_can_come_from_standard_input() {
    let repository = Repository::new();
    // Some editors put a byte order mark first.
    for mark in ["", "\u{feff}"] {
        let mut call = agent_memory(&repository.root());
        call.args(["call", "read_summary", "-"]);
        call.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut call = call.spawn().expect("it starts");
        let mut input = call.stdin.take().expect("its input");
        write!(input, "{mark}{}", repository.arguments(json!({}))).expect("it reads");
        drop(input);
        let output = call.wait_with_output().expect("it ends");
        assert_eq!(document(&output)["exists"], false);
    }
}

#[test]
fn an_error_of_the_tool_is_printed_instead_of_a_result_and_exits_with_1() {
    let repository = Repository::new();
    let output = call(&repository, &["start_session", "{}"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(document(&output)["error"], "InvalidInput");
}

#[test]
fn a_wrong_command_line_exits_with_2_and_prints_no_result() {
    let repository = Repository::new();
    let wrong: [&[&str]; 6] = [
        &["no_such_tool"],
        &["start_session", "{"],
        &["start_session", "[]"],
        &[],
        &["start_session", "{}", "--no-such-flag"],
        &["start_session", "{}", "--toolset", "no-such-toolset"],
    ];
    for arguments in wrong {
        let output = call(&repository, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_message_for_a_mistake_says_what_to_type_instead() {
    let repository = Repository::new();
    let cases: [(&[&str], &str); 7] = [
        (&["read_sumary"], "`read_summary`"),
        (&["add_core_memory"], "mount the toolset `records`"),
        (&["start_session", "{agent_name: a}"], "in single quotes"),
        (&["start_session", "[]"], "in single quotes"),
        (&["start_session", "{}", "--tolset", "all"], "--toolset"),
        (&["start_session", "{}", "--toolset", "sesions"], "`sessions`"),
        (&["start_session", "{}", "--allow", "/no/such"], "`/no/such`: there is no such directory"),
    ];
    for (arguments, hint) in cases {
        let output = call(&repository, arguments);
        let message = str::from_utf8(&output.stderr).expect("UTF-8");
        assert!(message.contains(hint), "{arguments:?}: {message}");
        assert_eq!(message.matches("cannot grant").count(), usize::from(hint.contains("/no/")));
    }
    let command = agent_memory(&repository.root()).arg("srve").output().expect("it runs");
    assert!(String::from_utf8_lossy(&command.stderr).contains("'serve'"), "{command:?}");
}

#[test]
fn storage_that_is_busy_exits_with_3() {
    let repository = Repository::new();
    let directory = repository.root().join(".git/agent-memory");
    std::fs::create_dir(&directory).expect("the lock's directory");
    let lock = rusqlite::Connection::open(directory.join("turn.sqlite")).expect("the lock");
    lock.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let arguments = repository.arguments(json!({})).to_string();
    let output = call(&repository, &["start_session", &arguments, "--lock-wait", "20ms"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(document(&output)["error"], "Busy");
}

#[test]
fn the_repository_around_the_working_directory_is_granted_and_no_other() {
    let repository = Repository::new();
    let other = Repository::new();
    let below = repository.root().join("src/deep");
    std::fs::create_dir_all(&below).expect("a directory");
    let run = |arguments: Value, project: Option<&Repository>| {
        let mut call = agent_memory(&below);
        if let Some(project) = project {
            call.env("CLAUDE_PROJECT_DIR", project.root());
        }
        let call = call.args(["call", "read_summary", &arguments.to_string()]);
        document(&call.output().expect("it runs"))
    };
    let own = run(repository.arguments(json!({})), None);
    assert_eq!(own["exists"], false);
    let refused = run(other.arguments(json!({})), None);
    assert_eq!(refused["error"], "RepositoryNotAllowed");
    let project = run(other.arguments(json!({})), Some(&other));
    assert_eq!(project["exists"], false);
}

#[test]
fn a_start_in_the_home_directory_does_not_grant_it() {
    let home = Repository::new();
    let mut call = agent_memory(&home.root());
    let arguments = home.arguments(json!({})).to_string();
    let call = call.env("HOME", home.root()).args(["call", "read_summary", &arguments]);
    let output = call.output().expect("it runs");
    assert_eq!(document(&output)["error"], "RepositoryNotAllowed");
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_reading_is_not_an_error() {
    let repository = Repository::new();
    let mut call = agent_memory(&repository.root());
    let arguments = repository.arguments(json!({})).to_string();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let call = call.args(["call", "read_summary", &arguments]).stdout(writer);
    let output = call.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
