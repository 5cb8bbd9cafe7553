//! Tests of errors.

use super::*;
use crate::storage::PlaceKind;
use std::os::unix::fs::symlink;
use std::process::Command;

fn code(result: Result<impl std::fmt::Debug, Error>) -> ErrorCode {
    result.unwrap_err().code
}

#[test]
fn no_statement_reaches_beyond_the_database_or_outlives_the_call() {
    let (scene, database) = Scene::with_table();
    let away = scene.base.path().join("away.db");
    let away = away.to_str().unwrap();
    let statements = [
        format!("ATTACH '{away}' AS away"),
        "ATTACH ':memory:' AS away".to_owned(),
        "DETACH main".to_owned(),
        format!("SELECT load_extension('{away}')"),
        "SELECT fts3_tokenizer('simple')".to_owned(),
        "BEGIN".to_owned(),
        "BEGIN IMMEDIATE".to_owned(),
        " COMMIT ".to_owned(),
        "COMMIT".to_owned(),
        "ROLLBACK".to_owned(),
        "SAVEPOINT a".to_owned(),
        "CREATE TEMP TABLE u (x)".to_owned(),
        "CREATE TABLE temp.u (x)".to_owned(),
        "CREATE VIRTUAL TABLE Temp.u USING fts5(x)".to_owned(),
        "CREATE TEMP VIEW v AS SELECT 1".to_owned(),
        "CREATE VIEW temp.v AS SELECT 1".to_owned(),
        "CREATE TRIGGER temp.r AFTER INSERT ON main.t BEGIN SELECT 1; END".to_owned(),
        "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END".to_owned(),
        "PRAGMA journal_mode = WAL".to_owned(),
        "PRAGMA journal_mode = DELETE".to_owned(),
        "PRAGMA synchronous = OFF".to_owned(),
        "PRAGMA Writable_Schema = ON".to_owned(),
        "PRAGMA main.page_size = 512".to_owned(),
        "PRAGMA foreign_keys = OFF".to_owned(),
        "PRAGMA case_sensitive_like = ON".to_owned(),
        "SELECT * FROM pragma_database_list".to_owned(),
    ];
    for text in &statements {
        let transaction = || begin(&database, Mode::Write(None)).unwrap();
        let changed = transaction().execute(&[sql(text)]).expect_err(text);
        assert_eq!(changed.code, ErrorCode::NotGranted, "{text}");
        let read = transaction().query(&sql(text), 1).expect_err(text);
        assert_eq!(read.code, ErrorCode::NotGranted, "{text}");
        let outside = code(database.query(&sql(text), 1));
        assert!([ErrorCode::NotGranted, ErrorCode::ReadOnly].contains(&outside), "{text}");
    }
    let vacuum = sql(&format!("VACUUM INTO '{away}'"));
    assert_eq!(code(database.query(&vacuum, 1)), ErrorCode::ReadOnly);
    assert_eq!(code(write(&database, &[vacuum])), ErrorCode::Io, "not in a transaction");
    assert!(!Path::new(away).exists());
    assert_eq!(count(&database), 0);
}

#[test]
fn the_statements_that_the_core_needs_are_allowed() {
    let (_scene, database) = Scene::with_table();
    for text in [
        "PRAGMA user_version",
        "PRAGMA integrity_check",
        "PRAGMA table_info(t)",
        "SELECT name FROM pragma_table_info('t')",
        "SELECT value FROM json_each('[1]')",
    ] {
        database.query(&sql(text), 10).expect(text);
    }
    let fts = "CREATE VIRTUAL TABLE f USING fts5(x, tokenize = 'trigram case_sensitive 1')";
    let changes = [
        sql("PRAGMA user_version = 7"),
        sql(fts),
        sql("INSERT INTO f (rowid, x) VALUES (1, 'abcdef')"),
        sql("INSERT INTO f (f) VALUES ('optimize')"),
        sql("ALTER TABLE t RENAME COLUMN x TO y"),
        sql("ALTER TABLE t ADD COLUMN z"),
        sql("CREATE INDEX i ON t (y)"),
        sql("ANALYZE"),
    ];
    write(&database, &changes).unwrap();
    assert_eq!(number(&database, "PRAGMA user_version"), 7);
    assert_eq!(number(&database, "SELECT rowid FROM f WHERE f MATCH 'bcd'"), 1);
}

