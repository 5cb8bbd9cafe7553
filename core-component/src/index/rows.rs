//! An index of rows. A search gets the rows that the index has, and then tells it which of them exist
//! and which are gone.

use std::collections::BTreeSet;

use super::builder::{Entry, Row};
use super::collection::Index;
use super::known::Known;
use crate::ranking::Counts;

pub(crate) type RowIndex<'a> = Index<'a, SeenRows>;

/// The findings of a search about which rows of a collection exist.
#[derive(Default)]
pub(crate) struct SeenRows {
    /// Whether the search noted which rows exist.
    is_whole: bool,
    /// The keys of the rows that no longer exist.
    gone: BTreeSet<i64>,
}

impl Index<'_, SeenRows> {
    /// All rows that are in the index and need not be read for their vectors, ascending by key.
    pub fn rows(&mut self) -> Vec<Known> {
        // Asks about the newest rows first, because only a limited number of rows is read for vectors.
        let mut known: Vec<Known> = self.known.iter().rev().collect();
        known.retain(|row| !self.vectors.has_to_read(row.key, row.version));
        known.reverse();
        known
    }

    /// Notes the keys of all rows that exist, and of the indexed rows that no longer exist.
    pub fn see_all(&mut self, existing: impl Iterator<Item = i64>, gone: BTreeSet<i64>) {
        self.seen = SeenRows { is_whole: true, gone };
        existing.for_each(|key| self.vectors.see(key));
    }

    /// How often a row, which is one entry, has the terms of the query.
    pub fn counts(&self, row: Known) -> Counts {
        let none = || Counts { lengths: vec![0], found: Vec::new() };
        self.known.entries(row).next().map_or_else(none, |(counts, _)| counts)
    }

    /// Adds a row that the search has read.
    pub fn add(&mut self, row: &Row, entry: Entry<'_>) {
        self.bytes = self.bytes.saturating_add(row.work);
        self.add_new(row, vec![entry], true);
    }

    /// Brings the index up to date with the rows that were added and that are gone.
    pub fn update(mut self) {
        let SeenRows { is_whole, gone } = std::mem::take(&mut self.seen);
        self.end(&gone, is_whole);
    }
}
