//! Messages from other threads to Python.
//!
//! The threads of tokio run no Python code. At its end, the interpreter stops every other thread within
//! its Python code, and aborts the process if functions of Rust are on the stack of that thread. So the
//! threads of tokio leave messages here, and a Python thread of the package takes them.

use agent_memory_host::{CallError, Outcome, SummaryRequest};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, Result, Write, pipe};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// A message to the package.
pub(crate) enum Message {
    /// The answer to the started request of this number.
    Answer(u64, std::result::Result<Outcome, CallError>),
    /// A question to a function of the program. [`Messages::reply`] gets its answer with this number.
    Question(u64, Question),
    /// A text for the log of the program, with its level in Python's numbers.
    Log(u64, String),
}

/// A question to a function of the program.
pub(crate) enum Question {
    /// For a summary.
    Summary(SummaryRequest),
    /// For the vectors of texts, until a deadline.
    Vectors(Vec<String>, Instant),
}

/// The answer of a function of the program.
#[derive(FromPyObject)]
pub(crate) enum Reply {
    Text(String),
    Vectors(Vec<Vec<f32>>),
}

/// The waiting messages, and the questions whose answers are awaited.
pub(crate) struct Messages {
    state: Mutex<State>,
    /// The writing end of a pipe. When the first message waits, a byte is written to it.
    signal: PipeWriter,
}

#[derive(Default)]
struct State {
    waiting: Vec<Message>,
    has_ended: bool,
    asked: BTreeMap<u64, oneshot::Sender<std::result::Result<Reply, String>>>,
    next: u64,
}

impl Messages {
    /// Returns new messages, and the end of a pipe from which a byte can be read when messages wait.
    pub(crate) fn new() -> Result<(Arc<Messages>, PipeReader)> {
        let (reader, signal) = pipe()?;
        Ok((Arc::new(Messages { state: Mutex::default(), signal }), reader))
    }

    /// Leaves a message for the package. After [`end`](Self::end), messages are dropped.
    pub(crate) fn leave(&self, message: Message) {
        self.leave_in(&mut self.state(), message);
    }

    /// Asks the function of the program, and waits for its answer.
    pub(crate) async fn ask(&self, question: Question) -> std::result::Result<Reply, String> {
        let (sender, answer) = oneshot::channel();
        {
            let mut state = self.state();
            let number = state.next;
            state.next += 1;
            // Drop the questions whose answers are no longer awaited.
            state.asked.retain(|_, sender| !sender.is_closed());
            state.asked.insert(number, sender);
            self.leave_in(&mut state, Message::Question(number, question));
        }
        answer.await.unwrap_or_else(|_| Err("the memory was closed".to_owned()))
    }

    /// Passes the answer of a function to the task that asked the question.
    pub(crate) fn reply(&self, number: u64, reply: std::result::Result<Reply, String>) {
        let sender = self.state().asked.remove(&number);
        // An answer that is late is dropped.
        let _ = sender.map(|sender| sender.send(reply));
    }

    /// Takes the waiting messages. Also returns whether these are the last.
    pub(crate) fn take(&self) -> (Vec<Message>, bool) {
        let mut state = self.state();
        (mem::take(&mut state.waiting), state.has_ended)
    }

    /// Ends the messages: the thread that takes them takes the waiting ones, and ends.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        if !state.has_ended {
            state.has_ended = true;
            state.asked.clear();
            self.signal();
        }
    }

    fn leave_in(&self, state: &mut State, message: Message) {
        if state.has_ended {
            return;
        }
        state.waiting.push(message);
        if state.waiting.len() == 1 {
            self.signal();
        }
    }

    fn signal(&self) {
        // Ignores an error: writing fails only if the program has closed the other end, and then nobody
        // takes messages.
        let _ = (&self.signal).write(&[0]);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
