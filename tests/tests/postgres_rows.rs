//! The tables of toolsets on PostgreSQL: statements, transactions and their ends, whatever breaks.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_host::database::{DatabaseOptions, Migrated};
use agent_memory_host::storage::api::Documents as _;
use agent_memory_host::storage::api::database::{Dialect, Transaction as _};
use agent_memory_host::storage::{Area, Change, Error, ErrorCode, Rows, Statement, Value};
use agent_memory_storage_memory::sql;
use agent_memory_storage_postgres::{Database, Lock, Options, Server, Transaction};
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::breaking_proxy::{Break, start_proxy};
use agent_memory_tests::postgres::{Pooler, PostgresServer, url_at};
use tokio::runtime::Runtime;

const TENANT: i64 = 7;

/// A table as toolsets have them.
const TABLE: &str = "CREATE TABLE agent_memory.things (
    tenant agent_memory.tenant,
    key bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    name text COLLATE \"C\",
    PRIMARY KEY (tenant, key),
    UNIQUE (tenant, name)
)";

struct Scratch {
    server: Server,
    runtime: Runtime,
    database: PostgresServer,
}

impl Scratch {
    /// A server with a table. `None` without PostgreSQL.
    #[track_caller]
    fn start() -> Option<Self> {
        let database = PostgresServer::start()?;
        let server = server_at(database.socket_directory());
        server.execute(TABLE).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Some(Scratch { server, runtime, database })
    }

    fn lock(&self, scope: Option<&str>, wait: Duration) -> Result<Arc<Lock>, Error> {
        lock(&self.runtime, &self.server, scope, wait)
    }

    /// A transaction that writes, under the lock of the whole place.
    fn write(&self) -> Transaction {
        let lock = self.lock(None, TIMEOUT).unwrap();
        self.runtime.block_on(self.server.database().begin_write(lock)).unwrap()
    }

    fn read(&self) -> Transaction {
        self.runtime.block_on(self.server.database().begin_read()).unwrap()
    }

    fn names(&self) -> Vec<Vec<Value>> {
        rows(self.server.database().query(&text("SELECT name FROM things ORDER BY key"), 100))
    }
}

fn server_at(directory: &Path) -> Server {
    server_of_tenant(directory, TENANT)
}

fn server_of_tenant(directory: &Path, tenant: i64) -> Server {
    let url = url_at(directory).parse().unwrap();
    let statement_time = Duration::from_secs(60);
    Server::new(Options { url, connections: 4, tenant, statement_time }).unwrap()
}

fn lock(
    runtime: &Runtime,
    server: &Server,
    scope: Option<&str>,
    wait: Duration,
) -> Result<Arc<Lock>, Error> {
    runtime.block_on(server.tree("records", "").lock(scope.map(str::to_owned), wait))
}

fn statement(sql: &str, parameters: Vec<Value>) -> Statement {
    Statement { sql: sql.to_owned(), parameters }
}

fn text(sql: &str) -> Statement {
    statement(sql, Vec::new())
}

fn insert(name: &str) -> Statement {
    statement("INSERT INTO things (name) VALUES (?1)", vec![Value::Text(name.to_owned())])
}

fn rows(answer: Result<Rows, Error>) -> Vec<Vec<Value>> {
    answer.unwrap().rows
}

fn code<T>(answer: Result<T, Error>) -> ErrorCode {
    answer.map(drop).unwrap_err().code
}

fn named(names: &[&str]) -> Vec<Vec<Value>> {
    names.iter().map(|name| vec![Value::Text((*name).to_owned())]).collect()
}

fn put(path: &str) -> Change {
    let area = Area::Documents;
    Change::Put { area, path: path.into(), contents: b"text".to_vec(), expects: None }
}

