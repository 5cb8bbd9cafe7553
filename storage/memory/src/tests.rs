//! Tests of storage like a server: transactions at the same time, and changes that cross scopes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use agent_memory_storage::database::{Mode, Statement, Transaction, Value};
use agent_memory_storage::{Change, ErrorCode};

use super::*;

const TABLE: &str = "CREATE TABLE things (id INTEGER PRIMARY KEY, owner TEXT, name TEXT UNIQUE)";

fn place() -> Place {
    Place::named("things")
}

fn storage() -> InMemoryStorage {
    let storage = InMemoryStorage::like_a_server();
    storage.grant(place());
    storage.make_tables(&place(), &[TABLE.to_owned()]);
    storage
}

fn open(storage: &InMemoryStorage) -> Box<dyn Connection + '_> {
    storage.open_database(&place(), "things.db", Kind::Kept, false).unwrap()
}

fn run(transaction: &dyn Transaction, sql: &str) {
    transaction.execute(&[Statement { sql: sql.to_owned(), parameters: Vec::new() }]).unwrap();
}

fn write(storage: &InMemoryStorage, scope: Option<&str>, sql: &str) {
    let connection = open(storage);
    let transaction = connection.begin(Mode::Write(scope)).unwrap();
    run(&*transaction, sql);
    transaction.commit().unwrap();
}

/// The message of a panic.
fn panic_of(work: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("it has to be found");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).expect("a message")
}

fn insert(owner: &str, name: &str) -> String {
    format!("INSERT INTO things (owner, name) VALUES ('{owner}', '{name}')")
}

#[test]
fn transactions_in_two_scopes_are_open_at_once_and_both_are_kept() {
    let storage = storage();
    let [one, other] = [storage.another(), storage.another()];
    let [first, second] = [open(&one), open(&other)];
    write(&storage, None, &insert("ada", "a"));
    let ada = first.begin(Mode::Write(Some("ada"))).unwrap();
    let bob = second.begin(Mode::Write(Some("bob"))).unwrap();
    run(&*ada, &insert("ada", "b"));
    run(&*ada, "UPDATE things SET name = 'c' WHERE name = 'a'");
    run(&*bob, &insert("bob", "d"));
    bob.commit().unwrap();
    let found = |sql: &str| storage.query_sql(sql).unwrap();
    assert_eq!(found("SELECT name FROM things ORDER BY name"), [["a"], ["d"]]);
    ada.commit().unwrap();
    assert_eq!(found("SELECT name FROM things ORDER BY name"), [["b"], ["c"], ["d"]]);
    // A transaction that is rolled back changes nothing.
    drop((ada, bob));
    run(&*first.begin(Mode::Write(Some("ada"))).unwrap(), "DELETE FROM things");
    assert_eq!(found("SELECT count(*) FROM things"), [[3]]);
}

#[test]
fn a_row_that_two_scopes_change_is_found_at_once_and_one_after_the_other() {
    let rename = "UPDATE things SET owner = 'new' WHERE name = 'a'";
    let storage = storage();
    write(&storage, Some("ada"), &insert("ada", "a"));
    let found = panic_of(|| write(&storage, Some("bob"), rename));
    assert!(
        found.starts_with("two scopes changed one row: ") && found.contains("`things`"),
        "{found}"
    );

    let storage = self::storage();
    write(&storage, None, &insert("ada", "a"));
    let other = storage.another();
    let connection = open(&other);
    let ada = connection.begin(Mode::Write(Some("ada"))).unwrap();
    run(&*ada, "DELETE FROM things WHERE name = 'a'");
    write(&storage, Some("bob"), rename);
    let found = panic_of(|| ada.commit().unwrap());
    assert!(found.starts_with("two scopes changed one row: "), "{found}");

    // A writer of the whole place may write any row, and a deleted row belongs to no scope.
    let storage = self::storage();
    write(&storage, Some("ada"), &insert("ada", "a"));
    write(&storage, None, rename);
    write(&storage, Some("bob"), rename);
    write(&storage, Some("bob"), "DELETE FROM things");
    write(&storage, Some("ada"), "INSERT INTO things (id, name) VALUES (1, 'a')");
}

#[test]
fn a_key_that_two_scopes_choose_and_tables_that_one_makes_are_found() {
    for (sql, message) in [
        (
            "INSERT INTO things (id, name) SELECT coalesce(max(id), 0) + 1, 'a' FROM things",
            "changed one row",
        ),
        ("INSERT INTO things (id, name) VALUES (5, 'b')", "rows that exclude each other"),
        ("CREATE TABLE others (id INTEGER)", "changed the tables"),
    ] {
        let storage = storage();
        let other = storage.another();
        let connection = open(&other);
        let ada = connection.begin(Mode::Write(Some("ada"))).unwrap();
        run(&*ada, sql);
        let beside =
            "INSERT INTO things (id, name) SELECT coalesce(max(id), 0) + 1, 'b' FROM things";
        write(&storage, Some("bob"), beside);
        let found = panic_of(|| ada.commit().unwrap());
        assert!(found.contains(message), "{found}");
    }
}

fn put(path: &str, contents: &str, expects: Option<&str>) -> Change {
    Change::Put {
        area: Area::Documents,
        path: path.into(),
        contents: contents.into(),
        expects: expects.map(|before| agent_memory_storage::version_of(before.as_bytes())),
    }
}

#[test]
fn a_commit_releases_the_lock_and_the_next_one_checks_what_it_expects() {
    let storage = storage();
    let tree = storage.open(&place()).unwrap();
    assert!(tree.has_atomic_commits());
    let writer = tree.lock(Some("ada")).unwrap();
    writer.commit(&[put("a", "1", None)]).unwrap();
    thread::scope(|scope| {
        let other = storage.another();
        let beside = scope.spawn(move || {
            let tree = other.open(&place()).unwrap();
            let writer = tree.lock(Some("ada")).unwrap();
            writer.commit(&[put("a", "2", Some("1"))]).map(drop)
        });
        beside.join().unwrap().unwrap();
    });
    let refused = writer.commit(&[put("a", "3", Some("1"))]).unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::VersionMismatch);
    writer.commit(&[put("a", "3", Some("2"))]).unwrap();
    drop(writer);
    let bob = tree.lock(Some("bob")).unwrap();
    let found = panic_of(|| drop(bob.commit(&[put("a", "4", Some("3"))])));
    assert!(found.starts_with("two scopes changed `a`"), "{found}");
}

#[test]
fn documents_are_committed_with_the_transaction_of_the_call() {
    let storage = storage();
    let paths = || storage.documents(&place(), Area::Documents).into_keys().collect::<Vec<_>>();
    let tree = storage.open(&place()).unwrap();
    let connection = open(&storage);
    for (path, is_kept) in [("a", true), ("b", false)] {
        let writer = tree.lock(Some("ada")).unwrap();
        let transaction = connection.begin(Mode::Write(Some("ada"))).unwrap();
        writer.commit(&[put(path, "1", None)]).unwrap();
        writer.commit(&[put(path, "2", Some("1"))]).unwrap();
        assert!(!paths().contains(&path.to_owned()));
        assert_eq!(tree.read(Area::Documents, path, 9).unwrap().unwrap().contents, b"2");
        if is_kept {
            transaction.commit().unwrap();
        }
        drop(transaction);
        assert_eq!(paths(), ["a"]);
    }
    let rows = open(&storage)
        .query(&Statement { sql: "SELECT count(*) FROM things".into(), parameters: Vec::new() }, 1);
    assert_eq!(rows.unwrap().rows, [[Value::Integer(0)]]);
}
