//! A new toolset needs only its own folder. The one in `tests/guests/toy` runs in the library, over MCP
//! and on the command line, without any code for it there. `host-node/test/toy.test.ts` runs it in
//! Node.

use std::path::Path;
use std::process::{Command, Output};

use agent_memory_host::{AgentMemory, Caller, Category};
use agent_memory_tests::images::toy;
use agent_memory_tests::runners::mcp_client::{Client, ProtocolVersion};
use serde_json::{Value, json};

fn parsed(text: impl AsRef<[u8]>) -> Value {
    serde_json::from_slice(text.as_ref()).expect("JSON")
}

#[tokio::test]
async fn a_toolset_that_the_host_does_not_know_runs_in_the_library() {
    let directory = tempfile::tempdir().expect("a directory");
    let notes = directory.path().join("notes");
    let builder = || {
        let located = AgentMemory::builder().image(toy());
        located.setting("notes", "directory", notes.to_str().expect("UTF-8"))
    };
    let memory = builder().setting("notes", "mark", "star").build().expect("a memory");
    let names: Vec<_> = memory.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["keep_note", "read_notes", "count_notes"]);

    let kept = memory.call("keep_note", r#"{"text": "one"}"#).await.expect("an outcome");
    assert_eq!(kept.answer.as_deref(), Ok(r#"{"count":1}"#));
    assert_eq!(kept.changed, ["notes://all"]);
    // The tool is called by its qualified name.
    let kept = memory.call("notes_keep_note", r#"{"text": "two"}"#).await.expect("an outcome");
    assert_eq!(parsed(kept.json()), json!({"count": 2}));
    assert_eq!(std::fs::read_to_string(notes.join("notes.md")).expect("a file"), "* one\n* two\n");

    let refusal = memory.call("keep_note", "{}").await.expect("an outcome").answer.unwrap_err();
    assert_eq!((refusal.category, refusal.code.as_str()), (Category::Invalid, "NO_TEXT"));
    let read = memory.read_resource("notes://all", Caller::default()).await.expect("an outcome");
    assert_eq!(parsed(read.json())[0]["text"], "* one\n* two\n");

    for (wrong, says) in [
        (builder().setting("notes", "mark", "plus"), "takes `dash` or `star`"),
        (builder().setting("notes", "colour", "red"), "it has `directory`, `mark`"),
        (builder().setting("records", "format", "json"), "there are `notes`, `all`"),
        (builder().toolsets(["sessions"]), "there are `notes`, `all`"),
    ] {
        let refused = wrong.build().expect_err(says).to_string();
        assert!(refused.contains(says), "{refused}");
    }
}

fn program(directory: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_toy-memory"));
    program.args(arguments).current_dir(directory).env_clear().env("HOME", directory);
    program.output().expect("it runs")
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_toolset_that_the_host_does_not_know_has_commands_and_options() {
    let scratch = tempfile::tempdir().expect("a directory");
    let directory = scratch.path().canonicalize().expect("it is there");
    let run = |arguments: &[&str]| program(&directory, arguments);

    let help = printed(&run(&["serve", "--help"]));
    for part in ["--notes-dir <DIR>", "AGENT_MEMORY_NOTES_DIR, NOTES_DIR", "- star: A `*`"] {
        assert!(help.contains(part), "{part}: {help}");
    }
    assert!(!help.contains("--records-format"), "{help}");
    let help = printed(&run(&["notes", "--help"]));
    assert!(help.contains("keep_note") && help.contains("Lines in a document"), "{help}");

    let at = ["--notes-dir", "here", "--notes-mark", "star"];
    let keep = ["call", "keep_note", r#"{"text": "one"}"#];
    assert_eq!(parsed(printed(&run(&[&keep[..], &at].concat()))), json!({"count": 1}));
    let count = run(&["notes", "count_notes", "--notes-dir", "here"]);
    assert_eq!(parsed(printed(&count)), json!({"count": 1}));
    assert!(directory.join("here/notes.md").is_file());
    // Without the option the notes are below the home directory.
    assert_eq!(parsed(printed(&run(&keep))), json!({"count": 1}));
    assert!(directory.join("notes/notes.md").is_file());

    let refused = run(&["notes", "keep_note"]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let wrong = run(&["notes", "count_notes", "--notes-mark", "plus"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("`--notes-mark` is `plus`, which is not `dash` or `star`"), "{said}");
}

#[test]
fn a_toolset_that_the_host_does_not_know_is_served_over_mcp() {
    for version in [ProtocolVersion::Initialize, ProtocolVersion::Stateless] {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = scratch.path().canonicalize().expect("it is there");
        let notes = directory.join("notes").display().to_string();
        let toy = Path::new(env!("CARGO_BIN_EXE_toy-memory"));
        let mut client =
            Client::start_program(toy, &["--notes-dir".to_owned(), notes], &directory, version)
                .expect("a server");
        let tools = client.ask("tools/list", json!({})).expect("an answer");
        let tools = tools["result"]["tools"].as_array().expect("tools").clone();
        let names: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["keep_note", "read_notes", "count_notes"]);
        let call = json!({"name": "keep_note", "arguments": {"text": "one"}});
        let kept = client.ask("tools/call", call).expect("an answer");
        assert_eq!(kept["result"]["structuredContent"], json!({"count": 1}), "{kept}");
        let call = json!({"name": "keep_note", "arguments": {}});
        let refused = client.ask("tools/call", call).expect("an answer");
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        let read = client.ask("resources/read", json!({"uri": "notes://all"})).expect("an answer");
        assert_eq!(read["result"]["contents"][0]["text"], "- one\n", "{read}");
    }
}
