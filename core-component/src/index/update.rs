//! Bringing an index up to date.

use std::collections::BTreeSet;

use super::builder::Builder;
use super::database::{Contents, add, note_gone};
use super::merge::merge;
use super::purge::strip_deleted;
use super::tables::{self, DATABASE, is_damaged, is_passing, other_version, version_of};
use crate::storage::database::{Connection, Kind, Mode};
use crate::storage::{Error, Place, Storage};

/// Adds the segment of `builder` to a collection, and removes the documents `gone`. With `creates`,
/// creates a missing index. Makes an index anew that is damaged or of another version.
pub(super) fn update(
    storage: &dyn Storage,
    place: &Place,
    collection: &str,
    gone: &BTreeSet<i64>,
    builder: &Builder,
    creates: bool,
) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, creates)?;
    let wanted = version_of(builder.usual);
    match tables::version(&*connection) {
        Ok(Some(version)) if version == wanted => {}
        // A server has the tables for all places, but no index of this place.
        Ok(None) if !creates => return Err(other_version()),
        Err(error) if is_passing(&error) => return Err(error),
        Err(error) if is_damaged(&error) => tables::create_anew(wanted, &*connection)?,
        _ => tables::create(wanted, &*connection)?,
    }
    let changed = change(&*connection, collection, gone, builder);
    if changed.as_ref().is_err_and(is_damaged) {
        tables::create_anew(wanted, &*connection)?;
        return change(&*connection, collection, gone, builder);
    }
    changed
}

fn change(
    connection: &dyn Connection,
    collection: &str,
    gone: &BTreeSet<i64>,
    builder: &Builder,
) -> Result<(), Error> {
    let transaction = connection.begin(Mode::Write(None))?;
    let Contents { version, mut segments, .. } = Contents::read(&*transaction, collection)?;
    if version != Some(version_of(builder.usual)) {
        return Err(other_version());
    }
    let replaced = builder.segment.documents.iter().map(|row| row.key);
    let keys: BTreeSet<i64> = gone.iter().copied().chain(replaced).collect();
    strip_deleted(&*transaction, &mut segments, |key| gone.contains(&key))?;
    note_gone(&*transaction, &mut segments, &keys)?;
    if !builder.is_empty() {
        let Builder { segment, work, .. } = builder;
        let postings = builder.postings();
        let stored = add(&*transaction, collection, segment.clone(), *work, postings)?;
        segments.push(stored);
    }
    transaction.commit()?;
    drop(transaction);
    // The added segment stays if a merge fails.
    merge(connection, collection, segments)
}
