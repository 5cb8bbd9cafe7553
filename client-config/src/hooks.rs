//! The hooks of a client that start this program: commands that the client runs at its own events.

use serde_json::{Map, Value, json};

use crate::command::{self, command_line, shell_line, starts_as_written};
use crate::{Client, Error};

/// An event of a client at which it starts this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A session begins, is resumed, or continues after its context was shortened.
    SessionStart,
    /// The context of a session is about to be shortened.
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

/// The hooks of a client: the command for each event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// The command line of this program: its absolute path or a runner, and arguments that come before
    /// all others.
    pub start: Vec<String>,
    /// The events that get a hook. Hooks of this program for other events are removed.
    pub events: Vec<Event>,
    /// Further arguments of the hooks.
    pub options: Vec<String>,
}

/// The hooks in a file that start this program, in the order of the events.
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

    /// Whether the list of an event has groups of hooks, which may have conditions, instead of hooks.
    pub(crate) fn groups_hooks(self) -> bool {
        self != Client::Cursor
    }

    /// The hooks in the form that the client reads.
    ///
    /// # Errors
    ///
    /// If the client starts hooks through a shell that might not find the program, or if the program is
    /// not named `agent-memory`: its hooks would not be found again.
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
            if self.event_of(&handler) != Some(*event) {
                return Err(Error::Unsupported(format!(
                    "a hook that starts `{}` would not be found again: name the program \
                     `agent-memory`",
                    line[0]
                )));
            }
            Ok((*event, handler))
        };
        let mut events = hooks.events.clone();
        events.sort();
        events.dedup();
        events.iter().map(handler).collect()
    }

    /// The event for which a hook starts this program for this client. `None` if it does anything else.
    pub(crate) fn event_of(self, handler: &Value) -> Option<Event> {
        let line = command_line(handler)?;
        let event = command::event_of(&line, self)?;
        Event::ALL.into_iter().find(|known| known.name() == event)
    }
}

/// The fields of a hook that this program writes.
const WRITTEN: [&str; 3] = ["type", "command", "args"];

/// Whether a hook is as this program writes it: without other fields, and with an absolute path of the
/// program or with a runner.
pub(crate) fn has_only_our_fields(handler: &Value) -> bool {
    let fields = handler.as_object();
    let is_written =
        fields.is_some_and(|fields| fields.keys().all(|name| WRITTEN.contains(&name.as_str())));
    is_written && command_line(handler).is_some_and(|line| starts_as_written(&line))
}

/// The fields of a hook. `args` is null if it is missing, so that it is removed from an existing hook.
pub(crate) fn fields(handler: &Value) -> Map<String, Value> {
    let mut fields = handler.as_object().cloned().unwrap_or_default();
    fields.entry("args").or_insert(Value::Null);
    fields
}
