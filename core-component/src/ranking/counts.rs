//! How often a text has the terms of a query.

use super::parts::Lengths;

/// How often the parts of an entry have each term of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// The number of all stems in each part, in the query or not.
    pub lengths: Lengths,
    /// The terms in the parts, ordered by part, then by term. No pair of a part and a term comes twice.
    pub found: Vec<Found>,
}

/// A term in a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// The index of the part in the entry; in a [`Scorer`](super::Scorer), among the parts of all
    /// entries.
    pub part: u32,
    /// The index of the term in the query.
    pub term: u32,
    pub count: u32,
}

impl Counts {
    /// Sorts `found`, and adds up the counts of a part and term. A part beyond the last one counts as
    /// the last one.
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

    /// Whether the text has any of the first `terms` terms of the query.
    pub fn has_any(&self, terms: usize) -> bool {
        self.found.iter().any(|found| (found.term as usize) < terms)
    }

    /// The number of all stems, whether or not they are of the query.
    pub fn stems(&self) -> u64 {
        self.lengths.iter().map(|stems| u64::from(*stems)).sum()
    }

    /// The number of occurrences of terms of the query.
    pub fn occurrences(&self) -> u64 {
        self.found.iter().map(|found| u64::from(found.count)).sum()
    }

    /// Whether the text has any term of the query.
    pub fn any(&self) -> bool {
        !self.found.is_empty()
    }

    /// The share of the first `terms` terms of the query that the text has, from 0 to 1.
    pub fn coverage(&self, terms: usize) -> f64 {
        let has = distinct(&self.found).into_iter().filter(|term| *term < terms).count();
        has as f64 / terms as f64
    }
}

/// The indexes of the terms that are found, each once, ascending.
pub(super) fn distinct(found: &[Found]) -> Vec<usize> {
    let mut terms: Vec<usize> = found.iter().map(|found| found.term as usize).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}
