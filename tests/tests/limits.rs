//! The limits of calls in the native host. With a limit that is just enough, a call succeeds; with a
//! smaller one it is stopped.
//!
//! These tests have a process of their own, since they measure its processor time.

use std::fs;
use std::path::Path;
use std::time::Duration;

use agent_memory_host::{AgentMemory, CallError, Limits, Outcome, Reason};
use agent_memory_tests::images::guests;
use serde_json::json;
use tokio::sync::Mutex;

const MIB: usize = 1 << 20;

/// One test at a time, since they measure the processor time of the process.
static ALONE: Mutex<()> = Mutex::const_new(());

async fn call(tool: &str, repository: &Path, limits: Limits) -> Result<Outcome, CallError> {
    let memory = AgentMemory::builder().image(guests()).allow(repository).limits(limits);
    let arguments = json!({"repo_root": repository, "line": "a line"}).to_string();
    memory.build().expect("the memory opens").call(tool, &arguments).await
}

/// Calls a tool that has to be stopped, and returns the reason.
async fn stopped(tool: &str, limits: Limits) -> Reason {
    let repository = tempfile::tempdir().expect("a scratch directory");
    match call(tool, repository.path(), limits).await {
        Err(CallError::Ended { reason, .. }) => reason,
        Err(error) => panic!("`{tool}` ends with {error}"),
        Ok(outcome) => panic!("`{tool}` ends with {} bytes", outcome.json().len()),
    }
}

#[tokio::test]
async fn a_call_may_make_as_many_storage_calls_as_its_limit_and_not_one_more() {
    let _alone = ALONE.lock().await;
    // The call opens the tree, takes the lock, reads the document and commits it.
    let needs = 4;
    let limits = |storage_calls| Limits { storage_calls, ..Limits::default() };
    let repository = tempfile::tempdir().expect("a scratch directory");
    let outcome = call("append", repository.path(), limits(needs)).await.expect("it is enough");
    assert!(outcome.answer.is_ok(), "{}", outcome.json());
    assert_eq!(stopped("append", limits(needs - 1)).await, Reason::StorageCalls);
}

#[tokio::test]
async fn a_call_may_use_as_much_memory_as_its_limit_and_no_more() {
    let _alone = ALONE.lock().await;
    // The call makes a text of 80 MiB, which is too long to be passed on, and needs less than 4 MiB
    // more.
    let limits = |mib| Limits { memory: mib * MIB, ..Limits::default() };
    for (mib, reason) in [(80, Reason::Memory), (84, Reason::Trap)] {
        assert_eq!(stopped("vast-result", limits(mib)).await, reason, "with {mib} MiB");
    }
}

#[tokio::test]
async fn a_call_that_loops_is_stopped_at_its_time_limit() {
    let _alone = ALONE.lock().await;
    for limit in [Duration::from_millis(500), Limits::default().guest_time] {
        let limits = Limits { guest_time: limit, ..Limits::default() };
        // Processor time, so that a busy machine makes no difference.
        let before = processor_time();
        assert_eq!(stopped("spin", limits).await, Reason::Deadline);
        let took = processor_time() - before;
        println!("{limit:?}: it took {took:?}");
        // This includes building the memory, and time is checked in steps.
        let most = limit + Duration::from_millis(300);
        assert!(limit <= took + 3 * Limits::TICK && took < most, "{limit:?}: it took {took:?}");
    }
}

/// The user and system time of this process.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let (_, fields) = stat.rsplit_once(") ").expect("the name of the program");
    let ticks =
        fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("ticks"));
    // Linux counts a tick as a hundredth of a second.
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
