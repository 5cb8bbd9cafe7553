//! The documents that an index has, as a search reads them.

use super::database::Snapshot;
use super::facts::Facts;
use super::segment;
use crate::ranking::{Counts, Found};

/// A document or row that the index has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub key: i64,
    segment: usize,
    document: usize,
    pub facts: Facts,
    pub stamp: i64,
    /// The number of the version that was read, see [`number_of`](super::number_of).
    pub version: i64,
}

/// The documents or rows of a collection that the index has.
pub(super) struct KnownDocuments {
    snapshot: Snapshot,
    /// Ordered by key: the key, the index of the segment in `snapshot`, and the index in the segment.
    documents: Vec<(i64, usize, usize)>,
}

impl KnownDocuments {
    pub fn new(snapshot: Snapshot) -> Self {
        let mut documents = Vec::new();
        for (segment, stored) in snapshot.segments.iter().enumerate() {
            for (document, row) in stored.segment.documents.iter().enumerate() {
                if !stored.gone.contains(&document) {
                    documents.push((row.key, segment, document));
                }
            }
        }
        documents.sort_unstable();
        Self { snapshot, documents }
    }

    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// All keys, ascending.
    pub fn keys(&self) -> impl Iterator<Item = i64> {
        self.documents.iter().map(|(key, ..)| *key)
    }

    /// All documents, ascending by key.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Known> {
        self.documents.iter().map(|(_, segment, document)| self.at(*segment, *document))
    }

    pub fn get(&self, key: i64) -> Option<Known> {
        let at = self.documents.binary_search_by_key(&key, |(key, ..)| *key).ok()?;
        let (_, segment, document) = self.documents[at];
        Some(self.at(segment, document))
    }

    fn at(&self, segment: usize, document: usize) -> Known {
        let row = &self.snapshot.segments[segment].segment.documents[document];
        let segment::Row { key, facts, stamp, version, .. } = *row;
        Known { key, segment, document, facts, stamp, version }
    }

    /// For each entry of a document: how often it has the terms of the query, and whether it begins a
    /// run of related entries.
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

    /// The number of a document's entries.
    pub fn number_of_entries(&self, known: Known) -> usize {
        self.snapshot.segments[known.segment].segment.entries(known.document).count()
    }

    /// Whether any entry of a document has a term of the query.
    pub fn has_term(&self, known: Known) -> bool {
        let parts = self.snapshot.segments[known.segment].segment.parts_of(known.document);
        !within(&self.snapshot.found[known.segment], &parts).is_empty()
    }
}

/// The terms that are found in a range of parts. `found` is ordered by part.
fn within<'f>(found: &'f [Found], parts: &std::ops::Range<u32>) -> &'f [Found] {
    let start = found.partition_point(|found| found.part < parts.start);
    let end = found.partition_point(|found| found.part < parts.end);
    &found[start..end]
}
