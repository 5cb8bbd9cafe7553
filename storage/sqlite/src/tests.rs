use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_memory_storage::database::{Kind, Mode, Rows, Statement, Transaction as _, Value};
use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{DatabaseFile, Durability, Layout};

use super::session::journal_mode;
use super::*;

const NAME: &str = "things.db";

/// A directory for databases, and the idle connections.
struct Scene {
    base: tempfile::TempDir,
    idle: Arc<IdleConnections>,
    options: Options,
}

impl Scene {
    fn with(durability: Durability) -> Self {
        let seconds = Duration::from_secs(30);
        let statement_time = seconds;
        let busy_wait = seconds;
        let options = Options { durability, statement_time, busy_wait, looks_only: false };
        Scene { base: tempfile::tempdir().unwrap(), idle: Arc::default(), options }
    }

    fn path(&self) -> PathBuf {
        self.base.path().canonicalize().unwrap().join("things")
    }

    fn layout(&self) -> Layout {
        Layout::from_directory(&self.path(), "things", true, &[NAME.to_owned()]).unwrap()
    }

    fn open(&self, kind: Kind, create: bool) -> Result<Database, Error> {
        Database::open(&self.layout(), NAME, kind, create, self.options, &self.idle)
    }

    fn is_idle(&self) -> bool {
        self.idle.take(&self.path().join(NAME)).is_some()
    }
}

fn sql(text: &str) -> Statement {
    Statement { sql: text.to_owned(), parameters: Vec::new() }
}

fn write(database: &Database, text: &str) {
    if database.is_new().unwrap() {
        database.create_journal(Instant::now()).unwrap();
    }
    let transaction = database.try_begin(Mode::Write(None), None).unwrap().expect("it is free");
    transaction.execute(&[sql(text)]).unwrap();
    transaction.commit().unwrap();
}

fn count(database: &Database) -> i64 {
    let Rows { rows, .. } = database.query(&sql("SELECT count(*) FROM t"), 1).unwrap();
    let Value::Integer(count) = rows[0][0] else { panic!("{rows:?}") };
    count
}

#[test]
fn only_a_derived_database_that_cannot_be_read_is_replaced() {
    let scene = Scene::with(Durability::Full);
    for kind in [Kind::Kept, Kind::Derived] {
        write(&scene.open(kind, true).unwrap(), "CREATE TABLE t (x)");
        let path = DatabaseFile::new(&scene.layout(), NAME, kind).unwrap().path;
        // Closes the connection, if the system keeps it open.
        drop(scene.idle.take(&path));
        std::fs::write(&path, "garbage ".repeat(1_000)).unwrap();
        let read = scene.open(kind, false).map(drop).unwrap_err();
        assert_eq!(read.code, ErrorCode::Corrupted);
        match scene.open(kind, true) {
            Ok(database) => {
                assert_eq!(kind, Kind::Derived);
                write(&database, "CREATE TABLE t (x)");
                assert_eq!(count(&database), 0);
            }
            Err(error) => assert_eq!((kind, error.code), (Kind::Kept, ErrorCode::Corrupted)),
        }
    }
}

#[test]
fn a_derived_database_that_was_cut_within_a_page_is_made_anew() {
    let scene = Scene::with(Durability::Full);
    for kind in [Kind::Kept, Kind::Derived] {
        write(&scene.open(kind, true).unwrap(), "CREATE TABLE t AS SELECT 1 AS x");
        let path = DatabaseFile::new(&scene.layout(), NAME, kind).unwrap().path;
        // Closes the connection, which brings its log into the file.
        drop(scene.idle.take(&path));
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 4).unwrap();
        // Windows removes no file that is open.
        drop(file);
        match kind {
            Kind::Kept => {
                scene.open(kind, true).unwrap();
                assert!(path.metadata().unwrap().len() > 0, "what is kept is never removed");
            }
            Kind::Derived => {
                let read = scene.open(kind, false).map(drop).unwrap_err();
                assert_eq!(read.code, ErrorCode::Corrupted);
                write(&scene.open(kind, true).unwrap(), "CREATE TABLE t (x)");
                assert_eq!(count(&scene.open(kind, false).unwrap()), 0);
            }
        }
    }
}

#[test]
fn the_deadline_of_a_statement_is_not_that_of_the_commit_after_it() {
    let scene = Scene::with(Durability::Full);
    let database = scene.open(Kind::Kept, true).unwrap();
    write(&database, "CREATE TABLE t (x)");
    // SQLite counts the steps of the prepared COMMIT over all its runs.
    for _ in 0..600 {
        let transaction = database.try_begin(Mode::Write(None), None).unwrap().unwrap();
        transaction.execute(&[sql("INSERT INTO t VALUES (1)")]).unwrap();
        database.0.interrupt.end_now();
        transaction.commit().unwrap();
    }
}

#[test]
fn a_new_database_has_a_journal_mode_without_known_damage() {
    assert_eq!(journal_mode(3_051_002), "DELETE");
    assert_eq!(journal_mode(3_051_003), "WAL");
    let scene = Scene::with(Durability::Full);
    write(&scene.open(Kind::Kept, true).unwrap(), "CREATE TABLE t (x)");
    let mode = |path: &Path| -> String {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap()
    };
    let expected = journal_mode(rusqlite::version_number()).to_lowercase();
    assert_eq!(mode(&scene.path().join(NAME)), expected);
}

#[test]
fn connections_stay_open_with_their_statements_and_forget_the_call_before() {
    let scene = Scene::with(Durability::Full);
    let database = scene.open(Kind::Kept, true).unwrap();
    write(&database, "CREATE TABLE t (x)");
    database.give_up();
    drop(database);
    let again = scene.open(Kind::Kept, false).unwrap();
    assert!(!scene.is_idle(), "it is in use");
    write(&again, "INSERT INTO t VALUES (1)");
    drop(again);

    // A database that was removed and created again is opened again.
    std::fs::remove_dir_all(scene.path()).unwrap();
    assert!(!scene.is_idle());
    let missing = scene.open(Kind::Kept, false).unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound, "{missing}");
    write(&scene.open(Kind::Kept, true).unwrap(), "CREATE TABLE t (x)");
    assert_eq!(count(&scene.open(Kind::Kept, false).unwrap()), 0);
}

#[test]
fn a_kept_database_is_synced_as_its_durability_says_and_a_derived_one_is_not() {
    for (durability, kind, synchronous) in [
        (Durability::Full, Kind::Kept, 2),
        (Durability::Relaxed, Kind::Kept, 1),
        (Durability::Full, Kind::Derived, 0),
        (Durability::Relaxed, Kind::Derived, 0),
    ] {
        let database = Scene::with(durability).open(kind, true).unwrap();
        let connection = database.0.connection().unwrap();
        let read = || connection.sqlite.pragma_query_value(None, "synchronous", |row| row.get(0));
        let set: i64 = connection.as_host(read).unwrap();
        assert_eq!(set, synchronous, "{durability:?} {kind:?}");
    }
}

#[test]
fn a_text_that_is_not_utf_8_is_read_as_a_blob() {
    let scene = Scene::with(Durability::Relaxed);
    let database = scene.open(Kind::Kept, true).unwrap();
    write(&database, "CREATE TABLE t AS SELECT CAST(x'41ff' AS TEXT) AS x UNION ALL SELECT 'a'");
    let rows = database.query(&sql("SELECT x FROM t ORDER BY rowid"), 9).unwrap().rows;
    assert_eq!(rows, [[Value::Blob(vec![0x41, 0xff])], [Value::Text("a".to_owned())]]);
}
