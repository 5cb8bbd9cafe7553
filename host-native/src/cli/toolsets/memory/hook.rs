//! The answers to a client that starts this program at an event of its own, which clients call a hook.

use super::resume::{Request, Resumed};
use crate::cli::answer::read;
use crate::cli::output::{print, print_note};
use crate::cli::settings::Reach;
use crate::cli::terminal::visible;
use crate::cli::{Error, help};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::io::{IsTerminal, Read, stdin};
use std::process::ExitCode;

/// The longest event that is read, in bytes.
const MAX_EVENT: u64 = 1 << 20;

/// The longest text in bytes of UTF-8. Claude Code gives a model 10,000 characters of a hook or else
/// next to nothing, Codex about 2,500 tokens: no text of so many bytes is longer.
const MAX_TEXT: usize = 9_500;

/// The least and the largest budget that are asked for.
const BUDGETS: (u32, u32) = (200, 2_300);

/// The budget if none is given.
const USUAL_BUDGET: u32 = 1_500;

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

impl Hook {
    pub(in crate::cli) fn run(mut self) -> Result<ExitCode, Error> {
        let Event::SessionStart = self.event;
        enter_directory();
        let (least, most) = BUDGETS;
        self.request.budget = Some(self.request.budget.unwrap_or(USUAL_BUDGET).clamp(least, most));
        let printed =
            self.text().and_then(|text| print(&self.client.context(text.trim_end()).to_string()));
        if let Err(error) = printed {
            print_note(&visible(&format!("agent-memory: {error}")));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The text, with a budget that makes it as short as clients take it.
    fn text(&mut self) -> Result<String, Error> {
        loop {
            let Resumed { text, warnings } = read(&self.request.ask(&self.reach)?)?;
            let text = with_warnings(&text, &warnings);
            let budget = self.request.budget.unwrap_or_default();
            if text.len() <= MAX_TEXT || budget <= BUDGETS.0 {
                return Ok(text);
            }
            self.request.budget = Some((budget / 2).max(BUDGETS.0));
        }
    }
}

/// The text for an agent, which has to know what could not be read. No control character is for it.
fn with_warnings(text: &str, warnings: &[String]) -> String {
    let mut lines: Vec<String> = text.trim_end().lines().map(visible).collect();
    if !warnings.is_empty() {
        lines.extend(["".to_owned(), "Not everything could be read:".to_owned()]);
    }
    lines.extend(warnings.iter().map(|warning| format!("- {}", visible(warning))));
    lines.join("\n")
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
    let event: Value = match events.next() {
        None => return,
        Some(Ok(event)) => event,
        Some(Err(error)) => {
            return print_note(&format!("agent-memory: the event cannot be read: {error}"));
        }
    };
    // Cursor names the directories that are open.
    let named = event["cwd"].as_str().or(event["workspace_roots"][0].as_str());
    let Some(directory) = named else { return };
    if let Err(error) = std::env::set_current_dir(directory) {
        print_note(&visible(&format!("agent-memory: `{directory}` cannot be entered: {error}")));
        // The repository of another directory is not that of the session.
        let _ = std::env::set_current_dir("/");
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
