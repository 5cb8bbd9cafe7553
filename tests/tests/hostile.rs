//! The native host with a component that misbehaves: `tests/guests`.

use agent_memory_host::storage::{LockTimeout, Place, Storage, StorageOptions};
use agent_memory_host::{
    AgentMemory, BoxFuture, Builder, CallError, Caller, Clock, Limits, Outcome, Random, Reason,
    Roots,
};
use agent_memory_tests::images::guests;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A scratch repository, and a memory with a grant for it.
struct Scene {
    repository: TempDir,
    memory: AgentMemory,
}

impl Scene {
    fn new() -> Scene {
        Scene::with(Limits::default(), Duration::from_secs(5))
    }

    fn with(limits: Limits, lock_wait: Duration) -> Scene {
        let repository = tempfile::tempdir().unwrap();
        let builder = AgentMemory::builder().limits(limits).lock_wait(lock_wait);
        Scene::build(repository, builder)
    }

    /// A scene with a directory of records, too.
    fn with_records(limits: Limits) -> Scene {
        let repository = tempfile::tempdir().unwrap();
        let records = repository.path().join("records");
        Scene::build(
            repository,
            AgentMemory::builder().limits(limits).setting(
                "guests",
                "directory",
                records.display().to_string(),
            ),
        )
    }

    fn build(repository: TempDir, builder: Builder) -> Scene {
        let memory = builder
            .image(guests())
            .allow(repository.path())
            .clock(Clock::Fixed {
                start: "2025-01-20T10:00:00Z".parse().unwrap(),
                step: Duration::from_secs(1),
            })
            .random(Random::Fixed(1))
            .utc_offset(0)
            .build()
            .unwrap();
        Scene { repository, memory }
    }

    fn arguments(&self, line: &str) -> String {
        json!({ "repo_root": self.repository.path(), "line": line }).to_string()
    }

    async fn call(&self, tool: &str) -> Result<Outcome, CallError> {
        self.memory.call(tool, &self.arguments(tool)).await
    }

    /// Calls a tool that has to be stopped, and returns the reason and the message.
    async fn stopped(&self, tool: &str) -> (Reason, String) {
        match self.call(tool).await {
            Err(CallError::Ended { reason, message }) => (reason, message),
            other => panic!("`{tool}` ended with {other:?}"),
        }
    }

    /// Checks that the lock is free and the memory works.
    async fn assert_sound(&self) {
        let outcome = self.call("append").await.unwrap();
        assert!(outcome.answer.is_ok(), "{}", outcome.json());
    }

    async fn lines(&self) -> Vec<String> {
        let outcome = self.call("read").await.unwrap();
        let result: Value = serde_json::from_str(outcome.json()).unwrap();
        let lines = result["lines"].as_str().unwrap();
        lines.lines().map(str::to_owned).collect()
    }

    /// Takes the repository's lock, like another writer.
    async fn hold(&self) -> agent_memory_host::storage::Writer {
        let storage = Storage::new(StorageOptions::default());
        storage.grant(self.repository.path()).unwrap();
        let place = Place::repository(self.repository.path().to_str().unwrap());
        let tree = storage.open(&place, &[]).unwrap();
        let timeout = LockTimeout::new(Duration::from_secs(5));
        tree.lock(timeout).await.unwrap()
    }
}

