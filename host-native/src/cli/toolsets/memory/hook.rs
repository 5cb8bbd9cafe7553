//! The answers to a client that starts this program at an event of its own, which clients call a hook.

use super::resume::{Request, Resumed};
use crate::cli::output::{print, print_note};
use crate::cli::settings::Reach;
use crate::cli::terminal::visible;
use crate::cli::{Error, help};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{IsTerminal, Read, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

/// The longest event that is read, in bytes.
const MAX_EVENT: u64 = 1 << 20;

/// The largest budget: 8,800 characters. Claude Code gives a model 10,000 characters of a hook or else
/// next to nothing, Codex about 2,500 tokens.
const MAX_BUDGET: u32 = 2_200;

/// Tell a client's agent what is remembered, at an event of the client.
///
/// For the settings of a client, which starts this at the event. It reads the event as JSON on
/// standard input, and prints what the agent needs to go on, in the client's form. It writes nothing
/// and needs no network. Whatever goes wrong is said on standard error; the exit status is 0, so that
/// no session fails for it.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/hook.txt"),
    include_str!("../../help/settings.txt"),
]))]
pub struct Hook {
    /// The client
    #[arg(value_name = "CLIENT")]
    client: HookClient,

    /// The event
    #[arg(value_name = "EVENT")]
    event: Event,

    #[command(flatten)]
    request: Request,

    #[command(flatten)]
    reach: Reach,
}

/// A client that has hooks.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum HookClient {
    ClaudeCode,
    Codex,
    Cursor,
    Gemini,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Event {
    /// A session begins, goes on, or begins anew after its context was cut
    SessionStart,
}

/// What the clients say of an event, as far as it is needed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    /// The working directory of the session.
    cwd: Option<PathBuf>,
    /// The same in Cursor.
    workspace_roots: Vec<PathBuf>,
}

impl Hook {
    pub(in crate::cli) fn run(mut self) -> Result<ExitCode, Error> {
        let Event::SessionStart = self.event;
        enter_directory();
        self.request.budget = self.request.budget.map(|budget| budget.min(MAX_BUDGET));
        let resumed =
            self.request.ask(&self.reach).and_then(|result| Resumed::read(&result)).and_then(
                |Resumed { text, warnings }| {
                    warnings.iter().for_each(|warning| print_note(&visible(warning)));
                    print(&self.client.context(text.trim_end()).to_string())
                },
            );
        if let Err(error) = resumed {
            print_note(&visible(&format!("agent-memory: {error}")));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl HookClient {
    /// A text for the agent, in the form that the client takes.
    fn context(self, text: &str) -> Value {
        match self {
            HookClient::Cursor => json!({ "additional_context": text }),
            HookClient::ClaudeCode | HookClient::Codex | HookClient::Gemini => {
                let output = json!({ "hookEventName": "SessionStart", "additionalContext": text });
                json!({ "hookSpecificOutput": output })
            }
        }
    }
}

/// Goes to the directory of the session: a client may start its hooks elsewhere.
fn enter_directory() {
    if stdin().is_terminal() {
        return;
    }
    // Not to the end of the input, which some clients leave open.
    let mut events = serde_json::Deserializer::from_reader(stdin().take(MAX_EVENT)).into_iter();
    let Some(Ok(said)) = events.next() else { return };
    let Said { cwd, workspace_roots } = said;
    if let Some(directory) = cwd.or(workspace_roots.into_iter().next()) {
        // A directory that is gone has no memory of its own.
        let _ = std::env::set_current_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_gets_the_text_in_its_form() {
        for client in HookClient::value_variants() {
            let context = client.context("kept");
            let text = match client {
                HookClient::Cursor => &context["additional_context"],
                _ => &context["hookSpecificOutput"]["additionalContext"],
            };
            assert_eq!(text, "kept");
        }
    }
}