#[test]
fn changes_need_a_write_transaction() {
    let (_scene, database) = Scene::with_table();
    let reads = |query: &dyn Fn(&Statement) -> Result<Rows, Error>| {
        for text in ["DELETE FROM t", "DROP TABLE t", "PRAGMA user_version = 7", "VACUUM"] {
            assert_eq!(code(query(&sql(text))), ErrorCode::ReadOnly, "{text}");
        }
    };
    reads(&|statement| database.query(statement, 1));
    let transaction = || begin(&database, Mode::Read).unwrap();
    reads(&|statement| transaction().query(statement, 1));
    assert_eq!(code(transaction().execute(&[insert(1)])), ErrorCode::ReadOnly);
}

#[test]
fn a_text_is_one_valid_statement_with_all_its_parameters() {
    let (_scene, database) = Scene::with_table();
    let one = Value::Integer(1);
    for (statement, why) in [
        (sql("SELECT 1; SELECT 2"), "one statement"),
        (sql(""), "one statement"),
        (sql(" -- nothing\n"), "one statement"),
        (sql("SELECT ?1"), "takes 1 parameters and was given 0"),
        (with("SELECT 1", std::slice::from_ref(&one)), "takes 0 parameters and was given 1"),
        (sql("SELECT nothing"), "nothing"),
        (sql("SELEC"), "SELEC"),
    ] {
        let error = database.query(&statement, 1).unwrap_err();
        assert_eq!(error.code, ErrorCode::Io, "{error}");
        assert!(error.message.contains(why), "{error}");
    }
    assert_eq!(database.query(&sql("SELECT 1;"), 1).unwrap().rows, [[one]]);
}

#[test]
fn rows_or_parameters_of_more_than_16_mib_are_too_large() {
    let (_scene, database) = Scene::with_table();
    let most = MAX_ROWS_BYTES - 8;
    let zeros = |bytes: usize| with("SELECT zeroblob(?1)", &[Value::Integer(bytes as i64)]);
    assert_eq!(database.query(&zeros(most), 1).unwrap().rows.len(), 1);
    for bytes in [most + 1, 1 << 30] {
        assert_eq!(code(database.query(&zeros(bytes), 1)), ErrorCode::TooLarge);
    }
    let many = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2097153) \
                SELECT x FROM n";
    assert_eq!(code(database.query(&sql(many), u32::MAX)), ErrorCode::TooLarge);
    let long = with("SELECT length(?1)", &[Value::Blob(vec![0; MAX_ROWS_BYTES + 1])]);
    assert_eq!(code(database.query(&long, 1)), ErrorCode::TooLarge);
}

#[test]
fn text_that_is_not_utf_8_is_a_blob() {
    let (_scene, database) = Scene::with_table();
    let rows = database.query(&sql("SELECT CAST(x'ff' AS TEXT)"), 1).unwrap().rows;
    assert_eq!(rows, [[Value::Blob(vec![0xff])]]);
}

#[test]
fn a_broken_constraint_other_than_unique_is_named() {
    let (_scene, database) = Scene::with_table();
    write(&database, &[sql("CREATE TABLE u (y INTEGER NOT NULL REFERENCES t CHECK (y > 0))")])
        .unwrap();
    for value in ["NULL", "0", "7"] {
        let insert = sql(&format!("INSERT INTO u VALUES ({value})"));
        let error = write(&database, &[insert]).unwrap_err();
        assert_eq!(error.code, ErrorCode::Io, "{error}");
        assert!(error.message.contains("constraint failed"), "{error}");
    }
}

#[test]
fn a_damaged_database_is_reported_as_damaged() {
    let scene = Scene::new();
    fs::create_dir_all(scene.at("")).unwrap();
    fs::write(scene.at("things.db"), "no database at all".repeat(1000)).unwrap();
    let error = open(&scene.storage, true).unwrap_err();
    assert_eq!(error.code, ErrorCode::Corrupted);
    assert!(error.message.contains("damaged"), "{error}");
}