fn error_code(outcome: &Outcome) -> String {
    assert!(outcome.answer.is_err(), "{}", outcome.json());
    let result: Value = serde_json::from_str(outcome.json()).unwrap();
    result["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_trap_while_the_lock_is_held_leaves_it_free() {
    let scene = Scene::new();
    let (reason, message) = scene.stopped("trap-while-locked").await;
    assert_eq!(reason, Reason::Trap);
    assert!(message.contains("`trap-while-locked`"), "{message}");
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_call_that_loops_is_stopped_and_its_lock_is_free() {
    let scene = Scene::new();
    let started = Instant::now();
    let (reason, message) = scene.stopped("spin-locked").await;
    assert_eq!(reason, Reason::Deadline, "{message}");
    assert!(started.elapsed() >= Limits::default().guest_time);
    scene.assert_sound().await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_call_that_loops_does_not_block_a_runtime_with_one_thread() {
    // Longer than the other calls can take, even on a busy disk.
    let limits = Limits { guest_time: Duration::from_secs(300), ..Limits::default() };
    let scene = Scene::with(limits, Duration::from_secs(300));
    let spins = scene.call("spin");
    let others = async {
        for _ in 0..20 {
            scene.assert_sound().await;
        }
    };
    tokio::select! {
        ended = spins => panic!("it ended before the others: {ended:?}"),
        () = others => {}
    }
}

#[tokio::test]
async fn a_cancelled_call_releases_its_lock() {
    let scene = Scene::new();
    let given_up = tokio::time::timeout(Duration::from_millis(300), scene.call("spin-locked"));
    given_up.await.unwrap_err();
    scene.assert_sound().await;
}

/// Roots of a client that block the thread when the host asks for them.
struct Stuck(Arc<AtomicBool>);

impl Roots for Stuck {
    fn roots(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        while !self.0.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Box::pin(async { Vec::new() })
    }
}

/// A cancelled call counts as running until it has ended.
#[tokio::test]
async fn many_calls_that_are_cancelled_at_once_leave_instances_for_the_next() {
    let scene = Scene::new();
    let elsewhere = json!({ "repo_root": env!("CARGO_MANIFEST_DIR"), "line": "" }).to_string();
    let goes_on = Arc::new(AtomicBool::new(false));
    let given_up: Vec<_> = (0..300)
        .map(|_| {
            let memory = scene.memory.clone();
            let arguments = elsewhere.clone();
            let roots: Arc<dyn Roots> = Arc::new(Stuck(goes_on.clone()));
            let call = async move {
                memory
                    .call_as(
                        memory.arrive("read"),
                        "read",
                        &arguments,
                        Caller { roots: Some(roots), ..Caller::default() },
                    )
                    .await
            };
            tokio::spawn(tokio::time::timeout(Duration::from_secs(1), call))
        })
        .collect();
    for call in given_up {
        assert!(call.await.unwrap().is_err(), "a call that is stuck has ended");
    }
    let memory = scene.memory.clone();
    let arguments = scene.arguments("append");
    let next = tokio::spawn(async move { memory.call("append", &arguments).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!next.is_finished(), "more calls run than may: {:?}", next.await);
    goes_on.store(true, Ordering::Relaxed);
    let outcome = next.await.unwrap().expect("it gets an instance");
    assert!(outcome.answer.is_ok(), "{}", outcome.json());
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_leaves_the_queue() {
    let scene = Scene::new();
    let held = scene.hold().await;
    let given_up = tokio::time::timeout(Duration::from_millis(100), scene.call("append"));
    given_up.await.unwrap_err();
    drop(held);
    scene.assert_sound().await;
    assert_eq!(scene.lines().await, ["append"]);
}

#[tokio::test]
async fn waiting_for_a_lock_does_not_count_toward_the_deadline() {
    let scene = Scene::with(Limits::default(), Duration::from_secs(60));
    let held = scene.hold().await;
    let (outcome, ()) = tokio::join!(scene.call("append"), async {
        tokio::time::sleep(Duration::from_secs(4)).await;
        drop(held);
    });
    assert!(outcome.unwrap().answer.is_ok());
    assert_eq!(scene.lines().await, ["append"]);
}

#[tokio::test]
async fn a_writer_whose_lock_wait_ends_is_told_that_the_memory_is_busy() {
    let scene = Scene::with(Limits::default(), Duration::from_millis(200));
    let held = scene.hold().await;
    assert_eq!(error_code(&scene.call("append").await.unwrap()), "ErrorCode::Busy");
    drop(held);
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_call_that_takes_too_much_memory_is_stopped() {
    let scene = Scene::new();
    let (reason, message) = scene.stopped("grow").await;
    assert_eq!(reason, Reason::Memory, "{message}");
    assert!(message.contains("256 MiB"), "{message}");
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_call_with_too_many_storage_calls_is_stopped() {
    let scene = Scene::new();
    let (reason, message) = scene.stopped("storm").await;
    assert_eq!(reason, Reason::StorageCalls, "{message}");
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_call_that_opens_too_many_resources_is_stopped() {
    let scene = Scene::new();
    assert_eq!(scene.stopped("hoard").await.0, Reason::Trap);
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_call_that_passes_too_much_data_is_stopped() {
    let scene = Scene::new();
    assert_eq!(scene.stopped("flood").await.0, Reason::Trap);
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_panic_ends_one_call_and_says_what_the_component_printed() {
    let scene = Scene::new();
    let (reason, message) = scene.stopped("panic").await;
    assert_eq!(reason, Reason::Trap);
    assert!(message.contains("the guest panics"), "{message}");
    scene.assert_sound().await;
}

#[tokio::test]
async fn no_two_calls_share_memory() {
    let scene = Scene::new();
    for _ in 0..3 {
        let outcome = scene.call("count").await.unwrap();
        assert_eq!(outcome.json(), r#"{"count":1}"#);
    }
}

#[tokio::test]
async fn without_a_directory_of_records_no_database_is_granted() {
    let scene = Scene::new();
    let outcome = scene.call("probe-database").await.unwrap();
    assert_eq!(error_code(&outcome), "ErrorCode::NotGranted");
    let scene = Scene::with_records(Limits::default());
    let outcome = scene.call("probe-database").await.unwrap();
    assert!(outcome.answer.is_ok(), "{}", outcome.json());
}

/// Checks that the database can be written, and holds the rows of successful calls.
async fn assert_database_free(scene: &Scene, rows: u64) {
    let outcome = scene.call("add-row").await.unwrap();
    let result: Value = serde_json::from_str(outcome.json()).unwrap();
    assert_eq!(result, json!({ "rows": rows }));
}

#[tokio::test]
async fn a_trap_in_a_transaction_rolls_it_back() {
    let scene = Scene::with_records(Limits::default());
    assert_database_free(&scene, 1).await;
    assert_eq!(scene.stopped("trap-in-transaction").await.0, Reason::Trap);
    assert_database_free(&scene, 2).await;
}

#[tokio::test]
async fn a_call_that_loops_in_a_transaction_is_stopped_and_its_transaction_rolled_back() {
    let limits = Limits { guest_time: Duration::from_millis(200), ..Limits::default() };
    let scene = Scene::with_records(limits);
    assert_eq!(scene.stopped("spin-in-transaction").await.0, Reason::Deadline);
    assert_database_free(&scene, 1).await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_in_a_transaction_leaves_nothing_behind() {
    let scene = Scene::with_records(Limits::default());
    for tool in ["spin-in-transaction", "endless-statement"] {
        let given_up = tokio::time::timeout(Duration::from_millis(300), scene.call(tool));
        given_up.await.unwrap_err();
    }
    assert_database_free(&scene, 1).await;
}

#[tokio::test]
async fn a_statement_that_never_ends_is_interrupted_and_does_not_count_as_the_guests_time() {
    let limits = Limits {
        guest_time: Duration::from_millis(200),
        statement_time: Duration::from_millis(600),
        ..Limits::default()
    };
    let scene = Scene::with_records(limits);
    let outcome = scene.call("endless-statement").await.unwrap();
    assert_eq!(error_code(&outcome), "ErrorCode::Cancelled");
    assert_database_free(&scene, 1).await;
}

#[tokio::test]
async fn a_transaction_attaches_nothing_and_is_one_at_a_time_after_the_lock() {
    let scene = Scene::with_records(Limits::default());
    for (tool, code) in [
        ("attach", "ErrorCode::NotGranted"),
        ("transact-twice", "ErrorCode::Nested"),
        ("lock-in-transaction", "ErrorCode::Nested"),
    ] {
        assert_eq!(error_code(&scene.call(tool).await.unwrap()), code, "{tool}");
    }
    assert_database_free(&scene, 1).await;
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_call_may_lock_the_place_again_after_a_transaction() {
    let scene = Scene::with_records(Limits::default());
    for tool in ["lock-after-rollback", "lock-after-commit"] {
        let outcome = scene.call(tool).await.unwrap();
        assert!(outcome.answer.is_ok(), "{tool}: {}", outcome.json());
    }
    assert_database_free(&scene, 2).await;
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_call_locks_one_place_at_a_time() {
    let scene = Scene::with_records(Limits::default());
    let outcome = scene.call("lock-two-places").await.unwrap();
    assert_eq!(error_code(&outcome), "ErrorCode::Nested");
    assert_database_free(&scene, 1).await;
    let outcome = scene.call("lock-two-places-in-turn").await.unwrap();
    assert!(outcome.answer.is_ok(), "{}", outcome.json());
    // The call has committed a row, too.
    assert_database_free(&scene, 3).await;
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_transaction_under_a_writer_of_its_place_outlives_the_writer() {
    let scene = Scene::with_records(Limits::default());
    let outcome = scene.call("write-under-lock").await.unwrap();
    assert_eq!(outcome.json(), r#"{"rows":1}"#);
    assert_database_free(&scene, 2).await;
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_statement_that_fails_ends_its_transaction() {
    let scene = Scene::with_records(Limits::default());
    let outcome = scene.call("go-on-after-error").await.unwrap();
    assert_eq!(error_code(&outcome), "ErrorCode::Io");
    assert_database_free(&scene, 1).await;
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_second_lock_in_one_call_is_refused_at_once() {
    let scene = Scene::new();
    let outcome = scene.call("lock-twice").await.unwrap();
    assert_eq!(error_code(&outcome), "ErrorCode::Nested");
    scene.assert_sound().await;
}

#[tokio::test]
async fn a_backup_is_made_in_the_commit_that_changes_the_document() {
    let scene = Scene::new();
    assert_eq!(error_code(&scene.call("keep").await.unwrap()), "ErrorCode::VersionMismatch");
    scene.assert_sound().await;
    let outcome = scene.call("keep").await.unwrap();
    assert!(outcome.answer.is_ok(), "{}", outcome.json());
    let directory = scene.repository.path().join(".github/agent-memory/guest");
    let text = |name| std::fs::read_to_string(directory.join(name)).unwrap();
    assert_eq!((text("lines.txt.backup"), text("lines.txt")), ("append\n".into(), String::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_change_a_tree_in_the_order_of_their_arrival() {
    let scene = Scene::new();
    let expected: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let mut calls = Vec::new();
    for line in &expected {
        let arrival = scene.memory.arrive("append");
        let memory = scene.memory.clone();
        let arguments = scene.arguments(line);
        calls.push(async move {
            let outcome = memory.call_as(arrival, "append", &arguments, Caller::default()).await;
            assert!(outcome.unwrap().answer.is_ok());
        });
    }
    // The calls start in the opposite order, but ask for the lock in the order of their arrival.
    let running: Vec<_> = calls.into_iter().rev().map(tokio::spawn).collect();
    for call in running {
        call.await.unwrap();
    }
    assert_eq!(scene.lines().await, expected);
}

#[tokio::test]
async fn a_writer_that_is_dropped_before_it_begins_leaves_the_queue() {
    let scene = Scene::new();
    let never = scene.memory.arrive("append");
    let waits = scene.call("append");
    tokio::pin!(waits);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut waits);
    early.await.unwrap_err();
    drop(never);
    assert!(waits.await.unwrap().answer.is_ok());
}

#[tokio::test]
async fn calls_get_the_clock_and_the_seed_of_their_arrival() {
    let scene = Scene::new();
    scene.call("count").await.unwrap();
    let outcome = scene.call("append").await.unwrap();
    let result: Value = serde_json::from_str(outcome.json()).unwrap();
    assert_eq!(result, json!({ "now": 1_737_367_201_000_i64, "seed": 2 }));
}

#[tokio::test]
async fn an_unknown_tool_and_malformed_arguments_are_call_errors() {
    let scene = Scene::new();
    let unknown = scene.memory.call("no-such-tool", "{}").await;
    assert!(matches!(unknown, Err(CallError::NotFound(_))), "{unknown:?}");
    let broken = scene.memory.call("count", "{").await;
    assert!(matches!(broken, Err(CallError::InvalidRequest(_))), "{broken:?}");
}
