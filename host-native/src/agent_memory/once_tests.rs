//! A client hangs up during a call with an idempotency key.

use super::*;
use crate::{Clock, Random};
use std::future::Future as _;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

const TOOL: &str = "add_core_memory";
const ARGUMENTS: &str = r#"{"content": "The sloop."}"#;

/// Each call gets its own time and ids, so the answer of a second run would differ from the first one.
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
