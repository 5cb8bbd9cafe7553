//! An index of documents. A search asks it for every document that exists, so an indexed document that
//! it did not ask for is gone.

use std::collections::BTreeSet;

use super::builder::{Entry, Row};
use super::collection::Index;
use super::facts::Facts;
use super::known::Known;
use super::{number_of, stamp};
use crate::ranking::Counts;
use crate::storage::Status;

/// Opening a document takes as long as searching this many bytes.
const BYTES_OF_READ: u64 = 4 << 10;

pub(crate) type DocumentIndex<'a> = Index<'a, SeenDocuments>;

/// The keys of the documents that a search asked for.
#[derive(Default)]
pub(crate) struct SeenDocuments(BTreeSet<i64>);

/// A document that is to be indexed.
pub(crate) struct Document<'d> {
    /// The name of the document in its collection, such as its path.
    pub key: &'d str,
    /// If the stamp differs from the stored one, the document may have changed.
    pub stamp: &'d str,
    /// The version of the document that was read.
    pub version: &'d str,
    pub facts: Facts,
    /// The work of finding the stems of the document, in bytes of English text.
    pub work: u64,
}

impl Index<'_, SeenDocuments> {
    /// Finds an existing document in the index, and notes that it exists. `None` if the document has to
    /// be read: it is not in the index, its stamp has changed, or its texts wait for vectors.
    pub fn find(&mut self, key: &str, status: &Status) -> Option<Known> {
        let key = number_of(key);
        self.seen.0.insert(key);
        self.vectors.see(key);
        self.bytes = self.bytes.saturating_add(status.size.saturating_add(BYTES_OF_READ));
        let known = self.known.get(key)?;
        let is_current = known.stamp == number_of(&status.stamp);
        (is_current && !self.vectors.has_to_read(key, known.version)).then_some(known)
    }

    /// For each entry of a document: how often it has the terms of the query, and whether it begins a
    /// run of related entries.
    pub fn entries(&self, known: Known) -> impl Iterator<Item = (Counts, bool)> {
        self.known.entries(known)
    }

    /// The number of a document's entries.
    pub fn number_of_entries(&self, known: Known) -> usize {
        self.known.number_of_entries(known)
    }

    /// Adds a document that the search has read.
    pub fn add<'t>(&mut self, document: &Document<'_>, entries: impl Iterator<Item = Entry<'t>>) {
        let Document { key, stamp, version, facts, work } = document;
        let is_settled = stamp::is_settled(stamp, self.now);
        let [key, stamp, version] = [key, stamp, version].map(|text| number_of(text));
        let row = Row { key, stamp, version, facts: *facts, work: *work };
        self.add_new(&row, entries.collect(), is_settled);
    }

    /// Notes that a document exists, so that its vectors stay. For documents that are never indexed.
    pub fn see(&mut self, key: &str) {
        self.vectors.see(number_of(key));
    }

    /// Notes the texts of a document that is never indexed, because each search reads it. The texts may
    /// need vectors.
    pub fn note<'t>(&mut self, key: &str, version: &str, texts: impl Iterator<Item = &'t str>) {
        self.vectors.note(number_of(key), number_of(version), texts);
    }

    /// Brings the index up to date: removes the documents that the search did not ask
    /// [`find`](Self::find) for. Removes their vectors only if `is_whole`: if the search could not read
    /// some document, it may still exist.
    pub fn update(self, is_whole: bool) {
        let gone = self.known.keys().filter(|key| !self.seen.0.contains(key)).collect();
        self.end(&gone, is_whole);
    }
}
