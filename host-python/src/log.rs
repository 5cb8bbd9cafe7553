//! Passes the log events of the host to Python's `logging`, as messages.

use crate::messages::{Message, Messages};
use std::fmt::{Debug, Write};
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

/// Passes the events that are meant for people to the log of the program.
struct Log(Arc<Messages>);

/// The receiver of the events of a memory.
pub(crate) fn dispatch(messages: Arc<Messages>) -> Dispatch {
    Dispatch::new(Log(messages))
}

/// Makes `dispatch` receive the events of this thread, until the thread ends.
pub(crate) fn on_this_thread(dispatch: &Dispatch) {
    std::mem::forget(tracing::dispatcher::set_default(dispatch));
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("agent_memory");
        is_ours && metadata.is_event() && *metadata.level() <= Level::INFO
    }

    fn event(&self, event: &Event<'_>) {
        let level = match *event.metadata().level() {
            Level::ERROR => 40,
            Level::WARN => 30,
            _ => 20,
        };
        let mut text = Text::default();
        event.record(&mut text);
        self.0.leave(Message::Log(level, text.text()));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The text of an event: its message, its error, and the other fields in parentheses.
#[derive(Default)]
struct Text {
    message: String,
    error: String,
    others: Vec<String>,
}

impl Text {
    fn text(self) -> String {
        let Text { message: mut text, error, others } = self;
        if !others.is_empty() {
            let _ = write!(text, " ({})", others.join(", "));
        }
        if !error.is_empty() {
            let _ = write!(text, ": {error}");
        }
        text
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            "error" => value.clone_into(&mut self.error),
            name => self.others.push(format!("{name} `{value}`")),
        }
    }
}
