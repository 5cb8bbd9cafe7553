//! The one lock of a place, shared by a writer and a transaction of one call.

use super::*;
use crate::storage::api::Writer as _;
use std::sync::Mutex;

fn lock(tree: &Tree, wait: Duration) -> Result<Writer, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(tree.lock(LockTimeout::new(wait)))
}

fn begin_under(database: &Database, writer: &Writer) -> Result<Transaction, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(database.begin(Mode::Write(None), Some(writer), LockTimeout::new(SHORT)))
}

fn put(text: &str) -> Change {
    Change::Put {
        area: Area::Documents,
        path: text.to_owned(),
        contents: text.into(),
        expects: None,
    }
}

#[test]
fn a_writer_and_a_transaction_of_one_call_change_one_place() {
    let (scene, database) = Scene::with_table();
    let writer = lock(&tree(&scene.storage), SHORT).unwrap();
    let transaction = begin_under(&database, &writer).unwrap();
    transaction.execute(&[insert(1)]).unwrap();
    writer.commit(&[put("one")]).unwrap();
    transaction.commit().unwrap();
    writer.commit(&[put("two")]).unwrap();
    drop(writer);
    assert_eq!(count(&database), 1);
    assert_eq!(tree(&scene.storage).list(Area::Documents, "").unwrap().unwrap().len(), 2);
}

#[test]
fn the_lock_ends_with_the_last_of_writer_and_transaction() {
    let (scene, database) = Scene::with_table();
    let same = tree(&scene.storage);
    let other = tree(&storage(scene.base.path(), StorageOptions::default()));
    let both = || {
        let writer = lock(&same, SHORT).unwrap();
        let transaction = begin_under(&database, &writer).unwrap();
        (writer, transaction)
    };
    let is_held = || lock(&other, SHORT).is_err();

    let (writer, transaction) = both();
    drop(writer);
    assert!(is_held());
    drop(transaction);
    assert!(!is_held());

    let (writer, transaction) = both();
    drop(transaction);
    assert!(is_held());
    drop(writer);
    assert!(!is_held());

    let (writer, transaction) = both();
    drop(writer);
    transaction.commit().unwrap();
    assert!(!is_held(), "it has ended");
    lock(&same, SHORT).unwrap();
}

#[test]
fn a_transaction_that_writes_locks_its_place_for_writers_of_documents() {
    let (scene, database) = Scene::with_table();
    let other = tree(&storage(scene.base.path(), StorageOptions::default()));
    let transaction = begin(&database, Mode::Write(None)).unwrap();
    assert_eq!(lock(&other, SHORT).unwrap_err().code, ErrorCode::Busy);
    drop(transaction);
    let writer = lock(&other, SHORT).unwrap();
    let busy = begin_within(&database, Mode::Write(None), SHORT).unwrap_err();
    assert_eq!(busy.code, ErrorCode::Busy);
    begin_within(&database, Mode::Read, SHORT).unwrap();
    drop(writer);
}

#[test]
fn a_transaction_under_a_writer_of_another_place_is_nested() {
    let (scene, database) = Scene::with_table();
    let repository = tempfile::tempdir().unwrap();
    scene.storage.grant(repository.path()).unwrap();
    let place = Place::repository(repository.path().to_str().unwrap());
    let elsewhere = scene.storage.open(&place, &[]).unwrap();
    let writer = lock(&elsewhere, SHORT).unwrap();
    assert_eq!(begin_under(&database, &writer).unwrap_err().code, ErrorCode::Nested);
    drop(begin(&database, Mode::Write(None)).unwrap());
}

#[tokio::test]
async fn writers_of_documents_and_rows_are_served_in_one_order() {
    let scene = Scene::new();
    let tree = tree(&scene.storage);
    let database = scene.open();
    let timeout = LockTimeout::new(LONG);
    let first = tree.lock(timeout).await.unwrap();
    let served = Arc::new(Mutex::new(Vec::new()));
    let rows = database.begin(Mode::Write(None), None, timeout);
    let documents = tree.lock(timeout);
    let notes = served.clone();
    let documents = tokio::spawn(async move {
        let _writer = documents.await.unwrap();
        notes.lock().unwrap().push("documents");
    });
    tokio::time::sleep(SHORT).await;
    let notes = served.clone();
    let rows = tokio::spawn(async move {
        let _transaction = rows.await.unwrap();
        notes.lock().unwrap().push("rows");
    });
    drop(first);
    rows.await.unwrap();
    documents.await.unwrap();
    assert_eq!(*served.lock().unwrap(), ["rows", "documents"]);
}
