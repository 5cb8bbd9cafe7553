//! Documents that are indexed together.

use std::collections::BTreeMap;

use super::postings::{Length, Lengths, Posting, Postings};
use crate::ranking::each_stem;
use crate::storage::Status;

/// A document that is to be indexed.
pub(crate) struct Document<'d> {
    pub path: &'d str,
    /// Its status before it was read.
    pub status: &'d Status,
    pub version: &'d str,
    /// The work of finding its stems.
    pub work: u64,
    /// Facts of the entries that the toolset needs beside their counts.
    pub facts: String,
}

/// An entry that is to be indexed.
pub(crate) struct Part {
    /// The texts that it is found by.
    pub texts: [String; 2],
    pub begins_run: bool,
}

/// Documents that are indexed together, and their postings by stem.
#[derive(Default)]
pub(super) struct Segment {
    pub documents: Vec<Row>,
    pub postings: BTreeMap<String, Postings>,
}

/// A document of a segment.
pub(super) struct Row {
    pub path: String,
    pub stamp: String,
    pub version: String,
    pub size: u64,
    pub work: u64,
    pub lengths: Lengths,
    pub facts: String,
}

impl Segment {
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Adds a document.
    pub fn add(&mut self, document: Document<'_>, parts: impl Iterator<Item = Part>) {
        let lengths = parts.enumerate().map(|(entry, part)| self.count(entry, &part)).collect();
        self.documents.push(Row {
            path: document.path.to_owned(),
            stamp: document.status.stamp.clone(),
            version: document.version.to_owned(),
            size: document.status.size,
            work: document.work,
            lengths: Lengths(lengths),
            facts: document.facts,
        });
    }

    /// Adds the postings of an entry, and returns its length.
    fn count(&mut self, entry: usize, Part { texts, begins_run }: &Part) -> Length {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut length = 0;
        for text in texts {
            each_stem(text, |_, stem| {
                length += 1;
                match counts.get_mut(stem) {
                    Some(count) => *count += 1,
                    None => drop(counts.insert(stem.to_owned(), 1)),
                }
            });
        }
        let document = self.documents.len();
        for (stem, count) in counts {
            self.postings.entry(stem).or_default().push(Posting { document, entry, count });
        }
        Length { stems: length, begins_run: *begins_run }
    }
}
