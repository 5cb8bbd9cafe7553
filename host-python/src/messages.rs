//! Messages of other threads to Python.
//!
//! The threads of tokio run no Python code. When the interpreter ends, it stops every other thread in the
//! midst of its Python code, and aborts the process if functions of Rust are on the stack of that thread.
//! So the threads of tokio leave messages here, and a thread of the package takes them.

use agent_memory_host::{CallError, Outcome, SummaryRequest};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, Result, Write, pipe};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// A message.
pub(crate) enum Message {
    /// The answer to the started request of this number.
    Answer(u64, std::result::Result<Outcome, CallError>),
    /// The function of the program is asked. [`Messages::reply`] gets its answer under this number.
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

/// The messages that wait, and the functions whose answers are awaited.
pub(crate) struct Messages {
    state: Mutex<State>,
    /// A byte is written when messages begin to wait.
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
    /// Messages, and the end of a pipe that has a byte when some wait.
    pub(crate) fn new() -> Result<(Arc<Messages>, PipeReader)> {
        let (reader, signal) = pipe()?;
        Ok((Arc::new(Messages { state: Mutex::default(), signal }), reader))
    }

    /// Leaves a message. After the end it is dropped.
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
            // Those that nobody awaits any more.
            state.asked.retain(|_, sender| !sender.is_closed());
            state.asked.insert(number, sender);
            self.leave_in(&mut state, Message::Question(number, question));
        }
        answer.await.unwrap_or_else(|_| Err("the memory was closed".to_owned()))
    }

    /// Gives the answer of a function to the one who awaits it.
    pub(crate) fn reply(&self, number: u64, reply: std::result::Result<Reply, String>) {
        let sender = self.state().asked.remove(&number);
        // An answer that is late is dropped.
        let _ = sender.map(|sender| sender.send(reply));
    }

    /// The messages that wait, and whether none will come any more.
    pub(crate) fn take(&self) -> (Vec<Message>, bool) {
        let mut state = self.state();
        (mem::take(&mut state.waiting), state.has_ended)
    }

    /// Ends the thread that takes the messages, after those that wait.
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
        // It can fail only if the program has closed the other end, and then nobody takes messages.
        let _ = (&self.signal).write(&[0]);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
