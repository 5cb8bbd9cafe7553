//! The hooks of a client that start this program: commands that the client runs at its own events.

use serde_json::{Map, Value, json};

use crate::{Client, Error};

/// An event of a client at which it starts this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A session begins, goes on, or begins anew after its context was cut.
    SessionStart,
    /// The context of a session is about to be cut.
    PreCompact,
    /// A session ends.
    SessionEnd,
}

impl Event {
    /// All events, in the order of a session.
    pub const ALL: [Event; 3] = [Event::SessionStart, Event::PreCompact, Event::SessionEnd];

    /// The name on the command line of this program.
    pub fn name(self) -> &'static str {
        match self {
            Event::SessionStart => "session-start",
            Event::PreCompact => "pre-compact",
            Event::SessionEnd => "session-end",
        }
    }
}

/// What a client starts at which events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// The command line of this program: its absolute path, and arguments that come before all others.
    pub start: Vec<String>,
    /// The events. Those that are left out have no hook afterwards.
    pub events: Vec<Event>,
    /// Further arguments of the hooks.
    pub options: Vec<String>,
}

/// The hooks of ours in a file, in the order of the events.
pub(crate) type Handlers = Vec<(Event, Value)>;

impl Client {
    /// Whether this program knows how the client keeps its hooks.
    pub fn has_hooks(self) -> bool {
        matches!(self, Client::ClaudeCode | Client::Codex | Client::Cursor | Client::Gemini)
    }

    /// The key of an event in the client's file.
    pub(crate) fn key_of(self, event: Event) -> &'static str {
        match (self, event) {
            (Client::Cursor, Event::SessionStart) => "sessionStart",
            (Client::Cursor, Event::PreCompact) => "preCompact",
            (Client::Cursor, Event::SessionEnd) => "sessionEnd",
            (Client::Gemini, Event::PreCompact) => "PreCompress",
            (_, Event::SessionStart) => "SessionStart",
            (_, Event::PreCompact) => "PreCompact",
            (_, Event::SessionEnd) => "SessionEnd",
        }
    }

    /// Whether a list of an event holds groups of hooks, each of which may have a condition.
    pub(crate) fn groups_hooks(self) -> bool {
        self != Client::Cursor
    }

    /// The hooks in the form that the client reads. Null stands for a field that a hook of another form
    /// would have.
    ///
    /// # Errors
    ///
    /// If the client starts hooks through a shell, and the shell would not find the program.
    pub(crate) fn handlers(self, hooks: &Hooks) -> Result<Handlers, Error> {
        let handler = |event: &Event| {
            let own = ["hook", self.name(), event.name()].map(str::to_owned);
            let arguments = own.iter().chain(&hooks.options);
            let line: Vec<&String> = hooks.start.iter().chain(arguments).collect();
            let handler = match self {
                Client::ClaudeCode => {
                    json!({"type": "command", "command": line[0], "args": line[1..]})
                }
                Client::Cursor => json!({"command": shell_line(self, &line)?}),
                _ => json!({"type": "command", "command": shell_line(self, &line)?}),
            };
            Ok((*event, handler))
        };
        let mut events = hooks.events.clone();
        events.sort();
        events.dedup();
        events.iter().map(handler).collect()
    }

    /// The event at which a hook starts this program for this client, if it does.
    pub(crate) fn event_of(self, handler: &Value) -> Option<Event> {
        let line = command_line(handler);
        let own = line.iter().position(|word| word == "hook")?;
        let is_ours =
            |word: &String| word.contains("agent-memory") || word.contains("agent_memory");
        if line.get(own + 1)? != self.name() || !line[..own].iter().any(is_ours) {
            return None;
        }
        let event = line.get(own + 2)?;
        Event::ALL.into_iter().find(|known| known.name() == event)
    }
}

/// The fields of a hook that this program writes.
const WRITTEN: [&str; 3] = ["type", "command", "args"];

