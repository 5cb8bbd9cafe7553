mod derived;
mod locks;
mod processes;
mod refusals;

use super::*;
use crate::storage::api::database::Transaction as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

const LABEL: &str = "things";
const NAME: &str = "things.db";

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(30);

/// A place that does not exist yet, in an existing directory.
struct Scene {
    base: tempfile::TempDir,
    storage: Storage,
}

impl Scene {
    fn new() -> Self {
        Scene::with(StorageOptions { lock_wait: LONG, ..StorageOptions::default() })
    }

    fn with(options: StorageOptions) -> Self {
        let base = tempfile::tempdir().unwrap();
        let storage = storage(base.path(), options);
        Scene { base, storage }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.base.path().join("a/things").join(name)
    }

    fn open(&self) -> Database {
        open(&self.storage, true).unwrap()
    }

    /// A database with a table `t (id INTEGER PRIMARY KEY, x UNIQUE)`.
    fn with_table() -> (Self, Database) {
        let scene = Scene::new();
        let database = scene.open();
        let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, x UNIQUE)";
        write(&database, &[sql(table)]).unwrap();
        (scene, database)
    }
}

fn storage(base: &Path, options: StorageOptions) -> Storage {
    let storage = Storage::new(options);
    grant(&storage, &base.join("a/things"));
    storage
}

fn grant(storage: &Storage, directory: &Path) {
    let place = NamedPlace {
        label: LABEL.to_owned(),
        kind: NamedPlaceKind::Directory,
        path: directory.to_owned(),
        is_private: true,
        databases: vec![NAME.to_owned()],
    };
    storage.grant_place(place).unwrap();
}

fn tree(storage: &Storage) -> Tree {
    storage.open(&Place::named(LABEL), &[]).unwrap()
}

fn open(storage: &Storage, create: bool) -> Result<Database, Error> {
    tree(storage).open_database(NAME, DatabaseKind::Kept, create)
}

fn sql(text: &str) -> Statement {
    Statement { sql: text.to_owned(), parameters: Vec::new() }
}

fn with(text: &str, parameters: &[Value]) -> Statement {
    Statement { sql: text.to_owned(), parameters: parameters.to_vec() }
}

fn insert(value: i64) -> Statement {
    with("INSERT INTO t (x) VALUES (?1)", &[Value::Integer(value)])
}

fn begin(database: &Database, mode: Mode<'_>) -> Result<Transaction, Error> {
    begin_within(database, mode, LONG)
}

fn begin_within(database: &Database, mode: Mode<'_>, wait: Duration) -> Result<Transaction, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(database.begin(mode, None, LockTimeout::new(wait)))
}

fn write(database: &Database, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
    let transaction = begin(database, Mode::Write(None))?;
    let effects = transaction.execute(statements)?;
    transaction.commit()?;
    Ok(effects)
}

/// The single number in the result of a query.
fn number(database: &Database, text: &str) -> i64 {
    match database.query(&sql(text), 1).unwrap().rows[0][0] {
        Value::Integer(number) => number,
        ref other => panic!("{other:?}"),
    }
}

fn count(database: &Database) -> i64 {
    number(database, "SELECT count(*) FROM t")
}

#[test]
fn values_are_read_as_they_were_written() {
    let (_scene, database) = Scene::with_table();
    let values = [
        Value::Null,
        Value::Integer(i64::MIN),
        Value::Integer(i64::MAX),
        Value::Integer((1 << 53) + 1),
        Value::Real(0.1),
        Value::Real(f64::INFINITY),
        Value::Real(5e-324),
        Value::Text(String::new()),
        Value::Text("a\0b ß \u{10ffff} '\"".to_owned()),
        Value::Blob(Vec::new()),
        Value::Blob(vec![0, 0xff, 0x80]),
    ];
    for value in &values {
        let insert = "INSERT INTO t (x) VALUES (?1) RETURNING x, ?1";
        let insert = with(insert, std::slice::from_ref(value));
        let transaction = begin(&database, Mode::Write(None)).unwrap();
        let returned = transaction.query(&insert, 10).unwrap();
        assert_eq!(returned.columns, ["x", "?1"]);
        assert_eq!(returned.rows, [vec![value.clone(), value.clone()]]);
        transaction.commit().unwrap();
    }
    let kept = database.query(&sql("SELECT x FROM t ORDER BY id"), 100).unwrap();
    assert_eq!(kept.rows.concat(), values);
    assert!(!kept.truncated);
    let nan = with("SELECT ?1", &[Value::Real(f64::NAN)]);
    assert_eq!(database.query(&nan, 1).unwrap().rows, [[Value::Null]]);
}

