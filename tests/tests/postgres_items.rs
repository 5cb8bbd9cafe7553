//! Writers of items on PostgreSQL, at once. Writers of two namespaces do not wait for each other. The
//! removal of expired rows loses no item that is written meanwhile.

use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::storage::api::database::Transaction as _;
use agent_memory_host::storage::{Statement, Value};
use agent_memory_host::{AgentMemory, Clock};
use agent_memory_storage_postgres::{Server, Transaction};
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::postgres::{PostgresServer, database};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

/// The time of the first server's clock.
const NOW: &str = "2026-01-20T10:00:00Z";

/// The time of a clock that runs ahead. By this clock, items that the first server keeps for an hour
/// have expired.
const LATER: &str = "2026-01-20T12:00:00Z";

const HOUR: u64 = 3_600;

struct Scene {
    memory: AgentMemory,
    /// The memory of a server whose clock runs ahead.
    ahead: AgentMemory,
    runtime: Runtime,
    database: Server,
    /// The number of transactions that the test has begun.
    transactions: AtomicI64,
    _postgres: PostgresServer,
}

impl Scene {
    /// Two servers with one memory. `None` without PostgreSQL.
    #[track_caller]
    fn start() -> Option<Self> {
        let postgres = PostgresServer::start()?;
        let memory = |now: &str| {
            let clock = Clock::Fixed { start: now.parse().unwrap(), step: Duration::ZERO };
            let options = DatabaseOptions::new(postgres.url());
            let builder = AgentMemory::builder().toolsets(["items", "memory"]).clock(clock);
            builder.database(options).build().unwrap()
        };
        Some(Self {
            memory: memory(NOW),
            ahead: memory(LATER),
            runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap(),
            database: database(&postgres.url_text()),
            transactions: AtomicI64::default(),
            _postgres: postgres,
        })
    }

    #[track_caller]
    fn call(&self, memory: &AgentMemory, tool: &str, arguments: &Json) -> Json {
        let outcome = self.runtime.block_on(memory.call(tool, &arguments.to_string())).unwrap();
        let answer: Json = serde_json::from_str(outcome.json()).unwrap();
        assert_eq!(answer.get("error"), None, "{answer}");
        answer
    }

    fn put(&self, memory: &AgentMemory, namespace: &str, value: u64, ttl: Option<u64>) -> Json {
        let item = json!({
            "namespace": ["users", namespace], "key": "k", "value": {"n": value}, "ttl_seconds": ttl,
        });
        self.call(memory, "put_item", &item)
    }

    fn value(&self, memory: &AgentMemory, namespace: &str) -> Json {
        let key = json!({ "namespace": ["users", namespace], "key": "k" });
        self.call(memory, "get_item", &key)["item"]["value"]["n"].clone()
    }

    /// Runs a statement in a transaction of another program, which stays open.
    fn begin(&self, sql: &str) -> Transaction {
        let scope = format!("test-{}", self.transactions.fetch_add(1, Ordering::SeqCst));
        let transaction = self.runtime.block_on(async {
            let lock = self.database.tree("test", "").lock(Some(scope), TIMEOUT).await.unwrap();
            self.database.database().begin_write(lock).await.unwrap()
        });
        transaction.query(&text(sql), 10).unwrap();
        transaction
    }

    /// The namespaces of all rows.
    fn stored(&self) -> Vec<Vec<Value>> {
        let sql = "SELECT namespace FROM items ORDER BY namespace";
        self.database.database().query(&text(sql), 100).unwrap().rows
    }

