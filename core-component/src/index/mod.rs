//! A derived index, so that a search computes scores without reading texts.
//!
//! The index has no text. It is made of documents in collections: the logs of an agent, the memories of
//! a store, the rows of an agent in a table. Of each document it has the stamp, the version, some
//! facts, and the lengths of the parts of its entries. Postings tell which parts have a stem, and how
//! often. A stem is stored as a number, see [`number_of`]. From these, a search computes the same
//! scores as from the texts.
//!
//! For a document whose stamp is unchanged, a search uses the index. It reads all other documents
//! directly, and adds them to the index afterwards. It adds no more than the work of
//! [`OF_INDEXING`](crate::budget::OF_INDEXING), and does not wait for other writers. The text of a hit
//! is read from its document, whose version must be that in the index, see
//! [`Unread`](crate::source::Unread). So the index only saves time: without it, or if it fails in any
//! way, the answer is the same.
//!
//! Documents that are indexed together form a segment. A changed document is indexed again in a new
//! segment. Its old postings stay until their segment is merged with others. The postings of a document
//! that is deleted for good are removed at once.

mod builder;
mod codes;
mod collection;
mod database;
mod documents;
mod facts;
mod known;
mod merge;
mod postings;
mod purge;
mod rows;
mod segment;
mod stamp;
mod tables;
mod update;

use std::collections::BTreeSet;

use crate::storage::{Place, Storage};
use crate::vectors;

pub(crate) use crate::digest::number_of;
pub(crate) use builder::{Entry, Row};
pub(crate) use collection::Search;
pub(crate) use documents::{Document, DocumentIndex};
pub(crate) use facts::{Facts, Written};
pub(crate) use known::Known;
pub(crate) use rows::RowIndex;
pub(crate) use tables::DATABASE;

/// Removes documents that were deleted for good from the index of a place, and their vectors. Ignores
/// errors: if another search is writing, a later search removes the documents.
pub(crate) fn forget(storage: &dyn Storage, place: &Place, collection: &str, keys: &[&str]) {
    let keys: Vec<i64> = keys.iter().map(|key| number_of(key)).collect();
    forget_rows(storage, place, collection, &keys);
}

/// Removes rows that were deleted for good, as [`forget`] removes documents.
pub(crate) fn forget_rows(storage: &dyn Storage, place: &Place, collection: &str, keys: &[i64]) {
    if !keys.is_empty() {
        let keys: BTreeSet<i64> = keys.iter().copied().collect();
        purge(storage, place, Some(collection), |key| keys.contains(&key));
    }
}

/// Removes rows that were deleted for good from all collections of a place.
pub(crate) fn forget_rows_everywhere(storage: &dyn Storage, place: &Place, keys: &[i64]) {
    if !keys.is_empty() {
        let keys: BTreeSet<i64> = keys.iter().copied().collect();
        purge(storage, place, None, |key| keys.contains(&key));
    }
}

/// Removes all rows of a collection and their earlier versions, except the rows with the keys `kept`.
pub(crate) fn forget_other_rows(
    storage: &dyn Storage,
    place: &Place,
    collection: &str,
    kept: &[i64],
) {
    let kept: BTreeSet<i64> = kept.iter().copied().collect();
    purge(storage, place, Some(collection), |key| !kept.contains(&key));
}

/// Removes the documents for whose keys `is_deleted` is true, and their vectors, from a collection, or
/// from all collections if it is `None`. Ignores errors.
fn purge(
    storage: &dyn Storage,
    place: &Place,
    collection: Option<&str>,
    is_deleted: impl Fn(i64) -> bool,
) {
    let _ = purge::purge(storage, place, collection, &is_deleted);
    let _ = vectors::forget(storage, place, collection, &is_deleted);
}

/// Removes all documents of a collection.
pub(crate) fn forget_all(storage: &dyn Storage, place: &Place, collection: &str) {
    let _ = purge::delete(storage, place, collection);
    let _ = vectors::forget_all(storage, place, collection);
}

/// Removes all collections except `collections` from the index of a place.
pub(crate) fn keep(storage: &dyn Storage, place: &Place, collections: &BTreeSet<&str>) {
    let _ = purge::keep(storage, place, collections);
}