#[test]
fn a_query_returns_at_most_the_rows_asked_for_and_says_if_there_are_more() {
    let (_scene, database) = Scene::with_table();
    write(&database, &[insert(1), insert(2), insert(3)]).unwrap();
    for (max, given, truncated) in [(0, 0, true), (2, 2, true), (3, 3, false), (4, 3, false)] {
        let rows = database.query(&sql("SELECT x FROM t"), max).unwrap();
        assert_eq!((rows.rows.len(), rows.truncated), (given, truncated), "{max}");
    }
    let transaction = begin(&database, Mode::Write(None)).unwrap();
    let some = transaction.query(&sql("UPDATE t SET x = x + 10 RETURNING x"), 1).unwrap();
    assert!(some.truncated && some.rows.len() == 1);
    transaction.commit().unwrap();
    assert_eq!(number(&database, "SELECT min(x) FROM t"), 11);
}

#[test]
fn effects_count_rows() {
    let (_scene, database) = Scene::with_table();
    let effects = write(
        &database,
        &[
            sql("UPDATE t SET x = 0"),
            insert(7),
            with("INSERT INTO t (x) VALUES (?1), (?2)", &[Value::Integer(8), Value::Integer(9)]),
            sql("CREATE TABLE u (y)"),
            sql("DELETE FROM t WHERE x > 7"),
        ],
    );
    assert_eq!(effects.unwrap(), [0, 1, 2, 0, 2].map(|changes| Effect { changes }));
}

#[test]
fn a_failed_statement_ends_its_transaction_and_the_next_one_can_begin() {
    let (scene, database) = Scene::with_table();
    let transaction = begin(&database, Mode::Write(None)).unwrap();
    let error = transaction.execute(&[insert(1), insert(1), insert(2)]).unwrap_err();
    assert_eq!(error.code, ErrorCode::AlreadyExists, "{error}");
    assert!(error.message.contains("t.x"), "{error}");
    assert_eq!(error.detail.as_deref(), Some("SQLite result code 2067"));
    for later in [
        transaction.execute(&[insert(3)]).unwrap_err(),
        transaction.query(&sql("SELECT 1"), 1).unwrap_err(),
        transaction.commit().unwrap_err(),
    ] {
        assert_eq!(later.code, ErrorCode::Io, "{later}");
        assert!(later.message.contains("begin again"), "{later}");
    }
    let other = storage(scene.base.path(), StorageOptions::default());
    drop(begin_within(&open(&other, false).unwrap(), Mode::Write(None), SHORT).unwrap());
    assert_eq!(count(&database), 0);
}

#[test]
fn an_uncommitted_transaction_changes_nothing_and_the_next_one_can_begin() {
    let (scene, database) = Scene::with_table();
    let transaction = begin(&database, Mode::Write(None)).unwrap();
    transaction.execute(&[insert(1)]).unwrap();
    drop(transaction);
    assert_eq!(count(&database), 0);

    let other = storage(scene.base.path(), StorageOptions::default());
    let other = open(&other, false).unwrap();
    drop(begin_within(&other, Mode::Write(None), SHORT).unwrap());
    write(&database, &[insert(2)]).unwrap();
    assert_eq!(count(&other), 1);
}

#[test]
fn only_the_transaction_itself_reads_its_changes_before_the_commit() {
    let (scene, database) = Scene::with_table();
    let other = scene.open();
    let transaction = begin(&database, Mode::Write(None)).unwrap();
    transaction.execute(&[insert(1)]).unwrap();
    let counts = transaction.query(&sql("SELECT count(*) FROM t"), 1).unwrap();
    assert_eq!(counts.rows, [[Value::Integer(1)]]);
    assert_eq!(count(&other), 0);
    transaction.commit().unwrap();
    assert_eq!(count(&other), 1);
}

#[test]
fn a_read_transaction_sees_one_view_from_its_begin() {
    let (scene, database) = Scene::with_table();
    let reader = scene.open();
    let reads = begin(&reader, Mode::Read).unwrap();
    write(&database, &[insert(1)]).unwrap();
    let counts = reads.query(&sql("SELECT count(*) FROM t"), 1).unwrap();
    assert_eq!(counts.rows, [[Value::Integer(0)]]);
    reads.commit().unwrap();
    assert_eq!(count(&reader), 1);
}

#[test]
fn a_connection_has_one_transaction_at_a_time_which_commits_once() {
    let (_scene, database) = Scene::with_table();
    let nested = |error: Error| assert_eq!(error.code, ErrorCode::Nested, "{error}");
    let transaction = begin(&database, Mode::Read).unwrap();
    nested(begin(&database, Mode::Read).unwrap_err());
    nested(begin(&database, Mode::Write(None)).unwrap_err());
    nested(database.query(&sql("SELECT 1"), 1).unwrap_err());
    transaction.commit().unwrap();
    nested(transaction.commit().unwrap_err());
    nested(transaction.query(&sql("SELECT 1"), 1).unwrap_err());
    nested(transaction.execute(&[insert(1)]).unwrap_err());
    database.query(&sql("SELECT 1"), 1).unwrap();
    begin(&database, Mode::Write(None)).unwrap();
}

