//! Tests of databases that can be rebuilt from documents.

use super::*;

const INDEX: &str = "index.db";

fn derived(tree: &Tree, create: bool) -> Result<Database, Error> {
    tree.open_database(INDEX, DatabaseKind::Derived, create)
}

fn with_table(tree: &Tree) -> Database {
    let database = derived(tree, true).unwrap();
    write(&database, &[sql("CREATE TABLE t (id INTEGER PRIMARY KEY, x UNIQUE)")]).unwrap();
    database
}

/// The trees of a repository and of a named place, with their directories of derived databases.
fn places() -> (tempfile::TempDir, [(Tree, PathBuf); 2]) {
    let base = tempfile::tempdir().unwrap();
    let repository = base.path().join("repository");
    fs::create_dir_all(&repository).unwrap();
    let storage = storage(base.path(), StorageOptions { lock_wait: LONG, ..Default::default() });
    storage.grant(&repository).unwrap();
    let place = Place::repository(repository.to_str().unwrap());
    let places = [storage.open(&place, &[]).unwrap(), tree(&storage)].map(|tree| {
        let directory = tree.lock_key().directory().unwrap().join("derived");
        (tree, directory)
    });
    (base, places)
}

#[test]
fn a_derived_database_is_beside_the_lock_of_any_place() {
    let (base, places) = places();
    for (tree, directory) in places {
        assert_eq!(derived(&tree, false).unwrap_err().code, ErrorCode::NotFound);
        assert!(!directory.exists(), "looking makes nothing");
        let database = with_table(&tree);
        write(&database, &[insert(1)]).unwrap();
        assert_eq!(count(&derived(&tree, false).unwrap()), 1);
        assert!(directory.join(INDEX).is_file());
        assert_eq!(database.lock_key(), None);
        let is_locked = directory.with_file_name("turn.sqlite").exists();
        assert!(!is_locked, "its writers take no lock");
    }
    let ignored = base.path().join("repository/.agent-memory/.gitignore");
    assert_eq!(fs::read_to_string(ignored).unwrap(), "*\n");
}

#[test]
fn a_kept_and_a_derived_database_of_one_name_are_two_databases() {
    let (scene, kept) = Scene::with_table();
    let derived = tree(&scene.storage).open_database(NAME, DatabaseKind::Derived, true).unwrap();
    assert_eq!(code_of(derived.query(&sql("SELECT * FROM t"), 1)), ErrorCode::Io);
    write(&derived, &[sql("CREATE TABLE t (x)")]).unwrap();
    write(&kept, &[insert(1)]).unwrap();
    assert_eq!((count(&kept), count(&derived)), (1, 0));
}

fn code_of(result: Result<impl std::fmt::Debug, Error>) -> ErrorCode {
    result.unwrap_err().code
}

#[test]
fn a_derived_database_is_busy_at_once_while_another_connection_writes() {
    let (_base, places) = places();
    for (tree, _) in places {
        let one = with_table(&tree);
        let other = derived(&tree, true).unwrap();
        let writes = begin(&one, Mode::Write(None)).unwrap();
        writes.execute(&[insert(1)]).unwrap();
        let started = Instant::now();
        assert_eq!(code_of(begin(&other, Mode::Write(None))), ErrorCode::Busy);
        assert!(started.elapsed() < LONG / 4);
        writes.commit().unwrap();
        write(&other, &[insert(2)]).unwrap();
        assert_eq!(count(&one), 2);
    }
}

#[tokio::test]
async fn a_derived_database_can_be_written_while_another_call_has_the_lock_of_the_place() {
    let (_base, places) = places();
    for (tree, _) in places {
        let writer = tree.lock(LockTimeout::new(LONG)).await.unwrap();
        let database = derived(&tree, true).unwrap();
        for under in [None, Some(&writer)] {
            let timeout = LockTimeout::new(LONG);
            let begun = database.begin(Mode::Write(None), under, timeout).await.unwrap();
            begun.execute(&[sql("CREATE TABLE IF NOT EXISTS t (x)")]).unwrap();
            begun.commit().unwrap();
        }
        drop(writer);
    }
}

#[test]
fn a_derived_database_is_made_anew_after_it_was_deleted() {
    let (_base, places) = places();
    for (tree, directory) in places {
        let database = with_table(&tree);
        let transaction = begin(&database, Mode::Write(None)).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(code_of(transaction.commit()), ErrorCode::Io);
        drop((transaction, database));
        assert_eq!(code_of(derived(&tree, false)), ErrorCode::NotFound);
        assert_eq!(count(&with_table(&tree)), 0);
        fs::remove_file(directory.join(INDEX)).unwrap();
        assert_eq!(count(&with_table(&tree)), 0);
    }
}

#[test]
fn the_name_of_a_derived_database_is_one_path_segment() {
    let (_base, [(tree, _), _]) = places();
    let long = "a".repeat(256);
    for name in ["", "..", "a/b", "A", ".a", "-a", "a b", "\u{e4}", "a.", "con", "a\0", &long] {
        let opened = tree.open_database(name, DatabaseKind::Derived, true);
        assert_eq!(code_of(opened), ErrorCode::InvalidPath, "{name}");
    }
    for name in ["0", "a-b_c.d"] {
        tree.open_database(name, DatabaseKind::Derived, true).unwrap();
    }
}