    /// Waits until a transaction waits for another.
    fn wait_for_a_waiter(&self) {
        let until = Instant::now() + TIMEOUT;
        let waits = text("SELECT 1 FROM pg_locks WHERE NOT granted");
        while self.database.database().query(&waits, 1).unwrap().rows.is_empty() {
            assert!(Instant::now() < until, "nobody waits");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn text(sql: &str) -> Statement {
    Statement { sql: sql.to_owned(), parameters: Vec::new() }
}

fn row_of(namespace: &str) -> String {
    format!(r#"namespace = '["users","{namespace}"]'"#)
}

fn namespaces(names: &[&str]) -> Vec<Vec<Value>> {
    let stored = |name: &&str| vec![Value::Text(format!(r#"["users","{name}"]"#))];
    names.iter().map(stored).collect()
}

#[test]
fn a_writer_of_items_waits_for_none_of_another_namespace() {
    let Some(scene) = Scene::start() else { return };
    let all = ["ada", "bob"];
    for name in all {
        scene.put(&scene.memory, name, 1, None);
    }
    let open = scene.begin(&format!("SELECT 1 FROM items WHERE {} FOR UPDATE", row_of("ada")));
    thread::scope(|scope| {
        let first = scope.spawn(|| scene.put(&scene.memory, "ada", 2, None));
        // The transaction of the put is open, with the lock of its namespace.
        scene.wait_for_a_waiter();
        for memory in [&scene.memory, &scene.ahead] {
            scene.put(memory, "bob", 3, None);
            let put =
                json!({"put": {"namespace": ["users", "bob"], "key": "k", "value": {"n": 4}}});
            scene.call(memory, "batch_items", &json!({ "operations": [put] }));
        }
        assert_eq!(scene.value(&scene.memory, "bob"), 4);
        assert!(!first.is_finished());
        open.commit().unwrap();
        assert_eq!(first.join().unwrap()["is_new"], false);
    });
    assert_eq!(scene.value(&scene.memory, "ada"), 2);
}

#[test]
fn expired_items_go_with_a_change_of_another_namespace_unless_a_transaction_has_them() {
    let Some(scene) = Scene::start() else { return };
    for name in ["ada", "bob"] {
        scene.put(&scene.memory, name, 1, Some(HOUR));
    }
    let open = scene.begin(&format!("SELECT 1 FROM items WHERE {} FOR UPDATE", row_of("ada")));
    scene.put(&scene.ahead, "cat", 1, None);
    assert_eq!(scene.stored(), namespaces(&["ada", "cat"]));
    open.commit().unwrap();
    scene.put(&scene.ahead, "cat", 2, None);
    assert_eq!(scene.stored(), namespaces(&["cat"]));
}

#[test]
fn an_item_that_is_put_while_its_row_is_removed_as_expired_is_there_afterwards() {
    let Some(scene) = Scene::start() else { return };
    scene.put(&scene.memory, "ada", 1, Some(HOUR));
    // Removes the row, as a change of another namespace does on the server whose clock runs ahead.
    let sweep = scene.begin(&format!("DELETE FROM items WHERE {}", row_of("ada")));
    thread::scope(|scope| {
        let put = scope.spawn(|| scene.put(&scene.memory, "ada", 2, None));
        scene.wait_for_a_waiter();
        sweep.commit().unwrap();
        assert_eq!(put.join().unwrap()["is_new"], true);
    });
    assert_eq!(scene.value(&scene.memory, "ada"), 2);
}

/// How many puts each writer of the race makes.
const PUTS: u64 = 30;

#[test]
fn no_item_is_lost_while_clocks_differ_and_batches_take_the_whole_place() {
    let Some(scene) = Scene::start() else { return };
    thread::scope(|scope| {
        for (name, memory) in
            [("ada", &scene.memory), ("bob", &scene.memory), ("cat", &scene.ahead)]
        {
            let scene = &scene;
            scope.spawn(move || {
                for number in 0..PUTS {
                    // The other server removes the item that expires, or the next put replaces it.
                    scene.put(memory, name, number, Some(HOUR));
                    scene.put(memory, name, number, None);
                    assert_eq!(scene.value(memory, name), number, "{name}");
                }
            });
        }
        let put = |name: &str| json!({"put": {"namespace": [name], "key": "k", "value": {"n": 1}}});
        for _ in 0..PUTS {
            let both = json!({ "operations": [put("both"), put("others")] });
            scene.call(&scene.ahead, "batch_items", &both);
        }
    });
}
