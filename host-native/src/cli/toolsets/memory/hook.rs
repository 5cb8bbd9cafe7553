//! Answers a client that starts this program at an event. Clients call such a command a hook.

use super::deadline::Deadline;
use super::event::{enter_directory, read_event};
use super::record::{Ending, Session};
use super::resume::{Request, Resumed};
use crate::cli::answer::read;
use crate::cli::output::{print, print_note};
use crate::cli::settings::{Mounting, Reach};
use crate::cli::terminal::visible;
use crate::cli::{Error, help};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// The time limit for the event to arrive, and for recording the session in all. Claude Code waits 1.5
/// s for its hooks when it ends.
const TIMEOUT: Duration = Duration::from_millis(1_400);

/// The longest text, in bytes of UTF-8. Of a longer hook text, Claude Code passes almost nothing on
/// (limit: 10,000 characters). Codex's limit is about 2,500 tokens.
const MAX_TEXT: usize = 9_500;

/// The smallest and the largest budget of a request, in tokens.
const BUDGETS: (u32, u32) = (200, 2_300);

/// The budget if none is given.
const USUAL_BUDGET: u32 = 1_500;

/// Tell a client's agent what is remembered, or record its session, at an event of the client.
///
/// For the settings of a client, which starts this at the event; `install CLIENT --hooks` adds it. It
/// reads the event as JSON on standard input. At the start of a session it prints what the agent
/// needs to go on, in the client's form, and writes nothing. Before the context is cut and at the
/// end, it prints nothing and adds a line to the agent's log of today, in repositories that have such
/// logs. It needs no model and no network. Whatever goes wrong is said on standard error; the exit
/// status is 0, so that no session fails for it.
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
    mounting: Mounting,

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
    /// The context of a session is about to be cut
    PreCompact,
    /// A session ends
    SessionEnd,
}

impl Hook {
    /// Checks the arguments of a hook before it is installed: later, a client would only say that the
    /// hook failed.
    pub(in crate::cli) fn check(arguments: &[String]) -> Result<(), clap::Error> {
        let command = Hook::augment_args(clap::Command::new("hook"));
        command.try_get_matches_from(arguments).map(drop)
    }

    pub(in crate::cli) fn run(mut self) -> Result<ExitCode, Error> {
        let deadline = Deadline::after(TIMEOUT);
        let event = read_event(deadline).and_then(|event| enter_directory(&event).map(|()| event));
        let done = match self.event {
            Event::SessionStart => {
                event.err().iter().for_each(note);
                self.tell()
            }
            // Not recorded without a readable event: the repository here may be another one than that
            // of the session.
            Event::PreCompact => event.and_then(|event| self.record(Ending::Cut, &event, deadline)),
            Event::SessionEnd => event.and_then(|event| self.record(Ending::End, &event, deadline)),
        };
        done.err().iter().for_each(note);
        Ok(ExitCode::SUCCESS)
    }

    /// Prints the text about earlier work, for the start of a session.
    fn tell(&mut self) -> Result<(), Error> {
        let (least, most) = BUDGETS;
        self.request.budget = Some(self.request.budget.unwrap_or(USUAL_BUDGET).clamp(least, most));
        let text = self.text()?;
        print(&self.client.context(text.trim_end()).to_string())
    }

    /// Adds a record of the session to the agent's log.
    fn record(&self, ending: Ending, event: &Value, deadline: Deadline) -> Result<(), Error> {
        let client = self.client.to_possible_value();
        let client = client.as_ref().map(PossibleValue::get_name).unwrap_or_default();
        let agent = self.request.agent.as_deref();
        Session { client, ending, event, agent }.record(&self.reach, deadline)
    }

    /// The text for the agent, from the toolsets that a server with the same options has: the text names
    /// their tools. Lowers the budget until the text is as short as clients accept.
    fn text(&mut self) -> Result<String, Error> {
        let toolsets = self.mounting.names_or_default()?;
        loop {
            let result = self.request.ask(&self.reach, toolsets.iter().cloned())?;
            let Resumed { text, warnings } = read(&result)?;
            let text = with_warnings(&text, &warnings);
            let budget = self.request.budget.unwrap_or_default();
            if text.len() <= MAX_TEXT || budget <= BUDGETS.0 {
                return Ok(text);
            }
            self.request.budget = Some((budget / 2).max(BUDGETS.0));
        }
    }
}

fn note(error: &Error) {
    print_note(&visible(&format!("agent-memory: {error}")));
}

/// The text for an agent, with the warnings about files that could not be read. Control characters are
/// escaped. Warnings quote stored text, so they are in a fence that no text in them can end.
fn with_warnings(text: &str, warnings: &[String]) -> String {
    let mut lines: Vec<String> = text.trim_end().lines().map(visible).collect();
    if !warnings.is_empty() {
        let warnings: Vec<String> = warnings.iter().map(|warning| visible(warning)).collect();
        let runs = warnings.iter().flat_map(|warning| warning.split(|letter| letter != '`'));
        let longest = runs.map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(3.max(longest + 1));
        lines.extend(["".to_owned(), "Not everything could be read:".to_owned(), fence.clone()]);
        lines.extend(warnings.iter().map(|warning| format!("- {warning}")));
        lines.push(fence);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_stand_in_a_fence_of_their_own() {
        let text = with_warnings("kept\n", &["`a` is no file".to_owned(), "````b".to_owned()]);
        let expected =
            "kept\n\nNot everything could be read:\n`````\n- `a` is no file\n- ````b\n`````";
        assert_eq!(text, expected);
        assert_eq!(with_warnings("kept\n", &[]), "kept");
    }

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
