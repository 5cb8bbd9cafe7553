//! A derived index, so that a search computes scores without reading texts.
//!
//! The index has no text. It is made of documents in collections: the logs of an agent, the memories
//! of a store, the rows of an agent in a table. Of each document it has the stamp, the version and some
//! facts, the lengths of the parts of its entries, and postings by stem: which parts have it, and how often. A stem is a number. From
//! these, a search computes the same scores as from the texts.
//!
//! A search uses the index of a document whose stamp is still the same. It reads the others directly,
//! and afterwards writes what it has read into the index, without waiting and as far as
//! [`OF_INDEXING`](crate::budget::OF_INDEXING) goes. A hit is read in its document, whose version must
//! be that of the index, see [`Unread`](crate::source::Unread). So the index only saves time: without
//! it, or if it fails in any way, the answer is the same.
//!
//! Documents that are indexed together are a segment. A document that changes is in a new segment, and
//! its old postings stay until their segment is merged with others. Those of a document that is
//! deleted for good leave at once.

mod builder;
mod codes;
mod database;
mod facts;
mod postings;
mod segment;
mod stamp;

use std::collections::BTreeSet;

use crate::budget::Budget;
use crate::ranking::{Counts, Found, Query};
use crate::storage::{Place, Status, Storage};
use crate::time::Timestamp;

use builder::Builder;
pub(crate) use builder::{Document, Entry, Row};
use database::Snapshot;
pub(crate) use facts::{Facts, Written};
pub(crate) use postings::number_of;

/// Smaller places have no index: reading them takes no longer. In bytes, where each document counts
/// as [`BYTES_OF_READ`] more.
const MIN_BYTES: u64 = 64 << 10;
/// As many bytes take as long to search as a document takes to be opened.
const BYTES_OF_READ: u64 = 4 << 10;

/// The most documents of a collection. The others are read directly.
const MAX_DOCUMENTS: usize = 200_000;

/// Removes documents that were deleted for good from the index of a place. If another search is
/// writing, the next search removes them.
pub(crate) fn forget(storage: &dyn Storage, place: &Place, collection: &str, keys: &[&str]) {
    let keys: Vec<i64> = keys.iter().map(|key| number_of(key)).collect();
    forget_rows(storage, place, collection, &keys);
}

/// Removes rows that were deleted for good, as [`forget`] removes documents.
pub(crate) fn forget_rows(storage: &dyn Storage, place: &Place, collection: &str, keys: &[i64]) {
    if !keys.is_empty() {
        let keys: BTreeSet<i64> = keys.iter().copied().collect();
        let _ = database::purge(storage, place, collection, |key| keys.contains(&key));
    }
}

/// Removes all rows but these, also their earlier versions.
pub(crate) fn forget_other_rows(
    storage: &dyn Storage,
    place: &Place,
    collection: &str,
    kept: &[i64],
) {
    let kept: BTreeSet<i64> = kept.iter().copied().collect();
    let _ = database::purge(storage, place, collection, |key| !kept.contains(&key));
}

/// Removes all documents of a collection.
pub(crate) fn forget_all(storage: &dyn Storage, place: &Place, collection: &str) {
    let _ = database::delete(storage, place, collection);
}

/// Removes the collections of a place that are none of these.
pub(crate) fn keep(storage: &dyn Storage, place: &Place, collections: &BTreeSet<&str>) {
    let _ = database::keep(storage, place, collections);
}

/// A search, as an index sees it.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub query: &'a Query,
    /// Whether it reads all documents itself, and only brings the index up to date.
    pub reads_all: bool,
    pub now: Timestamp,
    pub budget: &'a Budget,
}

/// The index of one collection, for one search.
pub(crate) struct Index<'a> {
    storage: &'a dyn Storage,
    place: Place,
    collection: String,
    now: Timestamp,
    budget: &'a Budget,
    snapshot: Snapshot,
    /// The key, the segment and the number of each document, ordered by key.
    documents: Vec<(i64, usize, usize)>,
    /// The keys of the documents that are there.
    seen: BTreeSet<i64>,
    /// The keys of the rows that are no longer there.
    gone: BTreeSet<i64>,
    bytes: u64,
    /// The documents that the search has read directly.
    builder: Builder,
}

/// A document that the index knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    segment: usize,
    document: usize,
    pub facts: Facts,
    pub stamp: i64,
    /// The number of the version that was read, see [`number_of`].
    pub version: i64,
}

impl<'a> Index<'a> {
    /// Reads the index of a collection.
    pub fn open(
        storage: &'a dyn Storage,
        place: Place,
        collection: &str,
        search: Search<'a>,
    ) -> Self {
        let Search { query, reads_all, now, budget } = search;
        let snapshot = if reads_all {
            None
        } else {
            let numbers = |term: &Vec<String>| term.iter().map(|stem| number_of(stem)).collect();
            let terms: Vec<Vec<i64>> = query.terms().iter().map(numbers).collect();
            Snapshot::read(storage, &place, collection, query.usual(), &terms).ok()
        };
        let snapshot = snapshot.unwrap_or(Snapshot { segments: Vec::new(), found: Vec::new() });
        let mut documents = Vec::new();
        for (segment, stored) in snapshot.segments.iter().enumerate() {
            for (document, row) in stored.segment.documents.iter().enumerate() {
                if !stored.gone.contains(&document) {
                    documents.push((row.key, segment, document));
                }
            }
        }
        documents.sort_unstable();
        Self {
            storage,
            place,
            collection: collection.to_owned(),
            now,
            budget,
            snapshot,
            documents,
            seen: BTreeSet::new(),
            gone: BTreeSet::new(),
            bytes: 0,
            builder: Builder::new(query.usual()),
        }
    }

