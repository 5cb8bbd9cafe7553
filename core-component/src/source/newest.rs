//! The newest entries, for a search without words.

use std::cmp::Reverse;

use super::entry::{Entry, UnreadDocument};
use crate::ranking::{FoundBy, Ranked};
use crate::time::Timestamp;

/// The number of entries that are kept, the maximum number of hits in an answer.
const MOST: usize = 50;

/// Keeps the newest of the entries that are added. Documents from an index and documents that are read
/// may be added in any order: the result is the same.
#[derive(Default)]
pub(super) struct Newest {
    entries: Vec<(Key, Entry)>,
    added: usize,
}

/// Sorts entries: the newest first, then by owner and path. Within a document, a later entry is
/// newer.
type Key = (Reverse<Option<Timestamp>>, usize, Option<String>, Reverse<usize>);

impl Newest {
    /// Adds an entry with its owner and its moment.
    pub fn add(
        &mut self,
        moment: Option<Timestamp>,
        owner: usize,
        entry: Entry,
        documents: &[UnreadDocument],
    ) {
        let path = entry.path_among(documents).map(str::to_owned);
        self.added += 1;
        let key = (Reverse(moment), owner, path, Reverse(self.added));
        self.entries.push((key, entry));
        if self.entries.len() >= 2 * MOST {
            self.keep_newest();
        }
    }

    fn keep_newest(&mut self) {
        self.entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.entries.truncate(MOST);
    }

    /// Returns the newest entries with their owners as candidates of equal score, the newest first.
    pub fn ranked(mut self) -> Vec<Ranked<(usize, Entry)>> {
        self.keep_newest();
        let ranked = self.entries.into_iter().map(|((_, owner, ..), entry)| Ranked {
            score: 0.0,
            coverage: 1.0,
            unnamed_days: 0.0,
            found_by: FoundBy::Words,
            entry: (owner, entry),
        });
        ranked.collect()
    }
}
