//! `agent-memory resume` and `agent-memory hook`: the text with which work goes on, for people and for
//! clients.

mod process;

use process::{Repository, agent_memory};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A program whose places are all in a scratch directory.
fn program(repository: &Repository) -> Command {
    let mut program = agent_memory(&repository.root());
    program.env("AGENT_MEMORY_DATA_DIR", repository.root().join("data"));
    program.env("AGENT_MEMORY_MEMORY_DIR", repository.root().join("records"));
    program.env("AGENT_MEMORY_FIXED_CLOCK", "2025-01-20T10:00:00Z");
    program.env("AGENT_MEMORY_LOG_LEVEL", "ERROR");
    program
}

/// A repository in which Ada decided something and remembers a preference.
fn filled() -> Repository {
    let repository = Repository::new();
    let call = |toolset: &str, tool: &str, arguments: Value| {
        let output = program(&repository).args([toolset, tool, &arguments.to_string()]).output();
        assert_eq!(output.expect("it runs").status.code(), Some(0), "{tool}");
    };
    call("sessions", "start_session", json!({ "agent_name": "ada" }));
    let decision = json!({
        "agent_name": "ada", "section": "Decisions", "content": "Keep the cache in SQLite.",
    });
    call("sessions", "append_entry", decision);
    let preference = json!({ "agent_id": "ada", "content": "Prefers tabs.", "type": "core" });
    call("records", "store_memory", preference);
    repository
}

fn hook(repository: &Repository, arguments: &[&str], event: &str) -> Output {
    // A client may start its hooks in another directory than the session's.
    hook_in(&std::env::temp_dir(), repository, arguments, event)
}

fn hook_in(directory: &Path, repository: &Repository, arguments: &[&str], event: &str) -> Output {
    let mut command = program(repository);
    command.current_dir(directory).arg("hook").args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = command.spawn().expect("it starts");
    // The input stays open until the answer is there, as some clients keep it.
    let mut input = hook.stdin.take().expect("an input");
    // Writing fails if the command line is refused: then the program ends before it reads.
    let _ = input.write_all(event.as_bytes());
    let output = hook.wait_with_output().expect("it ends");
    drop(input);
    output
}

#[test]
fn a_session_starts_with_what_was_decided() {
    let repository = filled();
    let event = json!({ "cwd": repository.root(), "source": "startup", "session_id": "1" });
    let of_cursor = json!({ "workspace_roots": [repository.root()] }).to_string();
    for (client, event, form) in [
        ("claude-code", event.to_string(), "/hookSpecificOutput/additionalContext"),
        ("codex", event.to_string(), "/hookSpecificOutput/additionalContext"),
        ("gemini", event.to_string(), "/hookSpecificOutput/additionalContext"),
        ("cursor", of_cursor, "/additional_context"),
    ] {
        let arguments = [client, "session-start", "--toolset=sessions,records"];
        let output = hook(&repository, &arguments, &event);
        assert_eq!(output.status.code(), Some(0), "{client}: {output:?}");
        let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = printed.pointer(form).and_then(Value::as_str).expect(client);
        assert!(text.contains("Keep the cache in SQLite."), "{client}: {text}");
        assert!(text.contains("Prefers tabs."), "{client}: {text}");
    }
}

