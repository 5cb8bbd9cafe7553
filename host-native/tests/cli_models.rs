//! The options and variables of models.

mod model_server;
mod process;
mod remembering;

use remembering::{CAPACITY, Memories, add};
use std::process::Command;

/// The log of a server whose input ends at once, and its exit status.
fn served(memories: &Memories, set: impl FnOnce(&mut Command) -> &mut Command) -> (String, i32) {
    let output = set(&mut memories.serve()).output().expect("it runs");
    let log = String::from_utf8(output.stderr).expect("UTF-8");
    (log, output.status.code().expect("a status"))
}

#[test]
fn a_url_that_is_not_safe_is_refused_and_not_shown() {
    let memories = Memories::new();
    for url in ["http://models.example/v1", "https://me:secret@models.example", "models.example"] {
        let flags = ["--openai-url", url, "--openai-model", "local"];
        let by_flag = served(&memories, |serve| serve.args(flags));
        let by_variable = served(&memories, |serve| {
            serve.env("AGENT_MEMORY_OPENAI_URL", url).env("AGENT_MEMORY_OPENAI_MODEL", "local")
        });
        for ((log, status), source) in
            [(by_flag, "--openai-url"), (by_variable, "AGENT_MEMORY_OPENAI_URL")]
        {
            assert_eq!(status, 2, "{log}");
            assert!(log.contains(&format!("`{source}` is not an `https://` URL")), "{log}");
            assert!(!log.contains("models.example"), "{log}");
        }
    }
}

#[test]
fn a_url_without_a_model_and_a_wrong_timeout_are_errors() {
    let memories = Memories::new();
    let url = ["--openai-url", "http://localhost:1"];
    let (log, status) = served(&memories, |serve| serve.args(url));
    assert_eq!(status, 2, "{log}");
    assert!(log.contains("`--openai-url` needs") && log.contains("`--openai-model`"), "{log}");
    for timeout in ["0s", "31s", "soon"] {
        let (log, status) = served(&memories, |serve| serve.args(["--model-timeout", timeout]));
        assert_eq!(status, 2, "{log}");
        assert!(log.contains("`--model-timeout`"), "{log}");
    }
}

#[test]
fn a_key_that_no_header_can_have_is_not_used_and_not_shown() {
    let memories = Memories::new();
    for key in ["secret\nx-other: 1", "sécret"] {
        let (log, status) = served(&memories, |serve| serve.env("ANTHROPIC_API_KEY", key));
        assert_eq!(status, 0, "{log}");
        assert!(log.contains("`ANTHROPIC_API_KEY` is not") && !log.contains("cret"), "{log}");
    }
}

#[test]
fn a_model_that_is_chosen_but_cannot_be_asked_is_warned_of() {
    let memories = Memories::new();
    for (summarizer, needs) in [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "--openai-url")] {
        // A plugin's manifest leaves variables that are not set unexpanded.
        let key = ("ANTHROPIC_API_KEY", "${ANTHROPIC_API_KEY}");
        let (log, status) = served(&memories, |serve| {
            serve.args(["--summarizer", summarizer]).envs([key, ("AGENT_MEMORY_OPENAI_URL", " ")])
        });
        assert_eq!(status, 0, "{log}");
        assert!(log.contains(&format!("set `{needs}`")), "{log}");
    }
    let (log, _) = served(&memories, |serve| serve.args(["--summarizer", "sampling"]));
    assert!(!log.contains("set `"), "{log}");
}

#[test]
fn an_inherited_url_that_is_not_safe_turns_the_model_off() {
    let memories = Memories::new();
    let variables =
        [("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_BASE_URL", "http://gateway.example")];
    let mut serve = memories.serve();
    let mut client = memories.client(serve.envs(variables));
    let added = add(&mut client, 0..CAPACITY);
    assert_eq!(added["summarized"], true, "{added}");
    assert!(client.end().1.success());
    assert!(memories.log().contains("`ANTHROPIC_BASE_URL` is not"), "{}", memories.log());

    // If no toolset asks models, no message mentions them.
    let (log, status) =
        served(&memories, |serve| serve.envs(variables).env("AGENT_MEMORY_TOOLSET", "sessions"));
    assert_eq!(status, 0, "{log}");
    assert!(!log.contains("ANTHROPIC"), "{log}");
}