#[test]
fn values_of_each_type_go_to_the_server_and_come_back() {
    let Some(scratch) = Scratch::start() else { return };
    let database = scratch.server.database();
    let values = vec![
        Value::Null,
        Value::Integer(i64::MIN),
        Value::Real(-0.1),
        Value::Real(f64::NAN),
        Value::Text("it's ?1 — ü".to_owned()),
        Value::Blob(vec![0, 255]),
    ];
    let sent = statement("SELECT ?1, ?2, ?3, ?4, ?5, ?6, '?1' AS quoted", values.clone());
    let got = database.query(&sent, 10).unwrap();
    assert_eq!(got.columns.last().unwrap(), "quoted");
    let mut expected = values;
    expected[3] = Value::Null;
    expected.push(Value::Text("?1".to_owned()));
    assert_eq!(got.rows, [expected]);

    let others = "SELECT 1::int2, 2::int4, true, 0.5::float4, 'a'::varchar, 'b'::name, \
                  sum(v), avg(v), NULL::numeric FROM (VALUES (1::bigint), (2)) AS t (v)";
    let expected = vec![
        Value::Integer(1),
        Value::Integer(2),
        Value::Integer(1),
        Value::Real(0.5),
        Value::Text("a".to_owned()),
        Value::Text("b".to_owned()),
        Value::Integer(3),
        Value::Real(1.5),
        Value::Null,
    ];
    assert_eq!(rows(database.query(&text(others), 10)), [expected]);
    // The server infers the type of null from its place in the statement.
    let transaction = scratch.write();
    let null = statement("INSERT INTO things (name) VALUES (?1)", vec![Value::Null]);
    let effects = transaction.execute(&[null, insert("a"), text("SELECT 1")]).unwrap();
    let changes: Vec<_> = effects.iter().map(|one| one.changes).collect();
    assert_eq!(changes, [1, 1, 0]);
    let returned = transaction.query(&text("DELETE FROM things RETURNING tenant, name"), 10);
    let tenant = Value::Integer(TENANT);
    let expected = [vec![tenant.clone(), Value::Null], vec![tenant, Value::Text("a".to_owned())]];
    assert_eq!(rows(returned), expected);
    transaction.commit().unwrap();
    assert_eq!((transaction.dialect(), scratch.names()), (Dialect::Postgres, vec![]));
}

#[test]
fn a_query_returns_as_many_rows_as_are_asked_for_and_at_most_16_mib() {
    let Some(scratch) = Scratch::start() else { return };
    let database = scratch.server.database();
    let all = text("SELECT n FROM generate_series(1, 5000) AS n");
    for (most, is_truncated) in [(0, true), (4999, true), (5000, false)] {
        let got = database.query(&all, most).unwrap();
        assert_eq!((got.rows.len(), got.truncated), (most as usize, is_truncated));
    }
    let long = text("SELECT repeat('x', 1048576) FROM generate_series(1, 17)");
    assert_eq!(code(database.query(&long, 100)), ErrorCode::TooLarge);
    assert_eq!(database.query(&long, 15).unwrap().rows.len(), 15);
    let transaction = scratch.read();
    assert_eq!(code(transaction.query(&long, 100)), ErrorCode::TooLarge);
    let parameters = vec![Value::Blob(vec![0; 16 * 1024 * 1024 + 1])];
    assert_eq!(code(database.query(&statement("SELECT ?1", parameters), 1)), ErrorCode::TooLarge);
}

