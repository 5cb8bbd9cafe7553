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
        if let Some(first) = first {
            let memory = self.clone();
            let tool = tool.to_owned();
            let arguments = arguments.to_owned();
            self.own.in_progress.tasks.spawn(async move {
                let storage = memory.own.storage.clone();
                let was_made = on_a_blocking_thread(move || storage.has_call_key(&key)).await;
                let answer = match was_made {
                    Ok(true) => Err(CallError::made_before()),
                    // Where the database cannot be asked, the call finds it out.
                    _ => memory.call_anew(arrival, &tool, &arguments, caller).await,
                };
                memory.mounted.repeats.answer(first, answer);
            });
        }
        awaited.answer().await
    }
}

#[cfg(test)]
#[path = "once_tests.rs"]
mod tests;
