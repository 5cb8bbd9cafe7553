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
                    Ok(true) => Err(made_before()),
                    // Where the database cannot be asked, the call finds it out.
                    _ => memory.call_anew(arrival, &tool, &arguments, caller).await,
                };
                memory.mounted.repeats.answer(first, answer);
            });
        }
        awaited.answer().await
    }
}

/// The error of a call that an earlier one with the same key has made.
pub(super) fn made_before() -> CallError {
    let message = "a call with this idempotency key was made before, and its answer is no longer known: read \
                   what the memory has, and give a new call a key of its own";
    CallError::Repeated(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Random};
    use std::future::Future as _;
    use std::path::Path;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::Duration;

    const TOOL: &str = "add_core_memory";
    const ARGUMENTS: &str = r#"{"content": "The sloop."}"#;

    /// A memory whose calls differ in their times and ids.
    fn memory(directory: &Path) -> AgentMemory {
        let start = "2025-01-20T10:00:00Z".parse().expect("a time");
        AgentMemory::builder()
            .toolsets(["records"])
            .setting("records", "directory", directory.to_str().expect("UTF-8"))
            .clock(Clock::Fixed { start, step: Duration::from_secs(1) })
            .random(Random::Fixed(1))
            .build()
            .expect("built")
    }

    async fn call(memory: &AgentMemory) -> Result<Outcome, CallError> {
        let caller = Caller { idempotency_key: Some("k".to_owned()), ..Caller::default() };
        memory.call_as(memory.arrive(TOOL), TOOL, ARGUMENTS, caller).await
    }

    #[tokio::test]
    async fn a_call_with_a_key_goes_on_when_its_client_has_hung_up() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let expected = call(&memory(first.path())).await;
        let memory = memory(second.path());
        {
            let mut dropped = pin!(call(&memory));
            let polled = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        }
        assert_eq!(call(&memory).await, expected, "it is the answer of the first call");
    }
}