#[test]
fn no_session_fails_for_its_memory() {
    let repository = filled();
    let event = json!({ "cwd": repository.root() }).to_string();
    let output = hook(&repository, &["codex", "session-start", "--agent", "../x"], &event);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/agent"), "{output:?}");
    // For an invalid event or a missing directory, the hook tells the memory without a repository.
    for event in ["{\"cwd\": 1}\n", "no JSON\n", "{\"cwd\": \"/no such directory\"}"] {
        let arguments = ["claude-code", "session-start", "--toolset=all"];
        let output = hook(&repository, &arguments, event);
        assert_eq!(output.status.code(), Some(0), "{event}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("Prefers tabs.") && !text.contains("SQLite"), "{event}: {text}");
    }
    assert_eq!(hook(&repository, &["vi", "session-start"], "{}").status.code(), Some(2));
}

#[test]
fn a_text_is_no_longer_than_a_client_takes() {
    let repository = filled();
    for _ in 0..8 {
        let long = "Kites are red. ".repeat(100);
        let memory = json!({ "agent_id": "ada", "content": long, "type": "core" });
        let arguments = ["records", "store_memory", &memory.to_string()];
        let stored = program(&repository).args(arguments).output().expect("it runs");
        assert!(stored.status.success(), "{stored:?}");
    }
    let event = json!({ "cwd": repository.root() }).to_string();
    let arguments = ["claude-code", "session-start", "--toolset=all", "--budget=20000"];
    let output = hook(&repository, &arguments, &event);
    let length = String::from_utf8(output.stdout).expect("UTF-8").chars().count();
    assert!((6_000..10_000).contains(&length), "{length}");
}

#[test]
fn a_hook_tells_of_the_toolsets_that_it_mounts_and_names_their_tools() {
    let told = |repository: &Repository, arguments: &[&str]| {
        let event = json!({ "cwd": repository.root() }).to_string();
        let arguments = [&["codex", "session-start"], arguments].concat();
        String::from_utf8(hook(repository, &arguments, &event).stdout).expect("UTF-8")
    };
    let filled = filled();
    let text = told(&filled, &[]);
    assert!(text.contains("SQLite") && !text.contains("Prefers tabs."), "{text}");
    let empty = Repository::new();
    let text = told(&empty, &[]);
    assert!(text.contains("`start_session` keeps the first memory."), "{text}");
    let text = told(&empty, &["--toolset=records,layers"]);
    assert!(text.contains("`store_memory` or `set_current_task` keeps the first"), "{text}");
}

#[test]
fn people_read_the_same_text() {
    let repository = filled();
    let output = program(&repository).arg("resume").output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("\n- Keep the cache in SQLite.\n"), "{text}");
    let json = program(&repository).args(["resume", "--json"]).output().expect("it runs");
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["text"].as_str().map(str::trim_end), Some(text.trim_end()));
    let wrong = program(&repository).args(["resume", "--budget", "1"]).output().expect("it runs");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

/// The log of an agent on the day of the tests.
fn log(repository: &Repository, agent: &str) -> String {
    let log = format!(".github/agent-memory/{agent}/logs/2025-01-20.md");
    std::fs::read_to_string(repository.root().join(log)).unwrap_or_default()
}

