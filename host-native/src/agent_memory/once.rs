//! Calls with an idempotency key.

use super::AgentMemory;
use super::places::on_a_blocking_thread;
use crate::arrival::Arrival;
use crate::caller::Caller;
use crate::outcome::{CallError, Outcome};
use std::sync::Arc;

impl AgentMemory {
    /// Runs a call, unless it is a repetition: then it waits for the answer of the first one.
    ///
    /// A client repeats a call because it has lost the connection. So the call goes on if its future is
    /// dropped.
    pub(super) async fn call_once(
        &self,
        key: String,
        arrival: Arrival,
        tool: &str,
        arguments: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        // Tenants may use the same keys. The memory of one lives as long as the process.
        let of_tenant = format!("{:p} {key}", Arc::as_ptr(&self.own));
        let (awaited, first) = self.mounted.repeats.take(&of_tenant, tool, arguments)?;
        // A repetition gives up its place among the calls: the first one may wait for it.
        if let Some(first) = first {
            let memory = self.clone();
            let tool = tool.to_owned();
            let arguments = arguments.to_owned();
            self.own.in_progress.tasks.spawn(async move {
                let answer = memory.call_unless_made(key, arrival, &tool, &arguments, caller).await;
                memory.mounted.repeats.answer(first, answer);
            });
        } else {
            drop(arrival);
        }
        awaited.answer().await
    }

    /// Runs a call that this process has not made, unless another one has.
    async fn call_unless_made(
        &self,
        key: String,
        arrival: Arrival,
        tool: &str,
        arguments: &str,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        if self.has_call_key(&key).await {
            return Err(CallError::made_before());
        }
        let answer = self.call_anew(arrival, tool, arguments, caller).await;
        // Its error may come from what the same call has changed meanwhile, on another server.
        let is_error = answer.as_ref().is_ok_and(|outcome| outcome.answer.is_err());
        if is_error && self.has_call_key(&key).await {
            return Err(CallError::made_before());
        }
        answer
    }

    /// Whether the database server has the key. Where it cannot be asked, the commit finds it out.
    async fn has_call_key(&self, key: &str) -> bool {
        let storage = self.own.storage.clone();
        let key = key.to_owned();
        on_a_blocking_thread(move || storage.has_call_key(&key)).await.unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "once_tests.rs"]
mod tests;
