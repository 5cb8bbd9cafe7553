//! Calls with an idempotency key.

use super::AgentMemory;
use crate::arrival::Arrival;
use crate::caller::Caller;
use crate::outcome::{CallError, Outcome};

impl AgentMemory {
    /// Runs a call, unless it is a repetition: then it waits for the answer of the first one.
    ///
    /// A client repeats a call because it has lost the connection. So the call goes on if its future is
    /// dropped.
    pub(super) async fn call_once(
        &self,
        key: &str,
        arrival: Arrival,
        tool: &str,
        arguments: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let (awaited, first) = self.own.repeats.take(key, tool, arguments)?;
        if let Some(first) = first {
            let memory = self.clone();
            let tool = tool.to_owned();
            let arguments = arguments.to_owned();
            self.own.in_progress.tasks.spawn(async move {
                let answer = memory.call_anew(arrival, &tool, &arguments, caller).await;
                memory.own.repeats.answer(first, answer);
            });
        }
        awaited.answer().await
    }
}

/// The error of a call that an earlier one with the same key has made.
pub(super) fn made_before() -> CallError {
    let message = "a call with this idempotency key was made before, and its answer is no longer known: this \
                   one has changed nothing. Read what the memory has, and give a new call a key of its own";
    CallError::Repeated(message.to_owned())
}
