//! Granted directories, and the date in the machine's time zone.

use std::process::Command;

use agent_memory_conformance::case::Documents;
use agent_memory_host::AgentMemory;
use agent_memory_tests::product::program;
use agent_memory_tests::scratch::Scratch;
use serde_json::{Value, json};

/// The error of `read_summary` on a host with a grant for the scratch repository only.
async fn refused(scratch: &Scratch, root: &str) -> String {
    let memory = AgentMemory::builder().allow(scratch.repo()).build().expect("the memory opens");
    let arguments = json!({"agent_name": "ada", "repo_root": root}).to_string();
    let outcome = memory.call("read_summary", &arguments).await.expect("an outcome");
    let error: Value = serde_json::from_str(outcome.json()).expect("JSON");
    assert_eq!(error["error"], "RepositoryNotAllowed", "{root}");
    error["message"].as_str().expect("a message").to_owned()
}

#[tokio::test]
async fn an_error_says_how_to_grant_and_shows_only_the_callers_path() {
    let scratch = Scratch::new(&Documents::new());
    let repo = scratch.places().repo;
    let elsewhere = scratch.places().elsewhere;
    let link = format!("{elsewhere}/link");
    std::os::unix::fs::symlink("/usr", &link).expect("a link");
    for root in [&elsewhere, &link, &format!("{elsewhere}/nothing/here")] {
        let message = refused(&scratch, root).await;
        assert!(message.contains(&format!("--allow {root}")), "{message}");
        assert!(!message.contains(&repo) && !message.contains("/usr"), "{message}");
    }
}

#[tokio::test]
async fn a_directory_below_a_granted_top_level_is_refused_with_its_name() {
    let scratch = Scratch::new(&Documents::new());
    let repo = scratch.places().repo;
    std::fs::create_dir_all(scratch.repo().join("src/deep")).expect("a directory");
    let message = refused(&scratch, &format!("{repo}/src/deep")).await;
    assert!(message.contains(&format!("`{repo}`")), "{message}");
}

#[test]
fn today_is_the_date_in_the_time_zone_of_the_machine() {
    for (zone, day) in [("<+14>-14", "2025-01-21"), ("<-12>12", "2025-01-20"), ("", "2025-01-20")] {
        let scratch = Scratch::new(&Documents::new());
        let arguments = json!({"agent_name": "ada", "repo_root": scratch.places().repo});
        let mut call = Command::new(program("agent-memory"));
        call.env_clear().env("TZ", zone).current_dir(scratch.repo());
        call.args(["call", "start_session", &arguments.to_string()]);
        let output = call.arg("--fixed-clock=2025-01-20T12:00:00.000Z").output().expect("it runs");
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let file = format!(".github/agent-memory/ada/logs/{day}.md");
        assert_eq!(result["session_file"], file.as_str(), "{zone}: {output:?}");
    }
}
