//! The key of a call that must be made only once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Error, ErrorCode};

/// The key of a call that must be made only once, even if its client repeats it to another host.
///
/// A medium whose commits are transactions stores the key with the first commit of the call, unless an
/// earlier call has stored it: then the commit fails. Other media ignore the key.
#[derive(Debug)]
pub struct CallKey {
    text: String,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Stored,
    Repeated,
}

impl CallKey {
    /// A key that no commit has stored.
    pub fn new(text: String) -> Self {
        Self { text, state: Mutex::new(State::New) }
    }

    /// The text to store with a commit. `None` if an earlier commit of the same call has stored it.
    pub fn to_store(&self) -> Option<&str> {
        (*self.state() != State::Stored).then_some(&self.text)
    }

    /// Notes that a commit has stored the key.
    pub fn note_stored(&self) {
        *self.state() = State::Stored;
    }

    /// Notes that an earlier call has stored the key. Returns the error of the commit.
    pub fn note_repeated(&self) -> Error {
        *self.state() = State::Repeated;
        Error::new(ErrorCode::Io, "the call was made before")
    }

    /// Whether an earlier call has stored the key.
    pub fn is_repeated(&self) -> bool {
        *self.state() == State::Repeated
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
