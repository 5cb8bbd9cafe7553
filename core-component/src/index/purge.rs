//! Removing documents that were deleted for good, and whole collections.

use std::collections::BTreeSet;

use super::database::{
    Contents, Stored, delete_segments, each_posting, for_each_numbered, note_gone,
};
use super::postings::Postings;
use super::tables::DATABASE;
use crate::sql::{each_numbered, is_in_texts, json, statement, text};
use crate::storage::database::{Mode, Transaction, Value};
use crate::storage::{Error, Place, Storage};

/// Removes the documents for whose keys `is_deleted` is true, with their postings, from a collection,
/// or from all collections if it is `None`. If the index is damaged or has an unknown version, empties
/// it.
pub(super) fn purge(
    storage: &dyn Storage,
    place: &Place,
    collection: Option<&str>,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    DATABASE.forget(storage, place, |transaction| {
        let collections = match collection {
            Some(collection) => vec![collection.to_owned()],
            None => collections(transaction)?,
        };
        for collection in &collections {
            let Contents { mut segments, .. } = Contents::read(transaction, collection)?;
            let keys = strip_deleted(transaction, &mut segments, &is_deleted)?;
            note_gone(transaction, &mut segments, &keys)?;
        }
        Ok(())
    })
}

fn collections(transaction: &dyn Transaction) -> Result<Vec<String>, Error> {
    let sql = "SELECT DISTINCT collection FROM segments ORDER BY collection";
    DATABASE.texts(transaction, &statement(sql, []))
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

/// Removes all collections of a place except `collections`.
pub(super) fn keep(
    storage: &dyn Storage,
    place: &Place,
    collections: &BTreeSet<&str>,
) -> Result<(), Error> {
    let connection = DATABASE.open(storage, place, false)?;
    let are_kept = is_in_texts(connection.dialect(), "collection", "?1");
    let are_others = format!("NOT ({are_kept})");
    let kept = json(collections);
    let others = format!("SELECT 1 FROM segments WHERE {are_others}");
    if connection.query(&statement(&others, [kept.clone()]), 1)?.rows.is_empty() {
        return Ok(());
    }
    let transaction = connection.begin(Mode::Write(None))?;
    delete_segments(&*transaction, &are_others, &kept)?;
    transaction.commit()
}

/// Removes a collection.
pub(super) fn delete(storage: &dyn Storage, place: &Place, collection: &str) -> Result<(), Error> {
    let connection = DATABASE.open(storage, place, false)?;
    let transaction = connection.begin(Mode::Write(None))?;
    delete_segments(&*transaction, "collection = ?1", &text(collection))?;
    transaction.commit()
}
