//! Removing documents that were deleted for good, and whole collections.

use std::collections::BTreeSet;

use super::database::{Contents, Stored, each_posting, for_each_numbered, note_gone};
use super::postings::Postings;
use super::tables::{self, DATABASE, damaged, is_damaged};
use crate::sql::{each_numbered, is_in_query, is_in_texts, json, statement, text};
use crate::storage::database::{Kind, Mode, Transaction, Value};
use crate::storage::{Error, Place, Storage};

/// Removes the documents for whose keys `is_deleted` is true, with their postings, from a collection,
/// or from all collections if it is `None`. If the index is damaged or has the form of another program,
/// removes the whole index.
pub(super) fn purge(
    storage: &dyn Storage,
    place: &Place,
    collection: Option<&str>,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
    let version = tables::version(&*connection)?;
    let Some(version) = version else { return Ok(()) };
    if tables::is_of_this_program(version) {
        let transaction = connection.begin(Mode::Write(None))?;
        match purge_in(&*transaction, collection, is_deleted) {
            Ok(()) => return transaction.commit(),
            Err(error) if !is_damaged(&error) => return Err(error),
            Err(_) => {}
        }
    }
    let transaction = connection.begin(Mode::Write(None))?;
    tables::empty(&*transaction)?;
    transaction.commit()
}

fn purge_in(
    transaction: &dyn Transaction,
    collection: Option<&str>,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    let collections = match collection {
        Some(collection) => vec![collection.to_owned()],
        None => collections(transaction)?,
    };
    for collection in &collections {
        purge_collection(transaction, collection, &is_deleted)?;
    }
    Ok(())
}

fn collections(transaction: &dyn Transaction) -> Result<Vec<String>, Error> {
    let sql = "SELECT DISTINCT collection FROM segments ORDER BY collection";
    let rows = transaction.query(&statement(sql, []), u32::MAX)?.rows;
    let name = |mut row: Vec<Value>| match row.pop() {
        Some(Value::Text(name)) => Ok(name),
        _ => Err(damaged()),
    };
    rows.into_iter().map(name).collect()
}

fn purge_collection(
    transaction: &dyn Transaction,
    collection: &str,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    let Contents { mut segments, .. } = Contents::read(transaction, collection)?;
    let keys = strip_deleted(transaction, &mut segments, is_deleted)?;
    note_gone(transaction, &mut segments, &keys)
}

/// Removes the postings of the documents for whose keys `is_deleted` is true. Returns the keys of these
/// documents.
pub(super) fn strip_deleted(
    transaction: &dyn Transaction,
    segments: &mut [Stored],
    is_deleted: impl Fn(i64) -> bool,
) -> Result<BTreeSet<i64>, Error> {
    let mut keys = BTreeSet::new();
    for stored in segments {
        let documents = stored.segment.documents.iter().enumerate();
        let deleted: Vec<(usize, i64)> = documents
            .filter(|(_, row)| is_deleted(row.key))
            .map(|(at, row)| (at, row.key))
            .collect();
        if !deleted.is_empty() {
            let documents: Vec<usize> = deleted.iter().map(|(at, _)| *at).collect();
            strip(transaction, stored, &documents)?;
            keys.extend(deleted.iter().map(|(_, key)| *key));
        }
    }
    Ok(keys)
}

/// Removes the postings of documents from a segment.
fn strip(transaction: &dyn Transaction, stored: &Stored, documents: &[usize]) -> Result<(), Error> {
    let mut is_removed = vec![false; stored.segment.parts() as usize];
    for part in documents.iter().flat_map(|at| stored.segment.parts_of(*at)) {
        is_removed[part as usize] = true;
    }
    let mut changed = Vec::new();
    each_posting(transaction, stored.number, |stem, bytes| {
        let mut kept = Postings::default();
        let mut is_changed = false;
        Postings::each(bytes, |part, count| match is_removed.get(part as usize) {
            Some(true) => is_changed = true,
            Some(false) | None => kept.push(part, count),
        })?;
        changed.extend(is_changed.then_some((stem, kept.bytes)));
        Some(())
    })?;
    let update = format!(
        "UPDATE postings SET parts = new.bytes FROM {} AS new \
         WHERE segment = ?1 AND stem = new.number",
        each_numbered(transaction.dialect(), "?2")
    );
    let changed = changed.iter().map(|(stem, parts)| (*stem, &parts[..]));
    for_each_numbered(transaction, &update, stored.number, changed)?;
    let delete = "DELETE FROM postings WHERE segment = ?1 AND length(parts) = 0";
    transaction.execute(&[statement(delete, [Value::Integer(stored.number)])])?;
    Ok(())
}

/// Removes all collections of a place except these.
pub(super) fn keep(
    storage: &dyn Storage,
    place: &Place,
    collections: &BTreeSet<&str>,
) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
    let dialect = connection.dialect();
    let are_kept = is_in_texts(dialect, "collection", "?1");
    let others = format!("SELECT segment FROM segments WHERE NOT ({are_kept})");
    let kept = json(collections);
    let others_there = connection.query(&statement(&others, [kept.clone()]), 1)?.rows;
    if others_there.is_empty() {
        return Ok(());
    }
    let transaction = connection.begin(Mode::Write(None))?;
    let delete = |table: &str| {
        let are = is_in_query(dialect, "segment", &others);
        statement(&format!("DELETE FROM {table} WHERE {are}"), [kept.clone()])
    };
    transaction.execute(&[delete("postings"), delete("segments")])?;
    transaction.commit()
}

/// Removes a collection.
pub(super) fn delete(storage: &dyn Storage, place: &Place, collection: &str) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
    let transaction = connection.begin(Mode::Write(None))?;
    let delete = |table: &str| {
        let of_collection = "SELECT segment FROM segments WHERE collection = ?1";
        let are = is_in_query(transaction.dialect(), "segment", of_collection);
        statement(&format!("DELETE FROM {table} WHERE {are}"), [text(collection)])
    };
    transaction.execute(&[delete("postings"), delete("segments")])?;
    transaction.commit()
}