    /// A document with this key and status, or none if it has to be read. Takes note that it is there.
    pub fn find(&mut self, key: &str, status: &Status) -> Option<Known> {
        let key = number_of(key);
        self.seen.insert(key);
        self.bytes = self.bytes.saturating_add(status.size.saturating_add(BYTES_OF_READ));
        let at = self.documents.binary_search_by_key(&key, |(key, ..)| *key).ok()?;
        let (_, segment, document) = self.documents[at];
        let known = self.known(segment, document);
        (known.stamp == number_of(&status.stamp)).then_some(known)
    }

    /// The keys of all documents that the index knows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = (i64, Known)> {
        let known = |(key, segment, document): &(i64, usize, usize)| {
            (*key, self.known(*segment, *document))
        };
        self.documents.iter().map(known)
    }

    fn known(&self, segment: usize, document: usize) -> Known {
        let row = &self.snapshot.segments[segment].segment.documents[document];
        Known { segment, document, facts: row.facts, stamp: row.stamp, version: row.version }
    }

    /// The entries of a document: the counts of each, and whether it begins a run.
    pub fn entries(&self, known: Known) -> impl Iterator<Item = (Counts, bool)> {
        let stored = &self.snapshot.segments[known.segment];
        let found = &self.snapshot.found[known.segment];
        stored.segment.entries(known.document).map(|entry| {
            let parts = entry.first_part..entry.first_part + entry.lengths.len() as u32;
            let found = within(found, &parts).iter();
            let of_entry = |found: &Found| Found { part: found.part - parts.start, ..*found };
            let found = found.map(of_entry).collect();
            (Counts { lengths: entry.lengths.to_vec(), found }, entry.begins_run)
        })
    }

    /// The counts of a row, which is one entry.
    pub fn counts(&self, row: Known) -> Counts {
        let none = || Counts { lengths: vec![0], found: Vec::new() };
        self.entries(row).next().map_or_else(none, |(counts, _)| counts)
    }

    /// Whether any entry of a document has a term of the query.
    pub fn has_match(&self, known: Known) -> bool {
        let parts = self.snapshot.segments[known.segment].segment.parts_of(known.document);
        !within(&self.snapshot.found[known.segment], &parts).is_empty()
    }

    /// The number of a document's entries.
    pub fn number_of_entries(&self, known: Known) -> usize {
        self.snapshot.segments[known.segment].segment.entries(known.document).count()
    }

    /// Takes note of a document that the search has read.
    pub fn add<'t>(&mut self, document: &Document<'_>, entries: impl Iterator<Item = Entry<'t>>) {
        if stamp::is_settled(document.stamp, self.now) {
            let Document { key, stamp, version, facts, work } = document;
            let [key, stamp, version] = [key, stamp, version].map(|text| number_of(text));
            self.add_new(&Row { key, stamp, version, facts: *facts, work: *work }, entries);
        }
    }

    /// Takes note of a row that the search has read.
    pub fn add_row(&mut self, row: &Row, entry: Entry<'_>) {
        self.bytes = self.bytes.saturating_add(row.work);
        self.add_new(row, [entry].into_iter());
    }

    fn add_new<'t>(&mut self, row: &Row, entries: impl Iterator<Item = Entry<'t>>) {
        let is_full = self.documents.len() >= MAX_DOCUMENTS;
        if !is_full && self.budget.take_for_index(row.work) {
            self.builder.add(row, entries);
        }
    }

    /// Brings the index up to date. The documents that it knows, but that the search did not find, are
    /// gone.
    pub fn update(mut self) {
        let known = self.documents.iter().map(|(key, ..)| *key);
        self.gone = known.filter(|key| !self.seen.contains(key)).collect();
        self.update_rows();
    }

    /// Takes note of rows that are no longer there.
    pub fn remove_rows(&mut self, keys: BTreeSet<i64>) {
        self.gone.extend(keys);
    }

    /// Brings the index up to date with the rows that were added and removed.
    pub fn update_rows(self) {
        if self.gone.is_empty() && self.builder.is_empty() {
            return;
        }
        let creates = self.bytes >= MIN_BYTES;
        let Self { storage, place, collection, builder, gone, .. } = &self;
        // Another search may be writing. An index that stays as it is costs time only.
        let _ = database::update(*storage, place, collection, gone, builder, creates);
    }
}

/// The terms that are found in some parts.
fn within<'f>(found: &'f [Found], parts: &std::ops::Range<u32>) -> &'f [Found] {
    let start = found.partition_point(|found| found.part < parts.start);
    let end = found.partition_point(|found| found.part < parts.end);
    &found[start..end]
}