#[test]
fn a_database_that_is_a_directory_or_a_link_is_refused() {
    let scene = Scene::new();
    let path = scene.at("things.db");
    fs::create_dir_all(&path).unwrap();
    let open = || code(open(&scene.storage, true));
    assert_eq!(open(), ErrorCode::InvalidPath);
    fs::remove_dir(&path).unwrap();
    symlink(scene.base.path().join("away"), &path).unwrap();
    assert_eq!(open(), ErrorCode::InvalidPath);
    assert!(!scene.base.path().join("away").exists());
}

#[test]
fn a_link_in_place_of_a_file_that_sqlite_keeps_beside_the_database_is_named() {
    for name in ["things.db-wal", "things.db-shm"] {
        let (scene, database) = Scene::with_table();
        let path = scene.at(name);
        let Scene { base, storage: opened } = scene;
        drop((database, opened));
        symlink(base.path().join("away"), path).unwrap();
        let storage = storage(base.path(), StorageOptions::default());
        let error = open(&storage, false).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidPath, "{error}");
        assert!(error.message.contains(name), "{error}");
    }
}

#[test]
fn a_place_or_database_that_was_not_granted_is_not_opened_and_the_error_says_what_to_do() {
    let storage = Storage::new(StorageOptions::default());
    let place = Place::named(LABEL);
    let kind = PlaceKind::Named(LABEL.to_owned());
    let unknown = storage.open(&place, &[]).unwrap_err();
    assert!(unknown.message.contains(LABEL), "{unknown}");
    storage.know_place(LABEL, "give it a directory");
    let missing = storage.open(&place, &[]).unwrap_err();
    assert_eq!(missing.message, "give it a directory");
    for error in [unknown, missing, storage.list_places(&kind, &[]).unwrap_err()] {
        assert_eq!(error.code, ErrorCode::NotGranted, "{error}");
    }
    assert_eq!(storage.place_directory(LABEL), None);

    let scene = Scene::new();
    assert_eq!(scene.storage.list_places(&kind, &[]).unwrap(), [""]);
    let directory = scene.base.path().canonicalize().unwrap().join("a/things");
    assert_eq!(scene.storage.place_directory(LABEL), Some(directory));
    let created = scene.storage.create_place(&place, LockTimeout::new(Duration::ZERO));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(code(runtime.block_on(created)), ErrorCode::NotGranted);
    let of_family = Place::Named { label: LABEL.to_owned(), name: "one".to_owned() };
    assert_eq!(code(scene.storage.open(&of_family, &[])), ErrorCode::InvalidPath);
    for name in ["other.db", "../things.db", ""] {
        let opened = tree(&scene.storage).open_database(name, DatabaseKind::Kept, true);
        assert_eq!(code(opened), ErrorCode::NotGranted, "{name}");
    }
    let missing = open(&scene.storage, false).unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound);
    assert!(missing.message.contains("a/things/things.db"), "{missing}");
    assert!(!scene.at("").exists(), "looking makes nothing");
}

#[test]
fn a_writer_waits_for_other_programs_within_its_timeout() {
    let (scene, database) = Scene::with_table();
    let foreign = rusqlite::Connection::open(scene.at("things.db")).unwrap();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = begin_within(&database, Mode::Write(None), SHORT).unwrap_err();
    assert_eq!(busy.code, ErrorCode::Busy);
    assert!(busy.message.contains("another program"), "{busy}");
    let commits = std::thread::spawn(move || {
        std::thread::sleep(SHORT * 3);
        foreign.execute_batch("COMMIT").unwrap();
    });
    write(&database, &[insert(1)]).unwrap();
    commits.join().unwrap();
}

#[test]
fn a_writer_waits_for_the_lock_within_its_timeout() {
    let (scene, database) = Scene::with_table();
    let other = storage(scene.base.path(), StorageOptions::default());
    let other = open(&other, false).unwrap();
    let transaction = begin(&other, Mode::Write(None)).unwrap();
    let busy = begin_within(&database, Mode::Write(None), SHORT).unwrap_err();
    assert_eq!(busy.code, ErrorCode::Busy);
    drop(transaction);
    begin_within(&database, Mode::Write(None), SHORT).unwrap();
}

