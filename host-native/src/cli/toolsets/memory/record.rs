//! A short record of a session in an agent's log, when the client cuts the session's context or ends
//! it.

use super::deadline::Deadline;
use super::transcript::{self, Transcript};
use crate::cli::program::{builder, runtime};
use crate::cli::settings::Reach;
use crate::cli::{Error, answer};
use crate::enclosing_repository::repository_around;
use crate::{AgentMemory, Caller, Completion, Reference};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The most characters of an id and of a reason. They keep a record below 300 characters.
const MAX_ID: usize = 64;
const MAX_REASON: usize = 32;

/// How long the record waits for another writer, unless an option says otherwise.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// The section for finished work in the default schema.
const SECTION: &str = "Discussion Summary";

/// The resource template of logs. Completing its arguments lists the agents of a repository and the
/// days of their logs.
const TEMPLATE: &str = "sessions://{agent}/{date}";

/// The event of a session that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The context of the session is about to be cut.
    Cut,
    /// The session ends.
    End,
}

/// A session that is to be recorded.
pub(super) struct Session<'a> {
    /// The client's name.
    pub client: &'a str,
    pub ending: Ending,
    /// The event as the client describes it.
    pub event: &'a Value,
    /// The agent whose log gets the record. `None` for the only agent of the repository.
    pub agent: Option<&'a str>,
}

impl Session<'_> {
    /// Adds the record to the agent's log of today in the repository around the working directory. Does
    /// nothing if no agent has a log there yet.
    pub(super) fn record(&self, reach: &Reach, deadline: Deadline) -> Result<(), Error> {
        let here = std::env::current_dir().ok();
        let Some(repository) = here.and_then(|here| repository_around(&here)) else {
            return Ok(());
        };
        let Some(record) = self.text(reach.now()?, deadline) else { return Ok(()) };
        let builder = builder().toolsets(["sessions"]).lock_wait(LOCK_WAIT);
        let memory = reach.builder_of(builder, &repository)?.build().map_err(Error::usage)?;
        let runtime = runtime()?;
        let recorded = runtime.block_on(async {
            tokio::time::timeout(deadline.left(), self.write(&memory, &record)).await
        });
        // A call that still waits for the lock must not keep the client waiting.
        runtime.shutdown_background();
        recorded.unwrap_or_else(|_| Err(Error::storage("the log is busy: nothing is recorded")))
    }

    async fn write(&self, memory: &AgentMemory, record: &str) -> Result<(), Error> {
        let Some(agent) = self.agent_of(memory).await? else { return Ok(()) };
        let entry = json!({ "agent_name": agent, "section": SECTION, "content": record });
        let added = memory.call("append_entry", &entry.to_string()).await;
        let is_missing = added.as_ref().is_ok_and(|outcome| {
            outcome.answer.as_ref().is_err_and(|error| error.code == "SessionNotFound")
        });
        if !is_missing {
            return answer::result_of::<Value>(added).map(drop);
        }
        let start = json!({ "agent_name": agent }).to_string();
        answer::result_of::<Value>(memory.call("start_session", &start).await)?;
        answer::result_of::<Value>(memory.call("append_entry", &entry.to_string()).await).map(drop)
    }

    /// The agent whose log gets the record. `None` if no agent has a log here.
    async fn agent_of(&self, memory: &AgentMemory) -> Result<Option<String>, Error> {
        let mut agents = Vec::new();
        for agent in values(memory, "agent", BTreeMap::new()).await? {
            let others = BTreeMap::from([("agent".to_owned(), agent.clone())]);
            // An agent without dates has no logs, only a summary.
            if !values(memory, "date", others).await?.is_empty() {
                agents.push(agent);
            }
        }
        match (self.agent, &agents[..]) {
            (_, []) => Ok(None),
            (Some(agent), _) => Ok(Some(agent.to_owned())),
            (None, [only]) => Ok(Some(only.clone())),
            (None, several) => {
                let names: Vec<_> = several.iter().map(|name| format!("`{name}`")).collect();
                let names = names.join(", ");
                Err(Error::usage(format!("{names} have logs here: name one with `--agent`")))
            }
        }
    }

    /// The record: one item of a list. `None` for Claude Code, if its whole transcript has no request of
    /// the user.
    fn text(&self, now: Timestamp, deadline: Deadline) -> Option<String> {
        let path = self.event["transcript_path"].as_str().filter(|path| !path.is_empty());
        // A client may have no transcript or write it later, and reading the named file may never end.
        let transcript = path.map(PathBuf::from).and_then(|path| {
            deadline.half().in_time(move || transcript::read(&path).ok()).flatten()
        });
        let is_empty = |known: &Transcript| known.is_whole && known.requests == 0;
        if self.client == "claude-code" && transcript.as_ref().is_some_and(is_empty) {
            return None;
        }
        Some(self.line(now, &transcript.unwrap_or_default()))
    }

    fn line(&self, now: Timestamp, transcript: &Transcript) -> String {
        let what = match self.ending {
            Ending::Cut => "the context was about to be cut",
            Ending::End => "the session ended",
        };
        let named = |names: [&str; 2], longest: usize| {
            let text = names.iter().find_map(|name| self.event[*name].as_str());
            text.map(|text| plain(text, longest)).filter(|text| !text.is_empty())
        };
        let mut details = vec![format!("`{}`", self.client)];
        let id = named(["session_id", "conversation_id"], MAX_ID);
        details.extend(id.map(|id| format!("session `{id}`")));
        let reason = named(["reason", "trigger"], MAX_REASON);
        details.extend(reason.map(|reason| format!("reason `{reason}`")));
        let mut line = format!("- {}: {what} ({})", now.strftime("%H:%M UTC"), details.join(", "));
        let Transcript { requests, files, is_whole } = transcript;
        if *requests > 0 {
            let least = if *is_whole { "" } else { "at least " };
            line += &format!(
                "; {least}{}, {} edited",
                many(*requests, "request"),
                many(*files, "file")
            );
        }
        line
    }
}

