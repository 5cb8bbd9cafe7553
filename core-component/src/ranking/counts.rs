//! How often a text has the terms of a query.

use super::parts::Lengths;

/// How often the parts of an entry have each term of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// The number of stems in each part, of the query or not.
    pub lengths: Lengths,
    /// Ordered by part, then by term. No pair of them comes twice.
    pub found: Vec<Found>,
}

/// A term in a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// Its index in the entry, or among all of a scorer.
    pub part: u32,
    /// Its index in the query.
    pub term: u32,
    pub count: u32,
}

impl Counts {
    /// `found` is in any order, and a part beyond the last one is the last one.
    pub fn new(lengths: Lengths, mut found: Vec<Found>) -> Self {
        let last = lengths.len() as u32 - 1;
        found.iter_mut().for_each(|found| found.part = found.part.min(last));
        found.sort_by_key(|found| (found.part, found.term));
        found.dedup_by(|next, kept| {
            let is_same = (next.part, next.term) == (kept.part, kept.term);
            if is_same {
                kept.count += next.count;
            }
            is_same
        });
        Self { lengths, found }
    }

    /// Whether the text has the term with this index in the query.
    pub fn has(&self, term: usize) -> bool {
        self.found.iter().any(|found| found.term as usize == term)
    }

    /// Whether the text has any of the first terms of the query.
    pub fn has_any(&self, terms: usize) -> bool {
        self.found.iter().any(|found| (found.term as usize) < terms)
    }

    /// Whether the text has any term of the query.
    pub fn any(&self) -> bool {
        !self.found.is_empty()
    }

    /// The share of the first terms of a query that the text has: from 0 to 1.
    pub fn coverage(&self, terms: usize) -> f64 {
        (0..terms).filter(|term| self.has(*term)).count() as f64 / terms as f64
    }
}
