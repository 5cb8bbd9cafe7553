//! Calls with an idempotency key.

use super::AgentMemory;
use super::places::on_a_blocking_thread;
use crate::arrival::Arrival;
use crate::caller::Caller;
use crate::outcome::{CallError, Outcome};
use std::sync::Arc;

impl AgentMemory {
    /// Runs a call with an idempotency key. A repetition is not run: it waits for the answer of the first
    /// call.
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
        // Two tenants may use the same key, so the address of the tenant's memory is a part of it. A
        // tenant's memory lives as long as the process, so its address is never that of another tenant.
        let of_tenant = format!("{:p} {key}", Arc::as_ptr(&self.own));
        let (awaited, first) = self.mounted.repeats.take(&of_tenant, tool, arguments)?;
        // A repetition gives up its place among the calls: the first call may be waiting for that place.
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

    /// Runs a call that this process has not made yet, unless the database server has its key: then
    /// another process has made it.
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
        // The call may have failed because another server has run a repetition of it meanwhile.
        let is_error = answer.as_ref().is_ok_and(|outcome| outcome.answer.is_err());
        if is_error && self.has_call_key(&key).await {
            return Err(CallError::made_before());
        }
        answer
    }

    /// Whether the database server has the key. `false` also if the server cannot be asked. Nothing is
    /// done twice then: the commit fails if the server has the key.
    async fn has_call_key(&self, key: &str) -> bool {
        let storage = self.own.storage.clone();
        let key = key.to_owned();
        on_a_blocking_thread(move || storage.has_call_key(&key)).await.unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "once_tests.rs"]
mod tests;
