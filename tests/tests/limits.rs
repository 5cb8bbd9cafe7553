//! What a call may use of the native host, from both sides: with what it needs it ends well, and
//! with less it is stopped, at once.
//!
//! A file of its own, because the processor's time of the process is what is looked at.

use std::fs;
use std::path::Path;
use std::time::Duration;

use agent_memory_host::{AgentMemory, CallError, Limits, Outcome, Reason};
use agent_memory_tests::images::guests;
use serde_json::json;
use tokio::sync::Mutex;

const MIB: usize = 1 << 20;

/// One test at a time: the processor's time of the process is what is looked at.
static ALONE: Mutex<()> = Mutex::const_new(());

async fn call(tool: &str, repository: &Path, limits: Limits) -> Result<Outcome, CallError> {
    let memory = AgentMemory::builder().image(guests()).allow(repository).limits(limits);
    let arguments = json!({"repo_root": repository, "line": "a line"}).to_string();
    memory.build().expect("the memory opens").call(tool, &arguments).await
}

/// Why a call was stopped that has to be.
async fn stopped(tool: &str, limits: Limits) -> Reason {
    let repository = tempfile::tempdir().expect("a scratch directory");
    match call(tool, repository.path(), limits).await {
        Err(CallError::Ended { reason, .. }) => reason,
        Err(error) => panic!("`{tool}` ends with {error}"),
        Ok(outcome) => panic!("`{tool}` ends with {} bytes", outcome.json().len()),
    }
}

#[tokio::test]
async fn a_call_may_ask_storage_as_often_as_its_limit_says_and_not_once_more() {
    let _alone = ALONE.lock().await;
    // It opens the tree, takes the lock, reads the document and commits it.
    let needs = 4;
    let limits = |storage_calls| Limits { storage_calls, ..Limits::default() };
    let repository = tempfile::tempdir().expect("a scratch directory");
    let outcome = call("append", repository.path(), limits(needs)).await.expect("it is enough");
    assert!(outcome.answer.is_ok(), "{}", outcome.json());
    assert_eq!(stopped("append", limits(needs - 1)).await, Reason::StorageCalls);
}

#[tokio::test]
async fn a_call_may_have_as_much_memory_as_its_limit_says_and_no_more() {
    let _alone = ALONE.lock().await;
    // It makes a text of 80 MiB, which is then too long to be handed over. Beside it, it has less
    // than 4 MiB.
    let limits = |mib| Limits { memory: mib * MIB, ..Limits::default() };
    for (mib, reason) in [(80, Reason::Memory), (84, Reason::Trap)] {
        assert_eq!(stopped("vast-result", limits(mib)).await, reason, "with {mib} MiB");
    }
}

#[tokio::test]
async fn a_call_that_only_loops_has_no_more_time_than_its_limit_says() {
    let _alone = ALONE.lock().await;
    // Of the processor: a busy machine does not count.
    for limit in [Duration::from_millis(500), Limits::default().guest_time] {
        let limits = Limits { guest_time: limit, ..Limits::default() };
        let before = processor_time();
        assert_eq!(stopped("spin", limits).await, Reason::Deadline);
        let took = processor_time() - before;
        println!("{limit:?}: it took {took:?}");
        // The memory is opened meanwhile, and time is told in steps.
        let most = limit + Duration::from_millis(300);
        assert!(limit <= took + 3 * Limits::TICK && took < most, "{limit:?}: it took {took:?}");
    }
}

/// What this process has used, in its own name and the system's.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let (_, fields) = stat.rsplit_once(") ").expect("the name of the program");
    let ticks =
        fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("ticks"));
    // Linux tells them in hundredths of a second, whatever its own clock is.
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