#[test]
fn an_end_is_one_line_in_the_log() {
    let repository = filled();
    let transcript = repository.root().join("transcript.jsonl");
    let lines = [
        json!({ "type": "user", "message": { "content": "Keep the cache" } }),
        json!({ "type": "user", "message": { "content": "My password is hunter2!" } }),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&transcript, lines).expect("a file");
    let event = json!({
        "cwd": repository.root(), "session_id": "s-1", "reason": "prompt_input_exit",
        "transcript_path": transcript,
    });
    let before = log(&repository, "ada");
    for (client, event_name) in [("claude-code", "session-end"), ("gemini", "pre-compact")] {
        let output = hook(&repository, &[client, event_name], &event.to_string());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
    let after = log(&repository, "ada");
    let added: Vec<&str> = after.lines().filter(|line| !before.contains(*line)).collect();
    assert_eq!(
        added,
        [
            "- 10:00 UTC: the session ended (`claude-code`, session `s-1`, reason \
             `prompt_input_exit`); 2 requests, 0 files edited",
            "- 10:00 UTC: the context was about to be cut (`gemini`, session `s-1`, reason \
             `prompt_input_exit`); 2 requests, 0 files edited",
        ]
    );
    let valid = program(&repository).args(["validate", "."]).output().expect("it runs");
    assert_eq!(valid.status.code(), Some(0), "{valid:?}");
}

#[test]
fn an_end_makes_nothing_where_no_agent_has_a_log() {
    let unused = Repository::new();
    let event = json!({ "cwd": unused.root() }).to_string();
    for arguments in [&["codex", "session-end"][..], &["codex", "session-end", "--agent=ada"]] {
        let output = hook(&unused, arguments, &event);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(!unused.root().join(".github").exists());
    }
    // An agent that has a summary, but no log.
    let described = Repository::new();
    let summary = ".github/agent-memory/ada/_summary.md";
    let summary = described.root().join(summary);
    std::fs::create_dir_all(summary.parent().expect("a directory")).expect("a directory");
    std::fs::write(summary, "# Summary\n").expect("a file");
    let event = json!({ "cwd": described.root() }).to_string();
    for arguments in [&["codex", "session-end"][..], &["codex", "session-end", "--agent=ada"]] {
        let output = hook(&described, arguments, &event);
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
        let directory = described.root().join(".github/agent-memory/ada");
        assert_eq!(std::fs::read_dir(directory).expect("a directory").count(), 1);
    }
    // A transcript without a request of the user adds nothing to the log.
    let repository = filled();
    let before = log(&repository, "ada");
    let transcript = repository.root().join("empty.jsonl");
    std::fs::write(&transcript, "{\"type\":\"system\"}\n").expect("a file");
    let event = json!({ "cwd": repository.root(), "transcript_path": transcript }).to_string();
    assert!(hook(&repository, &["claude-code", "session-end"], &event).status.success());
    assert_eq!(log(&repository, "ada"), before);
}

#[test]
fn an_end_without_a_readable_event_is_recorded_nowhere() {
    let repository = filled();
    let before = log(&repository, "ada");
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(2 << 20));
    let gone = "{\"cwd\": \"/no such directory\"}";
    // The last event never becomes complete, and the input stays open.
    for event in ["{\"cwd\": 1}", "no JSON", "[]", gone, &long, "{\"cwd\": "] {
        for name in ["pre-compact", "session-end"] {
            let output = hook_in(&repository.root(), &repository, &["codex", name], event);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{said}");
            assert!(said.contains("cannot be"), "{said}");
            assert_eq!(log(&repository, "ada"), before);
        }
    }
    // A byte order mark and a lone half of a surrogate pair are accepted.
    let root = json!(repository.root()).to_string();
    let event = format!("\u{feff}{{\"cwd\": {root}, \"prompt\": \"\\ud83d\"}}");
    let output = hook(&repository, &["codex", "session-end"], &event);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
    assert!(log(&repository, "ada").contains("the session ended (`codex`)"));
}

#[cfg(unix)]
#[test]
fn an_end_waits_for_no_transcript() {
    let repository = filled();
    let pipe = repository.root().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).expect("a pipe");
    let event = json!({ "cwd": repository.root(), "transcript_path": pipe }).to_string();
    let output = hook(&repository, &["codex", "session-end"], &event);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
    assert!(log(&repository, "ada").contains("the session ended (`codex`)"));
}

#[test]
fn an_end_is_recorded_for_the_agent_that_is_named_if_there_are_several() {
    let repository = filled();
    let event = json!({ "cwd": repository.root() }).to_string();
    let named = hook(&repository, &["cursor", "session-end", "--agent=bob"], &event);
    assert_eq!(named.status.code(), Some(0), "{named:?}");
    let record = "- 10:00 UTC: the session ended (`cursor`)";
    assert!(log(&repository, "bob").contains(record), "its log of today is made");
    let before = log(&repository, "ada");
    let unnamed = hook(&repository, &["cursor", "session-end"], &event);
    assert_eq!(unnamed.status.code(), Some(0), "{unnamed:?}");
    let said = String::from_utf8_lossy(&unnamed.stderr);
    assert!(said.contains("`ada`, `bob` have logs here: name one with `--agent`"), "{said}");
    assert_eq!(log(&repository, "ada"), before);
}
