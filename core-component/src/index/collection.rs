//! The index of one collection, for one search.

use std::collections::BTreeSet;

use super::builder::{Builder, Entry, Row};
use super::database::Snapshot;
use super::facts::Facts;
use super::known::{Known, KnownDocuments};
use super::number_of;
use super::update::update;
use crate::budget::{Budget, OF_DIGIT, OF_NEW_STEM};
use crate::ranking::Query;
use crate::storage::{Place, Storage};
use crate::time::Timestamp;
use crate::vectors::{OfCollection, Similarity, Task};

/// If a collection has fewer bytes than this, a search creates no index for it, because reading the
/// texts is as fast.
const MIN_BYTES: u64 = 64 << 10;

/// The most documents of a collection that are indexed. Each search reads the others directly.
const MAX_DOCUMENTS: usize = 200_000;

/// The fields of a search request that the indexes need.
pub(crate) struct Search<'a> {
    pub query: &'a Query,
    /// Whether the search reads all documents directly. The index is then not read, only brought up to
    /// date.
    pub reads_all: bool,
    pub now: Timestamp,
    pub budget: &'a Budget,
    /// How the search uses vectors.
    pub vectors: &'a Task,
    /// Whether documents with these facts can be hits.
    pub admits: Box<dyn Fn(Facts) -> bool + 'a>,
}

/// The index of one collection, for one search. `Seen` records which documents or rows the search found
/// to exist: see [`DocumentIndex`](super::DocumentIndex) and [`RowIndex`](super::RowIndex).
pub(crate) struct Index<'a, Seen> {
    storage: &'a dyn Storage,
    place: Place,
    collection: String,
    pub(super) now: Timestamp,
    budget: &'a Budget,
    pub(super) known: KnownDocuments,
    pub(super) seen: Seen,
    /// The size of the documents or rows that the search has met so far. Only a large collection gets
    /// an index.
    pub(super) bytes: u64,
    pub(super) vectors: OfCollection<'a>,
    /// The documents that the search has read directly.
    builder: Builder,
}

impl<'a, Seen: Default> Index<'a, Seen> {
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
        let known = KnownDocuments::new(snapshot.unwrap_or_default());
        let admits = |key: i64| known.get(key).map(|known| admits(known.facts));
        let vectors = OfCollection::open(storage, &place, collection, vectors, budget, admits);
        Self {
            storage,
            place,
            collection: collection.to_owned(),
            now,
            budget,
            known,
            seen: Seen::default(),
            bytes: 0,
            vectors,
            builder: Builder::new(query.usual()),
        }
    }
}

impl<Seen> Index<'_, Seen> {
    /// How similar an entry of a document is to the query by its vector, if it has one.
    pub fn similarity(&self, known: Known, at: usize) -> Option<Similarity> {
        self.vectors.of_entry(known.key, known.version, at)
    }

    /// How similar a text that the search has read is to the query by its vector, if it has one.
    pub fn similarity_of(&self, text: &str) -> Option<Similarity> {
        self.vectors.of_text(text)
    }

    /// Whether an entry of a document has a term of the query, or one of the vectors nearest to the
    /// query's.
    pub fn has_match(&self, known: Known) -> bool {
        self.known.has_term(known) || self.vectors.has_nearest(known.key, known.version)
    }

    /// Adds a document or row that the search has read to the new segment, unless the budget for
    /// indexing is used up. If `is_settled` is false, the next change may not show in the stamp: only
    /// notes the texts for vectors.
    pub(super) fn add_new(&mut self, row: &Row, entries: Vec<Entry<'_>>, is_settled: bool) {
        self.vectors.note(row.key, row.version, entries.iter().map(Entry::text));
        let is_full = self.known.len() >= MAX_DOCUMENTS;
        // If the index already has this stamp, the document was read only for its vectors.
        let is_known = || self.known.get(row.key).is_some_and(|known| known.stamp == row.stamp);
        let is_wanted = is_settled && !is_full && !is_known();
        let texts = entries.iter().flat_map(|entry| &entry.texts);
        let digits = texts.flat_map(|text| text.bytes()).filter(u8::is_ascii_digit).count() as u64;
        if is_wanted && self.budget.take_for_index(row.work + OF_DIGIT * digits) {
            let before = self.builder.stems();
            self.builder.add(row, entries.into_iter());
            let new = self.builder.stems() - before;
            self.budget.spend_for_index(OF_NEW_STEM * new as u64);
        }
    }

    /// Stores the new segment, and removes the documents or rows `gone` from the index. If `is_whole`,
    /// also removes the vectors of all documents or rows that the search did not see.
    pub(super) fn end(self, gone: &BTreeSet<i64>, is_whole: bool) {
        let Self { storage, place, collection, builder, vectors, bytes, .. } = self;
        if !(gone.is_empty() && builder.is_empty()) {
            let creates = bytes >= MIN_BYTES;
            // Ignores an error, such as another search writing at this moment: an index that is not
            // updated only makes later searches slower.
            let _ = update(storage, &place, &collection, gone, &builder, creates);
        }
        vectors.end(storage, &place, &collection, is_whole);
    }
}
