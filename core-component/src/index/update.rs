//! Bringing an index up to date.

use std::collections::BTreeSet;

use super::builder::Builder;
use super::database::{Contents, Stored, add, note_gone};
use super::merge::merge;
use super::purge::strip_deleted;
use super::tables::{DATABASE, version_of};
use crate::storage::database::Transaction;
use crate::storage::{Error, Place, Storage};

/// Adds the segment of `builder` to a collection, and removes the documents `gone`. Creates a missing
/// index if `creates` is true. Replaces an index that is damaged or has another version.
pub(super) fn update(
    storage: &dyn Storage,
    place: &Place,
    collection: &str,
    gone: &BTreeSet<i64>,
    builder: &Builder,
    creates: bool,
) -> Result<(), Error> {
    let connection = DATABASE.open_for_change(storage, place, creates)?;
    let version = version_of(builder.usual);
    let segments = DATABASE.change(&*connection, version, |transaction| {
        change(transaction, collection, gone, builder)
    })?;
    // A merge is a second transaction: if it fails, the added segment stays.
    merge(&*connection, version, collection, segments)
}

/// Returns the segments that the collection has afterwards.
fn change(
    transaction: &dyn Transaction,
    collection: &str,
    gone: &BTreeSet<i64>,
    builder: &Builder,
) -> Result<Vec<Stored>, Error> {
    let Contents { mut segments, .. } = Contents::read(transaction, collection)?;
    let replaced = builder.segment.documents.iter().map(|row| row.key);
    let keys: BTreeSet<i64> = gone.iter().copied().chain(replaced).collect();
    strip_deleted(transaction, &mut segments, |key| gone.contains(&key))?;
    note_gone(transaction, &mut segments, &keys)?;
    if !builder.is_empty() {
        let Builder { segment, work, .. } = builder;
        let postings = builder.postings();
        segments.push(add(transaction, collection, segment.clone(), *work, postings)?);
    }
    Ok(segments)
}
