//! Many calls that exceed their limits, beside calls that do not. Each call over a limit ends with an
//! error that names the limit. The other calls are answered meanwhile. The memory of the process stays
//! bounded, at its peak and afterwards.
//!
//! These tests have a process of their own, since they measure its memory.

use std::fs;
use std::time::Duration;

use agent_memory_host::{AgentMemory, CallError, Limits, Outcome, Reason};
use agent_memory_tests::images::guests;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Mutex;

/// How often each tool is called.
const ROUNDS: usize = 8;
const MIB: usize = 1 << 20;

/// The tools, and why each is stopped.
const WAYS: [(&str, Reason); 13] = [
    ("spin", Reason::Deadline),
    ("spin-locked", Reason::Deadline),
    ("grow", Reason::Memory),
    ("storm", Reason::StorageCalls),
    ("hoard", Reason::Trap),
    ("flood", Reason::Trap),
    ("panic", Reason::Trap),
    ("trap-while-locked", Reason::Trap),
    ("complain", Reason::Trap),
    ("recurse", Reason::Trap),
    ("recurse-in-memory", Reason::Trap),
    ("recurse-locked", Reason::Trap),
    ("vast-result", Reason::Trap),
];

/// One test at a time, since they measure the memory of the process.
static ALONE: Mutex<()> = Mutex::const_new(());

#[derive(Clone)]
struct Scene {
    memory: AgentMemory,
    /// A memory with a short time limit, for calls that only loop.
    hasty: AgentMemory,
    arguments: String,
}

impl Scene {
    const MEMORIES: usize = 2;

    fn new(repository: &TempDir) -> Self {
        // A long time limit, since the machine may be busy.
        let limits = Limits {
            guest_time: Duration::from_secs(60),
            storage_calls: 10_000,
            ..Limits::default()
        };
        let hasty = Limits { guest_time: Duration::from_millis(200), ..limits };
        let memory = |limits| {
            AgentMemory::builder()
                .image(guests())
                .allow(repository.path())
                .limits(limits)
                .lock_wait(Duration::from_secs(60))
                .build()
                .expect("the memory opens")
        };
        let arguments = json!({"repo_root": repository.path(), "line": "sound"}).to_string();
        Self { memory: memory(limits), hasty: memory(hasty), arguments }
    }

    async fn call(&self, tool: &str) -> Result<Outcome, CallError> {
        let memory = if tool.starts_with("spin") { &self.hasty } else { &self.memory };
        memory.call(tool, &self.arguments).await
    }

    async fn runs_away(&self, tool: &str, expected: Reason) {
        match self.call(tool).await {
            Err(CallError::Ended { reason, message }) => {
                assert_eq!(reason, expected, "{message}");
                assert!(message.len() < 16 << 10, "a message of {} bytes", message.len());
            }
            Ok(outcome) => panic!("`{tool}` ends with {} bytes", outcome.json().len()),
            Err(error) => panic!("`{tool}` ends with {} bytes", error.to_string().len()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_exceed_limits_harm_no_others_and_leave_no_memory_behind() {
    let _alone = ALONE.lock().await;
    let repository = tempfile::tempdir().expect("a scratch directory");
    let scene = Scene::new(&repository);
    let before = resident();
    let mut sound = 0;
    for _ in 0..ROUNDS {
        for (tool, reason) in WAYS {
            let beside = scene.clone();
            let another = scene.clone();
            let runs_away = tokio::spawn(async move { another.runs_away(tool, reason).await });
            // Other calls are answered while it runs and after it.
            loop {
                let is_last = runs_away.is_finished();
                for tool in ["count", "read"] {
                    let outcome = beside.call(tool).await.expect("a sound call");
                    assert!(outcome.answer.is_ok(), "{}", outcome.json());
                    sound += 1;
                }
                if is_last {
                    break;
                }
            }
            runs_away.await.unwrap_or_else(|panicked| panic!("`{tool}`: {panicked}"));
            let outcome = scene.call("append").await.expect("the lock is free");
            assert!(outcome.answer.is_ok(), "{}", outcome.json());
        }
    }
    let after = resident();
    let most = peak();
    println!(
        "{} calls ran away, {sound} were sound meanwhile; resident memory: {} MiB at first, {} \
         afterwards, {} at most",
        ROUNDS * WAYS.len(),
        before / MIB,
        after / MIB,
        most / MIB
    );
    let kept = Scene::MEMORIES * Limits::KEPT_MEMORY;
    assert!(after < before + kept + 32 * MIB, "memory is left behind");
    // Only one call over a limit runs at a time. It writes to at most 100 MiB of its memory and passes
    // at most 80 MiB on, which together is less than the limit of one call.
    assert!(most < before + Limits::default().memory, "one call takes too much memory");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_exceed_limits_at_once_all_end() {
    let _alone = ALONE.lock().await;
    let repository = tempfile::tempdir().expect("a scratch directory");
    let scene = Scene::new(&repository);
    let ways = WAYS.iter().filter(|(tool, _)| !matches!(*tool, "vast-result" | "flood"));
    let running: Vec<_> = ways
        .map(|(tool, reason)| {
            let scene = scene.clone();
            tokio::spawn(async move { scene.runs_away(tool, *reason).await })
        })
        .collect();
    let outcome = scene.call("append").await.expect("a sound call among them");
    assert!(outcome.answer.is_ok(), "{}", outcome.json());
    for call in running {
        call.await.expect("each ends as it does alone");
    }
}

/// A figure about this process from `/proc`, in bytes.
fn status(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the figure");
    let figure = line.trim_start_matches(':').trim().trim_end_matches(" kB");
    figure.parse::<usize>().expect("a number of kilobytes") * 1024
}

fn resident() -> usize {
    status("VmRSS")
}

fn peak() -> usize {
    status("VmHWM")
}