fn many(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The values that an argument of the template may have.
async fn values(
    memory: &AgentMemory,
    argument: &str,
    others: BTreeMap<String, String>,
) -> Result<Vec<String>, Error> {
    let completion = Completion {
        reference: Reference::ResourceTemplate(TEMPLATE.to_owned()),
        argument: argument.to_owned(),
        value: String::new(),
        others,
    };
    answer::result_of(memory.complete(completion, Caller::default()).await)
}

/// The letters, digits, `.`, `_` and `-` of a text, at most `longest`.
fn plain(text: &str, longest: usize) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
    text.chars().filter(is_plain).take(longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &Value, transcript: &Transcript) -> String {
        let session = Session { client: "codex", ending: Ending::Cut, event, agent: None };
        session.line("2025-01-20T10:04:59Z".parse().unwrap(), transcript)
    }

    #[test]
    fn a_record_says_what_is_known() {
        assert_eq!(
            line(&Value::Null, &Transcript::default()),
            "- 10:04 UTC: the context was about to be cut (`codex`)"
        );
        let event = json!({ "session_id": "a1", "trigger": "auto" });
        let transcript = Transcript { requests: 1, files: 2, is_whole: false };
        assert_eq!(
            line(&event, &transcript),
            "- 10:04 UTC: the context was about to be cut (`codex`, session `a1`, reason `auto`); at \
             least 1 request, 2 files edited"
        );
    }

    #[test]
    fn a_record_is_short_whatever_a_client_says() {
        let long = "word ".repeat(1000);
        let event = json!({ "session_id": "x`\n# y".repeat(100), "reason": long });
        let transcript = Transcript { requests: usize::MAX, files: usize::MAX, is_whole: false };
        let record = line(&event, &transcript);
        assert!(record.chars().count() <= 300, "{record}");
        assert!(!record.contains('\n') && record.matches('`').count() == 6, "{record}");
    }
}