#[test]
fn a_statement_that_runs_for_too_long_is_interrupted_and_ends_its_transaction() {
    let options = StorageOptions { statement_time: SHORT, ..StorageOptions::default() };
    let scene = Scene::with(options);
    let database = scene.open();
    write(&database, &[sql("CREATE TABLE t (x)")]).unwrap();
    let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";
    let query = sql(&format!("{endless} SELECT count(*) FROM n"));
    let error = database.query(&query, 1).unwrap_err();
    assert_eq!(error.code, ErrorCode::Cancelled, "{error}");
    assert!(error.message.contains("30ms"), "{error}");

    let transaction = begin(&database, Mode::Write(None)).unwrap();
    transaction.execute(&[sql("INSERT INTO t VALUES (1)")]).unwrap();
    let change = sql(&format!("INSERT INTO t {endless} SELECT x FROM n"));
    let error = transaction.execute(&[change]).unwrap_err();
    assert_eq!(error.code, ErrorCode::Cancelled, "{error}");
    for error in [
        transaction.execute(&[sql("INSERT INTO t VALUES (2)")]).unwrap_err(),
        transaction.query(&sql("SELECT 1"), 1).unwrap_err(),
        transaction.commit().unwrap_err(),
    ] {
        assert_eq!(error.code, ErrorCode::Io, "{error}");
        assert!(error.message.contains("begin again"), "{error}");
    }
    assert_eq!(count(&database), 0);
}

#[test]
fn the_statement_of_a_dropped_call_is_interrupted_and_its_lock_is_free() {
    let (scene, database) = Scene::with_table();
    let transaction = Arc::new(begin(&database, Mode::Write(None)).unwrap());
    let runs = transaction.clone();
    let thread = std::thread::spawn(move || {
        let endless = "INSERT INTO t (x) WITH RECURSIVE n (x) AS \
                       (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
        runs.execute(&[sql(endless)]).unwrap_err()
    });
    std::thread::sleep(SHORT);
    let started = Instant::now();
    drop(transaction);
    database.give_up();
    let error = thread.join().unwrap();
    assert_eq!(error.code, ErrorCode::Cancelled, "{error}");
    assert!(error.message.contains("given up"), "{error}");
    assert!(started.elapsed() < LONG / 4);
    drop(database);
    // The next call can use the interrupted connection.
    let next = scene.open();
    write(&next, &[insert(1)]).unwrap();
    assert_eq!(count(&next), 1);
}

#[test]
fn a_new_database_and_its_directories_are_for_their_owner_alone() {
    let (scene, database) = Scene::with_table();
    let transaction = begin(&database, Mode::Write(None)).unwrap();
    transaction.execute(&[insert(1)]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let names = ["things.db", "things.db-shm", "things.db-wal"];
    for name in names {
        assert_eq!(mode(&scene.at(name)), 0o600, "{name}");
    }
    for name in ["queue.sqlite", "turn.sqlite"] {
        let name = format!(".agent-memory/{name}");
        assert_eq!(mode(&scene.at(&name)), 0o600, "{name}");
    }
    for name in [".", "..", ".agent-memory"] {
        assert_eq!(mode(&scene.at(name)), 0o700, "{name}");
    }
    let mut kept: Vec<_> =
        fs::read_dir(scene.at("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    kept.sort();
    assert_eq!(kept, [".agent-memory", names[0], names[1], names[2]], "and nothing else");
}

#[test]
fn the_journal_mode_of_an_existing_database_is_kept() {
    let scene = Scene::new();
    fs::create_dir_all(scene.at("")).unwrap();
    let path = scene.at("things.db");
    let made = rusqlite::Connection::open(&path).unwrap();
    made.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, x)").unwrap();
    let database = scene.open();
    write(&database, &[insert(1)]).unwrap();
    let mode: String = made.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
    // In this journal mode, a commit waits for a reader.
    let reads = std::thread::spawn(move || {
        made.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        std::thread::sleep(SHORT * 3);
        made.execute_batch("COMMIT").unwrap();
    });
    std::thread::sleep(SHORT);
    write(&database, &[insert(2)]).unwrap();
    reads.join().unwrap();
    assert_eq!(count(&database), 2);
}

#[test]
fn a_commit_to_a_database_that_was_moved_away_fails() {
    let (scene, database) = Scene::with_table();
    let transaction = begin(&database, Mode::Write(None)).unwrap();
    transaction.execute(&[insert(1)]).unwrap();
    fs::rename(scene.at("things.db"), scene.at("elsewhere.db")).unwrap();
    let error = transaction.commit().unwrap_err();
    assert_eq!(error.code, ErrorCode::Io);
    assert!(error.message.contains("moved away"), "{error}");
}

#[test]
fn no_document_has_the_name_of_a_database_or_of_a_lock_file() {
    let (scene, _database) = Scene::with_table();
    let tree = tree(&scene.storage);
    let listed = tree.list(Area::Documents, "").unwrap().unwrap();
    assert!(listed.is_empty(), "the host's own files are hidden: {listed:?}");
    for own in ["things.db", "THINGS.DB-wal", ".agent-memory/turn.sqlite"] {
        let error = tree.read(Area::Documents, own, 1 << 20).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidPath, "{error}");
    }
    assert!(tree.read(Area::Documents, "things.db.json", 10).unwrap().is_none());
}
