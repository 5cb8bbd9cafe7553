//! `agent-memory search`: a search for people.

mod process;

use process::{Repository, agent_memory};
use serde_json::{Value, json};
use std::process::{Command, Output};

/// A program whose places are all in a scratch directory.
fn program(repository: &Repository) -> Command {
    let mut program = agent_memory(&repository.root());
    program.env("AGENT_MEMORY_DATA_DIR", repository.root().join("data"));
    program.env("AGENT_MEMORY_MEMORY_DIR", repository.root().join("records"));
    program.env("AGENT_MEMORY_FIXED_CLOCK", "2025-01-20T10:00:00Z");
    program.env("AGENT_MEMORY_LOG_LEVEL", "ERROR");
    program.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    program
}

fn call(repository: &Repository, toolset: &str, tool: &str, arguments: Value) {
    let output = program(repository).args([toolset, tool, &arguments.to_string()]).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// A repository with a record, a recent memory of Ada, and a memory in a store.
fn filled() -> Repository {
    let repository = Repository::new();
    let record = json!({
        "agent_id": "ada", "type": "learning",
        "content": "The parser tests\nare skipped on Windows.",
    });
    call(&repository, "records", "store_memory", record);
    let recent = json!({"agent_id": "ada", "memory": "Skips breakfast."});
    call(&repository, "layers", "add_recent_memory", recent);
    let stored = json!({"store": "team", "path": "notes/deploy", "content": "Skip no test."});
    call(&repository, "stores", "add_memory", stored);
    repository
}

fn search(repository: &Repository, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = program(repository).arg("search").args(arguments).output().expect("it runs");
    let Output { status, stdout, stderr } = output;
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_search_finds_inflected_words_in_every_toolset_and_shows_their_places() {
    let repository = filled();
    let (status, found, notes) =
        search(&repository, &["which", "tests", "did", "we", "skip", "--agent", "ada"]);
    assert_eq!(status, Some(0), "{found}{notes}");
    assert!(found.contains("\n    The parser tests\n    are skipped on Windows.\n"), "{found}");
    for part in [
        "records, agent ada, 2025-01-20 10:00 UTC, id ",
        "layers, agent ada, 2025-01-20 10:00 UTC, section recent, id 1\n    Skips breakfast.",
        "stores, store team, 2025-01-20 10:00 UTC, notes/deploy\n    Skip no test.",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert!(!found.contains('\u{1b}'), "{found:?}");
}

#[test]
fn words_of_the_query_are_bold_where_colours_are_on() {
    let repository = filled();
    let mut search = program(&repository);
    search.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1").env("TERM", "xterm");
    let output = search.args(["search", "skipping", "a", "parser"]).output().expect("it runs");
    let found = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(found.contains("The \u{1b}[1mparser\u{1b}[0m tests\n"), "{found:?}");
    assert!(found.contains("are \u{1b}[1mskipped\u{1b}[0m on"), "{found:?}");
}

#[test]
fn a_search_that_finds_nothing_says_so_and_fails() {
    let repository = filled();
    let (status, found, notes) = search(&repository, &["chess"]);
    assert_eq!((status, &*found), (Some(1), ""), "{notes}");
    assert!(notes.contains("try other words") && notes.contains("`ada` in layers"), "{notes}");
}

#[test]
fn without_any_place_a_search_finds_nothing_and_makes_nothing() {
    let repository = Repository::new();
    let (status, found, notes) = search(&repository, &["chess"]);
    assert_eq!((status, &*found, &*notes), (Some(1), "", "nothing is kept yet\n"));
    let files = std::fs::read_dir(repository.root()).expect("a directory");
    let names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    assert_eq!(names, [".git"]);
}

#[test]
fn options_narrow_a_search_and_json_is_the_result_of_the_tool() {
    let repository = filled();
    let json = |more: &[&str]| -> Vec<Value> {
        let (_, found, notes) = search(&repository, &[&["skip", "--json"], more].concat());
        let found: Value = serde_json::from_str(&found).unwrap_or_else(|_| panic!("{notes}"));
        found["hits"].as_array().expect("hits").clone()
    };
    let toolsets = |more: &[&str]| {
        let mut of: Vec<_> = json(more).into_iter().map(|hit| hit["toolset"].clone()).collect();
        of.sort_by_key(ToString::to_string);
        of
    };
    assert_eq!(toolsets(&[]), ["records", "stores"]);
    assert_eq!(toolsets(&["--toolsets", "stores"]), ["stores"]);
    assert_eq!(toolsets(&["--toolsets", "stores,layers", "--agent", "ada"]), ["layers", "stores"]);
    assert_eq!(json(&["--limit", "1"]).len(), 1);
    assert_eq!(json(&["--from", "2025-01-21", "--utc-offset", "+00:00"]).len(), 0);
    assert_eq!(json(&["--to", "2025-01-19", "--utc-offset", "+00:00"]).len(), 0);
    assert_eq!(json(&["--from", "2025-01-20", "--utc-offset", "+00:00"]).len(), 2);
}

#[test]
fn a_variable_that_leaves_the_tool_out_leaves_the_command() {
    let repository = filled();
    let mut command = program(&repository);
    command.args(["search", "skip"]).env("AGENT_MEMORY_NO_SEARCH", "1");
    assert_eq!(command.output().expect("it runs").status.code(), Some(0));
}

#[test]
fn wrong_options_are_named() {
    let repository = filled();
    for (arguments, part) in [
        (&["skip", "--toolsets", "dreams"][..], "`dreams`"),
        (&["skip", "--from", "soon"], "`from_date` `soon`"),
        (&["skip", "--limit", "0"], "limit"),
        (&["skip", "--agent", "../x"], "agent"),
        (&[], "QUERY"),
    ] {
        let (status, found, message) = search(&repository, arguments);
        assert_eq!((status, &*found), (Some(2), ""), "{arguments:?}: {message}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn a_switch_limits_a_search_to_the_words_of_the_query() {
    let repository = Repository::new();
    let record = json!({"agent_id": "ada", "type": "core", "content": "The physician is ill."});
    call(&repository, "records", "store_memory", record);
    let (status, found, _) = search(&repository, &["doctor"]);
    assert_eq!(status, Some(0), "{found}");
    assert!(found.contains(", found by meaning\n    The physician is ill."), "{found}");
    let mut by_words = program(&repository);
    by_words.env("AGENT_MEMORY_NO_THESAURUS", "true").args(["search", "doctor"]);
    let output = by_words.output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
