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
mod database;
mod facts;
mod merge;
mod postings;
mod purge;
mod segment;
mod stamp;
mod tables;
mod update;

use std::collections::BTreeSet;

use crate::budget::Budget;
use crate::ranking::{Counts, Found, Query};
use crate::storage::{Place, Status, Storage};
use crate::time::Timestamp;
use crate::vectors::{self, OfCollection, Similarity, Task};

pub(crate) use crate::digest::number_of;
use builder::Builder;
pub(crate) use builder::{Document, Entry, Row};
use database::Snapshot;
pub(crate) use facts::{Facts, Written};
pub(crate) use tables::DATABASE;

/// For a collection smaller than this, a search creates no index: reading it directly takes no longer.
/// In bytes; each document counts [`BYTES_OF_READ`] more than its size.
const MIN_BYTES: u64 = 64 << 10;
/// Opening a document takes as long as searching this many bytes.
const BYTES_OF_READ: u64 = 4 << 10;

/// The most documents of a collection that are indexed. Each search reads the others directly.
const MAX_DOCUMENTS: usize = 200_000;

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

/// Removes all rows of a collection, with their earlier versions, except the rows with the keys `kept`.
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

/// Removes all collections except these from the index of a place.
pub(crate) fn keep(storage: &dyn Storage, place: &Place, collections: &BTreeSet<&str>) {
    let _ = purge::keep(storage, place, collections);
}

/// The parts of a search that its indexes need.
pub(crate) struct Search<'a> {
    pub query: &'a Query,
    /// Whether the search reads all documents directly. The index is then not read, only brought up to
    /// date.
    pub reads_all: bool,
    pub now: Timestamp,
    pub budget: &'a Budget,
    /// What the search does with vectors.
    pub vectors: &'a Task,
    /// Whether documents with these facts can be hits.
    pub admits: Box<dyn Fn(Facts) -> bool + 'a>,
}

/// The index of one collection, for one search.
pub(crate) struct Index<'a> {
    storage: &'a dyn Storage,
    place: Place,
    collection: String,
    now: Timestamp,
    budget: &'a Budget,
    snapshot: Snapshot,
    /// The documents that the index has, ordered by key: the key, the index of the segment in
    /// `snapshot`, and the index in the segment.
    documents: Vec<(i64, usize, usize)>,
    /// The keys of the documents that the search asked [`find`](Self::find) for.
    /// [`update`](Self::update) takes all others as deleted.
    seen: BTreeSet<i64>,
    /// The keys of the documents or rows that no longer exist.
    gone: BTreeSet<i64>,
    bytes: u64,
    vectors: OfCollection<'a>,
    /// Whether the search saw every document of the collection. Only then are the vectors of all others
    /// removed.
    is_whole: bool,
    /// The documents that the search has read directly.
    builder: Builder,
}

/// A document that the index knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    key: i64,
    segment: usize,
    document: usize,
    pub facts: Facts,
    pub stamp: i64,
    /// The number of the version that was read, see [`number_of`].
    pub version: i64,
}

