//! What a client says of an event, as JSON on standard input.

use crate::cli::output::print_note;
use crate::cli::terminal::visible;
use serde_json::Value;
use std::io::{IsTerminal, Read, stdin};

/// The longest event that is read, in bytes.
const MAX_EVENT: u64 = 1 << 20;

/// Reads the event. Null if there is none, or if it cannot be read, which is said on standard error.
pub(super) fn read_event() -> Value {
    if stdin().is_terminal() {
        return Value::Null;
    }
    // Not to the end of the input, which some clients leave open.
    let mut events = serde_json::Deserializer::from_reader(stdin().take(MAX_EVENT)).into_iter();
    match events.next() {
        None => Value::Null,
        Some(Ok(event)) => event,
        Some(Err(error)) => {
            print_note(&format!("agent-memory: the event cannot be read: {error}"));
            Value::Null
        }
    }
}

/// Goes to the directory of the session: a client may start its hooks elsewhere.
pub(super) fn enter_directory(event: &Value) {
    // Cursor names the directories that are open.
    let named = event["cwd"].as_str().or(event["workspace_roots"][0].as_str());
    let Some(directory) = named else { return };
    if let Err(error) = std::env::set_current_dir(directory) {
        print_note(&visible(&format!("agent-memory: `{directory}` cannot be entered: {error}")));
        // The repository of another directory is not that of the session.
        let _ = std::env::set_current_dir("/");
    }
}