/// Mounts the directory `of` read-only at `at`. The error says why this system cannot do it.
fn read_only_view(of: &Path, at: &Path) -> Result<ReadOnlyView, String> {
    let run = |arguments: &[&std::ffi::OsStr]| {
        let output = Command::new("mount").args(arguments).output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    fs::create_dir(at).map_err(|error| error.to_string())?;
    run(&["--bind".as_ref(), of.as_ref(), at.as_ref()])?;
    let view = ReadOnlyView(at.to_owned());
    run(&["-o".as_ref(), "remount,ro,bind".as_ref(), at.as_ref()])?;
    Ok(view)
}

struct ReadOnlyView(PathBuf);

impl Drop for ReadOnlyView {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_database_on_a_read_only_medium_can_be_read() {
    for journal in ["WAL", "DELETE"] {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("made");
        fs::create_dir(&directory).unwrap();
        let made = rusqlite::Connection::open(directory.join("things.db")).unwrap();
        let sql_text = "CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)";
        made.execute_batch(&format!("PRAGMA journal_mode = {journal}; {sql_text}")).unwrap();
        drop(made);
        let at = base.path().join("a view");
        let _view = match read_only_view(&directory, &at) {
            Ok(view) => view,
            Err(reason) => return no_mount(&reason),
        };
        let storage = Storage::new(StorageOptions::default());
        grant(&storage, &at);
        let database = open(&storage, true).unwrap();
        assert_eq!(count(&database), 1);
        let reads = begin(&database, Mode::Read).unwrap();
        reads.commit().unwrap();
        assert_eq!(code(begin(&database, Mode::Write(None))), ErrorCode::ReadOnly);
        assert!(tree(&storage).list(Area::Documents, "").unwrap().unwrap().is_empty());

        fs::remove_file(directory.join("things.db")).unwrap();
        drop((reads, database));
        let other = Storage::new(StorageOptions::default());
        grant(&other, &at);
        assert_eq!(code(open(&other, true)), ErrorCode::ReadOnly);
    }
}

fn no_mount(reason: &str) {
    crate::skip::skip(&format!("a bind mount is not possible: {reason}"));
}

/// A database in WAL mode with a row in its table `t`.
fn database_in(directory: &Path) -> rusqlite::Connection {
    fs::create_dir(directory).unwrap();
    let made = rusqlite::Connection::open(directory.join("things.db")).unwrap();
    let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)";
    made.execute_batch(&format!("PRAGMA journal_mode = WAL; {table}")).unwrap();
    made
}

#[test]
fn a_database_read_as_immutable_is_busy_if_another_program_changes_it() {
    let base = tempfile::tempdir().unwrap();
    let directory = base.path().join("made");
    drop(database_in(&directory));
    let at = base.path().join("view");
    let _view = match read_only_view(&directory, &at) {
        Ok(view) => view,
        Err(reason) => return no_mount(&reason),
    };
    let storage = Storage::new(StorageOptions::default());
    grant(&storage, &at);
    let database = open(&storage, false).unwrap();
    assert_eq!(count(&database), 1);
    let reads = begin(&database, Mode::Read).unwrap();
    let other = rusqlite::Connection::open(directory.join("things.db")).unwrap();
    other.execute_batch("INSERT INTO t VALUES (2, 3)").unwrap();
    let error = reads.query(&sql("SELECT x FROM t"), 9).unwrap_err();
    assert_eq!(error.code, ErrorCode::Busy, "{error}");
    assert!(error.message.contains("changed while it was read"), "{error}");
    // The error ended the transaction.
    assert_eq!(code(reads.query(&sql("SELECT x FROM t"), 9)), ErrorCode::Io);
    drop((reads, database, other));
    let again = open(&storage, false).unwrap();
    assert_eq!(count(&again), 2, "it was not kept");
}

#[test]
fn a_write_ahead_log_beside_a_read_only_database_is_named() {
    let base = tempfile::tempdir().unwrap();
    let made = base.path().join("made");
    let left = base.path().join("left");
    let _open = database_in(&made);
    fs::create_dir(&left).unwrap();
    for name in ["things.db", "things.db-wal"] {
        fs::copy(made.join(name), left.join(name)).unwrap();
    }
    let at = base.path().join("view");
    let _view = match read_only_view(&left, &at) {
        Ok(view) => view,
        Err(reason) => return no_mount(&reason),
    };
    let storage = Storage::new(StorageOptions::default());
    grant(&storage, &at);
    let error = open(&storage, false).unwrap_err();
    assert_eq!(error.code, ErrorCode::ReadOnly, "{error}");
    assert!(error.message.contains("things.db-wal`"), "{error}");
}