impl<'a> Index<'a> {
    /// Reads the index of a collection. If that fails, the index is empty: the search reads all
    /// documents.
    pub fn open(
        storage: &'a dyn Storage,
        place: Place,
        collection: &str,
        search: Search<'a>,
    ) -> Self {
        let Search { query, reads_all, now, budget, vectors, admits } = search;
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
        let admits = |key: i64| {
            let at = documents.binary_search_by_key(&key, |(key, ..)| *key);
            at.ok().map(|at| {
                let (_, segment, document) = documents[at];
                admits(snapshot.segments[segment].segment.documents[document].facts)
            })
        };
        let vectors = OfCollection::open(storage, &place, collection, vectors, budget, admits);
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
            vectors,
            is_whole: false,
            builder: Builder::new(query.usual()),
        }
    }

    /// Finds an existing document in the index, and notes that it exists. `None` if the document has to
    /// be read: it is not in the index, its stamp has changed, or its texts wait for vectors.
    pub fn find(&mut self, key: &str, status: &Status) -> Option<Known> {
        let key = number_of(key);
        self.seen.insert(key);
        self.vectors.see(key);
        self.bytes = self.bytes.saturating_add(status.size.saturating_add(BYTES_OF_READ));
        let at = self.documents.binary_search_by_key(&key, |(key, ..)| *key).ok()?;
        let (_, segment, document) = self.documents[at];
        let known = self.known(segment, document);
        let is_current = known.stamp == number_of(&status.stamp);
        (is_current && !self.vectors.has_to_read(key, known.version)).then_some(known)
    }

    /// All rows that are in the index and need not be read for their vectors, ascending by key.
    pub fn rows(&mut self) -> Vec<(i64, Known)> {
        let known = self.documents.iter();
        let known = known.map(|(key, segment, document)| (*key, self.known(*segment, *document)));
        let mut known: Vec<_> = known.rev().collect();
        // The newest rows are asked about first: only a limited number is read for vectors.
        known.retain(|(key, known)| !self.vectors.has_to_read(*key, known.version));
        known.reverse();
        known
    }

    /// Notes the keys of all rows that exist.
    pub fn see_all(&mut self, keys: impl Iterator<Item = i64>) {
        self.is_whole = true;
        keys.for_each(|key| self.vectors.see(key));
    }

    fn known(&self, segment: usize, document: usize) -> Known {
        let row = &self.snapshot.segments[segment].segment.documents[document];
        let segment::Row { key, facts, stamp, version, .. } = *row;
        Known { key, segment, document, facts, stamp, version }
    }

    /// For each entry of a document: how often it has the terms of the query, and whether it begins a
    /// run.
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

    /// How often a row, which is one entry, has the terms of the query.
    pub fn counts(&self, row: Known) -> Counts {
        let none = || Counts { lengths: vec![0], found: Vec::new() };
        self.entries(row).next().map_or_else(none, |(counts, _)| counts)
    }

    /// How similar an entry of a document is to the query by its vector, if it has one.
    pub fn similarity(&self, known: Known, at: usize) -> Option<Similarity> {
        self.vectors.of_entry(known.key, known.version, at)
    }

    /// How similar a text that the search has read is to the query by its vector, if it has one.
    pub fn similarity_of(&self, text: &str) -> Option<Similarity> {
        self.vectors.of_text(text)
    }

    /// Whether any entry of a document has a term of the query, or is one of the nearest by its vector.
    pub fn has_match(&self, known: Known) -> bool {
        self.has_term(known) || self.vectors.has_nearest(known.key, known.version)
    }

    fn has_term(&self, known: Known) -> bool {
        let parts = self.snapshot.segments[known.segment].segment.parts_of(known.document);
        !within(&self.snapshot.found[known.segment], &parts).is_empty()
    }

    /// The number of a document's entries.
    pub fn number_of_entries(&self, known: Known) -> usize {
        self.snapshot.segments[known.segment].segment.entries(known.document).count()
    }

    /// Adds a document that the search has read to the new segment, as far as the work goes.
    pub fn add<'t>(&mut self, document: &Document<'_>, entries: impl Iterator<Item = Entry<'t>>) {
        let Document { key, stamp, version, facts, work } = document;
        let is_settled = stamp::is_settled(stamp, self.now);
        let [key, stamp, version] = [key, stamp, version].map(|text| number_of(text));
        let row = Row { key, stamp, version, facts: *facts, work: *work };
        self.add_new(&row, entries.collect(), is_settled);
    }

    /// Notes that a document exists that is never indexed, so that its vectors stay.
    pub fn see(&mut self, key: &str) {
        self.vectors.see(number_of(key));
    }

    /// Notes the texts of a document that is never indexed, because each search reads it. The texts may
    /// need vectors.
    pub fn note<'t>(&mut self, key: &str, version: &str, texts: impl Iterator<Item = &'t str>) {
        self.vectors.note(number_of(key), number_of(version), texts);
    }

    /// Adds a row that the search has read to the new segment, as far as the work goes.
    pub fn add_row(&mut self, row: &Row, entry: Entry<'_>) {
        self.bytes = self.bytes.saturating_add(row.work);
        self.add_new(row, vec![entry], true);
    }

    fn add_new(&mut self, row: &Row, entries: Vec<Entry<'_>>, is_settled: bool) {
        self.vectors.note(row.key, row.version, entries.iter().map(Entry::text));
        let is_full = self.documents.len() >= MAX_DOCUMENTS;
        let is_wanted = is_settled && !is_full && !self.is_indexed(row);
        if is_wanted && self.budget.take_for_index(row.work) {
            self.builder.add(row, entries.into_iter());
        }
    }

    /// Whether the index already has the row with this stamp: then the row was read only for its
    /// vectors.
    fn is_indexed(&self, row: &Row) -> bool {
        let at = self.documents.binary_search_by_key(&row.key, |(key, ..)| *key);
        at.is_ok_and(|at| {
            let (_, segment, document) = self.documents[at];
            self.known(segment, document).stamp == row.stamp
        })
    }

    /// Brings the index up to date. Removes the documents that the search did not ask
    /// [`find`](Self::find) for. Their vectors are removed only if `is_whole`: the search left out no
    /// document that it could not read.
    pub fn update(mut self, is_whole: bool) {
        let known = self.documents.iter().map(|(key, ..)| *key);
        self.gone = known.filter(|key| !self.seen.contains(key)).collect();
        self.is_whole = is_whole;
        self.update_rows();
    }

    /// Notes the keys of rows that no longer exist.
    pub fn remove_rows(&mut self, keys: BTreeSet<i64>) {
        self.gone.extend(keys);
    }

    /// Brings the index up to date with the rows that were added and removed.
    pub fn update_rows(self) {
        let Self { storage, place, collection, builder, gone, vectors, is_whole, bytes, .. } = self;
        if !(gone.is_empty() && builder.is_empty()) {
            let creates = bytes >= MIN_BYTES;
            // Ignores an error, such as another search writing at this moment: an index that is not
            // updated only makes later searches slower.
            let _ = update::update(storage, &place, &collection, &gone, &builder, creates);
        }
        vectors.end(storage, &place, &collection, is_whole);
    }
}

/// The terms that are found in a range of parts. `found` is ordered by part.
fn within<'f>(found: &'f [Found], parts: &std::ops::Range<u32>) -> &'f [Found] {
    let start = found.partition_point(|found| found.part < parts.start);
    let end = found.partition_point(|found| found.part < parts.end);
    &found[start..end]
}