/// Whether a hook has no fields but those that this program writes.
pub(crate) fn is_ours(handler: &Value) -> bool {
    let fields = handler.as_object();
    fields.is_some_and(|fields| fields.keys().all(|name| WRITTEN.contains(&name.as_str())))
}

/// The fields of a hook, with null for those of another form.
pub(crate) fn fields(handler: &Value) -> Map<String, Value> {
    let mut fields = handler.as_object().cloned().unwrap_or_default();
    fields.entry("args").or_insert(Value::Null);
    fields
}

/// The words of the command line of a hook: the program and its arguments, or the words of a line for a
/// shell.
pub(crate) fn command_line(handler: &Value) -> Vec<String> {
    let command = handler["command"].as_str().unwrap_or_default();
    match handler["args"].as_array() {
        Some(arguments) => {
            let arguments = arguments.iter().filter_map(Value::as_str);
            [command].into_iter().chain(arguments).map(str::to_owned).collect()
        }
        None => words(command),
    }
}

/// The words of a line for a shell, without their quotation marks.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quoted: Option<char> = None;
    let mut is_inside = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if quoted == Some(letter) => quoted = None,
            '\'' | '"' if quoted.is_none() => {
                quoted = Some(letter);
                if !is_inside {
                    words.push(String::new());
                    is_inside = true;
                }
            }
            _ if quoted.is_none() && letter.is_whitespace() => is_inside = false,
            _ => {
                // As `shell_line` writes a quotation mark.
                let is_escape = letter == '\\' && quoted.is_none() && letters.peek() == Some(&'\'');
                let letter = if is_escape { letters.next().unwrap_or(letter) } else { letter };
                if !is_inside {
                    words.push(String::new());
                    is_inside = true;
                }
                words.last_mut().expect("a word is open").push(letter);
            }
        }
    }
    words
}

/// A command line for the shell of a client.
fn shell_line(client: Client, line: &[&String]) -> Result<String, Error> {
    let quoted = |word: &&String| {
        if is_plain(word) {
            return Ok((*word).clone());
        }
        if cfg!(windows) {
            // The line may be for `cmd` or for PowerShell, which quote differently.
            return Err(Error::Unsupported(format!(
                "{} starts hooks through a shell, which may not find `{word}`: move the program to a \
                 path without spaces and signs",
                client.title()
            )));
        }
        Ok(format!("'{}'", word.replace('\'', r"'\''")))
    };
    Ok(line.iter().map(quoted).collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// Whether every shell takes a word as it is.
fn is_plain(word: &str) -> bool {
    let is_plain = |letter: char| {
        letter.is_alphanumeric() || "_-./:=,+@".contains(letter) || cfg!(windows) && letter == '\\'
    };
    !word.is_empty() && word.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_line_are_those_that_were_written() {
        let line = ["/opt/it's here/agent-memory", "hook", "codex", "session-end", ""];
        let line = line.map(str::to_owned);
        let written = shell_line(Client::Codex, &line.iter().collect::<Vec<_>>());
        if cfg!(windows) {
            assert!(written.is_err());
        } else {
            assert_eq!(words(&written.unwrap()), line);
        }
        assert_eq!(words(r#""C:\a b\c.exe" hook  codex"#), [r"C:\a b\c.exe", "hook", "codex"]);
    }

    #[test]
    fn only_a_hook_of_this_program_for_this_client_is_ours() {
        let event = |client: Client, line: &str| client.event_of(&json!({ "command": line }));
        let line = "/bin/agent-memory hook codex session-end --agent ada";
        assert_eq!(event(Client::Codex, line), Some(Event::SessionEnd));
        assert_eq!(event(Client::Gemini, line), None);
        assert_eq!(event(Client::Codex, "/bin/other hook codex session-end"), None);
        assert_eq!(event(Client::Codex, "/bin/agent-memory hook codex"), None);
        assert_eq!(event(Client::Codex, "/bin/agent-memory hook codex stop"), None);
        assert_eq!(event(Client::Codex, ""), None);
    }
}