#[test]
fn statements_that_are_not_granted_or_not_possible_are_refused_and_change_nothing() {
    let Some(scratch) = Scratch::start() else { return };
    let database = scratch.server.database();
    let change = insert("a");
    let refused = database.query(&change, 1).unwrap_err();
    assert_eq!(refused.code, ErrorCode::ReadOnly);
    assert!(refused.message.contains("needs a write transaction"), "{refused}");
    assert_eq!(code(scratch.read().execute(&[change])), ErrorCode::ReadOnly);
    for (sql, expected) in [
        ("COMMIT", ErrorCode::NotGranted),
        ("SET agent_memory.tenant = '1'", ErrorCode::NotGranted),
        ("SELECT set_config('agent_memory.tenant', '1', true)", ErrorCode::NotGranted),
        ("SELECT 1; SELECT 2", ErrorCode::Io),
        ("SELECT ?1", ErrorCode::Io),
        ("SELECT nonsense", ErrorCode::Io),
    ] {
        assert_eq!(code(database.query(&text(sql), 1)), expected, "{sql}");
        assert_eq!(code(scratch.write().execute(&[insert("a"), text(sql)])), expected, "{sql}");
    }
    let nul = [insert("a"), insert("b\0")];
    let refused = scratch.write().execute(&nul).unwrap_err();
    assert!(refused.message.contains("NUL (U+0000)"), "{refused}");
    let absent = statement("SELECT 1 WHERE ?1 = 'b'", vec![Value::Text("b\0".into())]);
    assert!(rows(database.query(&absent, 1)).is_empty(), "a text with NUL is nowhere");
    let json = statement("SELECT texts(?1)::text", vec![Value::Text(r#"["\u0000"]"#.into())]);
    let refused = database.query(&json, 1).unwrap_err();
    assert!(refused.message.contains("NUL (U+0000)"), "{refused}");
    let noise = (0..20_000u32).map(|n| char::from_u32(0x4e00 + n * 7919 % 20_000).unwrap());
    let noise: String = noise.collect();
    let refused = scratch.write().execute(&[insert("c"), insert(&noise)]).unwrap_err();
    assert_eq!(refused.code, ErrorCode::TooLarge, "{refused}");
    assert!(refused.message.contains("too long for an index"), "{refused}");
    assert!(scratch.names().is_empty());
}

#[test]
fn a_call_has_one_transaction_and_no_other_work_on_its_database_meanwhile() {
    let Some(scratch) = Scratch::start() else { return };
    let database = scratch.server.database();
    let lock = scratch.lock(Some("ada"), TIMEOUT).unwrap();
    let begin_write =
        |database: &Database| scratch.runtime.block_on(database.begin_write(lock.clone()));
    let transaction = begin_write(&database).unwrap();
    assert_eq!(code(database.query(&text("SELECT 1"), 1)), ErrorCode::Nested);
    assert_eq!(code(scratch.runtime.block_on(database.begin_read())), ErrorCode::Nested);
    assert_eq!(code(database.check_free()), ErrorCode::Nested);
    // The same holds for another handle of the database.
    assert_eq!(code(begin_write(&scratch.server.database())), ErrorCode::Nested);
    transaction.execute(&[insert("a")]).unwrap();
    transaction.commit().unwrap();
    assert_eq!(code(transaction.commit()), ErrorCode::Nested);
    assert_eq!(code(transaction.execute(&[])), ErrorCode::Nested);
    drop(transaction);
    // The writer can go on: with documents, with rows, after a rollback, and with an empty transaction.
    lock.commit(vec![put("a")]).unwrap();
    let again = begin_write(&database).unwrap();
    again.execute(&[insert("b")]).unwrap();
    drop(again);
    lock.commit(vec![put("b")]).unwrap();
    begin_write(&database).unwrap().commit().unwrap();
    assert_eq!(scratch.names(), named(&["a"]));
}

#[test]
fn documents_join_the_transaction_that_the_call_has_on_rows() {
    let Some(scratch) = Scratch::start() else { return };
    let lock = scratch.lock(None, TIMEOUT).unwrap();
    let begin = || {
        let database = scratch.server.database();
        scratch.runtime.block_on(database.begin_write(lock.clone())).unwrap()
    };
    let is_there = |path: &str| {
        let reader = scratch.server.tree("records", "").reader();
        reader.stat(Area::Documents, path).unwrap().is_some()
    };
    let transaction = begin();
    transaction.execute(&[insert("a")]).unwrap();
    lock.commit(vec![put("a")]).unwrap();
    assert!(!is_there("a") && scratch.names().is_empty());
    transaction.commit().unwrap();
    assert!(is_there("a"));
    drop(transaction);
    // A rollback undoes the document and the row.
    let transaction = begin();
    transaction.execute(&[insert("b")]).unwrap();
    lock.commit(vec![put("b")]).unwrap();
    drop(transaction);
    assert!(!is_there("b"));
    // A refused document undoes the row, too.
    let transaction = begin();
    transaction.execute(&[insert("c")]).unwrap();
    assert_eq!(lock.commit(vec![put("a")]).unwrap_err().error.code, ErrorCode::VersionMismatch);
    assert_eq!(lock.commit(vec![put("c")]).unwrap_err().error.code, ErrorCode::Io);
    assert_eq!(code(transaction.commit()), ErrorCode::Io);
    drop(transaction);
    assert!(!is_there("c"));
    assert_eq!(scratch.names(), named(&["a"]));
}

#[test]
fn a_failed_statement_rolls_back_its_transaction() {
    let Some(scratch) = Scratch::start() else { return };
    let transaction = scratch.write();
    transaction.execute(&[insert("a")]).unwrap();
    let refused = transaction.execute(&[insert("b"), insert("a"), insert("c")]).unwrap_err();
    assert_eq!(refused.code, ErrorCode::AlreadyExists, "{refused}");
    // The lock of the failed transaction is free, although the transaction is not dropped yet.
    let other = scratch.write();
    other.execute(&[insert("d")]).unwrap();
    other.commit().unwrap();
    for later in [transaction.execute(&[insert("a")]).map(drop), transaction.commit()] {
        let later = later.unwrap_err();
        assert_eq!(later.code, ErrorCode::Io);
        assert!(later.message.contains("was rolled back after an error"), "{later}");
    }
    drop(transaction);
    assert_eq!(scratch.names(), named(&["d"]));
}

#[test]
fn a_transaction_that_reads_sees_one_snapshot() {
    let Some(scratch) = Scratch::start() else { return };
    let reading = scratch.read();
    let count = text("SELECT count(*) FROM things");
    assert_eq!(rows(reading.query(&count, 1)), [[Value::Integer(0)]]);
    let writing = scratch.write();
    writing.execute(&[insert("a")]).unwrap();
    writing.commit().unwrap();
    assert_eq!(rows(reading.query(&count, 1)), [[Value::Integer(0)]]);
    reading.commit().unwrap();
    assert_eq!(scratch.names(), named(&["a"]));
}

#[test]
fn writers_of_one_scope_come_one_after_the_other_and_those_of_two_scopes_at_once() {
    let Some(scratch) = Scratch::start() else { return };
    // The first writer of a place makes the row that all its writers lock.
    scratch.write().commit().unwrap();
    let other_server = server_at(scratch.database.socket_directory());
    let other = |scope, wait| lock(&scratch.runtime, &other_server, scope, wait);
    let first = scratch.lock(Some("ada"), TIMEOUT).unwrap();
    let begun = scratch.runtime.block_on(scratch.server.database().begin_write(first.clone()));
    let begun = begun.unwrap();
    begun.execute(&[insert("a")]).unwrap();
    let short = Duration::from_millis(20);
    assert_eq!(code(other(Some("ada"), short)), ErrorCode::Busy);
    assert_eq!(code(other(None, short)), ErrorCode::Busy);
    let second = other(Some("bob"), TIMEOUT).unwrap();
    let beside = scratch.runtime.block_on(other_server.database().begin_write(second)).unwrap();
    beside.execute(&[insert("b")]).unwrap();
    beside.commit().unwrap();
    begun.commit().unwrap();
    // The commit has released the lock.
    drop(other(Some("ada"), TIMEOUT).unwrap());
    assert_eq!(scratch.names(), named(&["a", "b"]));
}

#[test]
fn a_writer_of_a_place_waits_for_no_later_writer_of_a_scope() {
    let Some(scratch) = Scratch::start() else { return };
    // The first writer of a place, also one of a scope, makes the row at which writers queue: the gate.
    let scoped = scratch.lock(Some("ada"), TIMEOUT).unwrap();
    let database = scratch.server.database();
    scratch.runtime.block_on(database.begin_write(scoped)).unwrap().commit().unwrap();
    let first = scratch.lock(Some("ada"), TIMEOUT).unwrap();
    let order = Mutex::new(Vec::new());
    let waits = text("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    let wait_for = |number: usize| {
        let until = Instant::now() + TIMEOUT;
        while rows(scratch.server.database().query(&waits, 9)).len() < number {
            assert!(Instant::now() < until, "{number} wait");
            thread::sleep(Duration::from_millis(1));
        }
    };
    let take = |wanted: Option<&'static str>| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let server = server_at(scratch.database.socket_directory());
        let lock = lock(&runtime, &server, wanted, TIMEOUT).unwrap();
        order.lock().unwrap().push(wanted);
        drop(lock);
    };
    thread::scope(|scope| {
        scope.spawn(|| take(None));
        wait_for(1);
        scope.spawn(|| take(Some("bob")));
        wait_for(2);
        drop(first);
    });
    assert_eq!(order.into_inner().unwrap(), [None, Some("bob")]);
}

#[test]
fn a_transaction_whose_connection_breaks_is_made_as_a_whole_or_not_at_all() {
    let Some(scratch) = Scratch::start() else { return };
    for (name, broken) in [("before", Break::Before), ("after", Break::After)] {
        let directory = tempfile::tempdir().unwrap();
        start_proxy(directory.path(), scratch.database.socket_directory(), broken);
        let server = server_at(directory.path());
        let held = lock(&scratch.runtime, &server, Some("ada"), TIMEOUT).unwrap();
        let database = server.database();
        let begin = || scratch.runtime.block_on(database.begin_write(held.clone())).unwrap();
        let transaction = begin();
        transaction.execute(&[insert(name)]).unwrap();
        let committed = transaction.commit();
        let is_there = scratch.names().contains(&vec![Value::Text(name.to_owned())]);
        if broken == Break::After {
            assert!(committed.is_ok() && is_there, "{committed:?}");
            continue;
        }
        let error = committed.unwrap_err();
        assert_eq!(error.code, ErrorCode::Busy);
        assert!(error.message.contains("nothing was changed: try again"), "{error}");
        assert!(!is_there);
        drop(transaction);
        // After the failed commit, the same writer takes its lock again.
        let again = begin();
        again.execute(&[insert(name)]).unwrap();
        again.commit().unwrap();
    }
    assert_eq!(scratch.names(), named(&["before", "after"]));
}

#[test]
fn a_query_is_repeated_once_if_its_connection_was_dead() {
    let Some(mut scratch) = Scratch::start() else { return };
    let database = scratch.server.database();
    let one = text("SELECT 1");
    for _ in 0..2 {
        assert_eq!(rows(database.query(&one, 1)), [[Value::Integer(1)]]);
        assert_eq!(rows(scratch.read().query(&one, 1)), [[Value::Integer(1)]]);
        let writing = scratch.write();
        writing.execute(&[insert("a")]).unwrap();
        // All connections end.
        scratch.database.restart();
        let lost = writing.execute(&[insert("b")]).unwrap_err();
        assert_eq!(lost.code, ErrorCode::Busy, "{lost}");
        assert!(lost.message.contains("nothing was changed: try again"), "{lost}");
        assert_eq!(code(writing.commit()), ErrorCode::Io);
    }
    assert!(scratch.names().is_empty());
}

#[test]
fn a_statement_ends_when_nobody_waits_for_it_any_more() {
    let Some(scratch) = Scratch::start() else { return };
    let database = scratch.server.database();
    let is_asleep = text("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    let count = || rows(scratch.server.database().query(&is_asleep, 9)).len();
    thread::scope(|scope| {
        let sleeping = scope.spawn(|| database.query(&text("SELECT 1 FROM pg_sleep(3600)"), 1));
        while count() == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        database.give_up();
        assert_eq!(code(sleeping.join().unwrap()), ErrorCode::Cancelled);
    });
    // The server has ended the statement, too.
    while count() > 0 {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(code(database.query(&text("SELECT 1"), 1)), ErrorCode::Cancelled);
}

#[test]
fn no_setting_outlives_its_transaction_behind_a_pooler() {
    let Some(scratch) = Scratch::start() else { return };
    let Some(pooler) = Pooler::start(&scratch.database, 2) else { return };
    // The three servers share the two connections of the pooler.
    let servers = [1, 2, 3].map(|tenant| server_of_tenant(pooler.socket_directory(), tenant));
    for _ in 0..5 {
        for server in &servers {
            let database = server.database();
            let scope = format!("scope-{}", server.tenant());
            let held = lock(&scratch.runtime, server, Some(&scope), TIMEOUT).unwrap();
            let begun = scratch.runtime.block_on(database.begin_write(held)).unwrap();
            let made =
                begun.query(&text("INSERT INTO things (name) VALUES (NULL) RETURNING tenant"), 1);
            assert_eq!(rows(made), [[Value::Integer(server.tenant())]]);
            begun.commit().unwrap();
            drop(begun);
            let reading = scratch.runtime.block_on(database.begin_read()).unwrap();
            let asked = text("SELECT current_setting('agent_memory.tenant')::bigint");
            assert_eq!(rows(reading.query(&asked, 1)), [[Value::Integer(server.tenant())]]);
            reading.commit().unwrap();
            drop(reading);
            assert_eq!(rows(database.query(&asked, 1)), [[Value::Integer(server.tenant())]]);
        }
    }
    let own = text("SELECT count(*) FROM things GROUP BY tenant");
    assert_eq!(
        rows(scratch.server.database().query(&own, 9)),
        [[Value::Integer(5)], [Value::Integer(5)], [Value::Integer(5)]]
    );
}

#[test]
fn functions_of_sqlite_answer_the_same_on_the_server() {
    let Some(scratch) = Scratch::start() else { return };
    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
    let moments = [
        "2025-01-20T10:00:00.000Z",
        "2025-01-20T10:00:59.999Z",
        "2025-01-20 10:00:00",
        "2025-01-20 23:59",
        "2025-01-20",
        "2025-02-31 00:00:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2025-01-20T10:00:00+05:30",
        "2025-01-20T10:00:00-14:00",
        "2025-01-20T10:00Z",
        "2025-13-01",
        "2025-01-20 24:00:00",
        "2025-01-20 10:00:60",
        "2025-01-20 10",
        "2025-01-20T10:00:00.Z",
        "yesterday",
        "",
    ];
    let mut asked: Vec<String> = moments.iter().map(|at| format!("unixepoch('{at}')")).collect();
    asked.extend(
        [
            "unixepoch(NULL)",
            "instr('abc', 'c')",
            "instr('abc', 'd')",
            "instr('abc', '')",
            "instr('äöü', 'ü')",
            "instr(NULL, 'a')",
            "typeof('a')",
            "typeof(NULL)",
            "(SELECT count(*) FROM json_each('[]'))",
        ]
        .map(str::to_owned),
    );
    for expression in asked {
        let query = format!("SELECT {expression}");
        let expected = &sql::rows(&sqlite, &query).unwrap()[0][0];
        let got = &rows(scratch.server.database().query(&text(&query), 1))[0][0];
        let got = match got {
            Value::Integer(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            _ => serde_json::Value::Null,
        };
        assert_eq!(got, *expected, "{expression}");
    }
    let list = |sql: &str, json: &str| {
        let asked = statement(sql, vec![Value::Text(json.to_owned())]);
        rows(scratch.server.database().query(&asked, 10))
    };
    let each = "SELECT value FROM json_each(?1)";
    assert_eq!(list(each, r#"["b", "a", "ü\n"]"#), named(&["b", "a", "ü\n"]));
    let integers = "SELECT n FROM generate_series(1, 9) AS n WHERE n = ANY (integers(?1))";
    assert_eq!(list(integers, "[3, 5]"), [[Value::Integer(3)], [Value::Integer(5)]]);
    let texts = "SELECT v FROM (VALUES ('a'), ('b')) AS t (v) WHERE v = ANY (texts(?1))";
    assert_eq!((list(texts, r#"["b", "c"]"#), list(texts, "[]")), (named(&["b"]), vec![]));
}

#[test]
fn tables_of_the_first_version_are_brought_to_this_one() {
    let Some(scratch) = Scratch::start() else { return };
    let own = "'version', 'places', 'documents', 'scopes', 'calls'";
    let drop_others = format!(
        "DO $$ DECLARE found text; BEGIN \
         FOR found IN SELECT tablename FROM pg_tables \
             WHERE schemaname = 'agent_memory' AND tablename NOT IN ({own}) \
         LOOP EXECUTE 'DROP TABLE agent_memory.' || found || ' CASCADE'; END LOOP; \
         FOR found IN SELECT oid::regprocedure::text FROM pg_proc \
             WHERE pronamespace = 'agent_memory'::regnamespace \
         LOOP EXECUTE 'DROP FUNCTION ' || found; END LOOP; END $$; \
         DROP DOMAIN agent_memory.tenant, agent_memory.place; UPDATE agent_memory.version SET version = 1"
    );
    scratch.server.execute(&drop_others).unwrap();
    let options = || DatabaseOptions::new(scratch.database.url());
    let earlier = options().check().unwrap_err();
    assert!(earlier.message.contains("run `agent-memory database migrate`"), "{earlier}");
    assert_eq!(options().migrate().unwrap(), Migrated::Updated);
    assert_eq!(options().migrate().unwrap(), Migrated::UpToDate);
    options().check().unwrap();
    for table in ["agents", "memories", "memory_tags", "core_memories", "items"] {
        let count = text(&format!("SELECT count(*) FROM {table}"));
        assert_eq!(rows(scratch.server.database().query(&count, 1)), [[Value::Integer(0)]]);
    }
}
