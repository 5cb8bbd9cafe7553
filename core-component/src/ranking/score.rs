//! The score of an entry.

use super::query::Counts;

/// bm25: how soon further occurrences of a term stop to count.
const K1: f64 = 1.2;
/// bm25: how much a long text counts less.
const B: f64 = 0.75;
/// The length of a usual entry, in stems.
const MEAN_LENGTH: f64 = 30.0;
/// The weight of the entry before, among the counts of an entry.
const BEFORE: f64 = 0.4;
/// The weight of the entry after it.
const AFTER: f64 = 0.2;
/// The weight of the entries around it, beside its own score.
const AROUND: f64 = 0.8;
/// The number of entries on each side that are around an entry.
pub(crate) const REACH: usize = 4;

/// Counts with weights.
#[derive(Clone, Debug)]
struct Weighted {
    of_terms: Vec<f64>,
    length: f64,
}

impl Weighted {
    fn of(counts: &Counts) -> Self {
        let of_terms = counts.of_terms.iter().map(|count| f64::from(*count)).collect();
        Self { of_terms, length: f64::from(counts.length) }
    }

    fn add(&mut self, counts: &Counts, weight: f64) {
        for (sum, count) in self.of_terms.iter_mut().zip(&counts.of_terms) {
            *sum += weight * f64::from(*count);
        }
        self.length += weight * f64::from(counts.length);
    }

    fn score(&self, weights: &[f64], mean_length: f64) -> f64 {
        let slow = K1 * (1.0 - B + B * self.length / mean_length);
        let of_term = |(count, weight): (&f64, &f64)| weight * count * (K1 + 1.0) / (count + slow);
        self.of_terms.iter().zip(weights).map(of_term).sum()
    }
}

/// An entry with the entries around it, counted.
#[derive(Clone, Debug)]
pub(super) struct InContext {
    /// Its own counts, with those of its neighbours.
    near: Weighted,
    around: Weighted,
    /// Of the entry itself.
    coverage: f64,
}

impl InContext {
    /// Of the entry at an index of these, which belong together. `None` if there is none.
    pub fn of<'a>(entries: impl Fn(usize) -> Option<&'a Counts>, at: usize) -> Option<Self> {
        let own = entries(at)?;
        let before = at.checked_sub(1).and_then(&entries);
        let after = entries(at + 1);
        let mut near = Weighted::of(own);
        for (neighbour, weight) in [(before, BEFORE), (after, AFTER)] {
            if let Some(counts) = neighbour {
                near.add(counts, weight);
            }
        }
        let mut around = Weighted { of_terms: vec![0.0; own.of_terms.len()], length: 0.0 };
        for counts in (at.saturating_sub(REACH)..=at + REACH).filter_map(entries) {
            around.add(counts, 1.0);
        }
        Some(Self { near, around, coverage: own.coverage() })
    }

    /// The score, by the weights of the query's terms.
    pub fn score(&self, weights: &[f64]) -> f64 {
        let near = self.near.score(weights, MEAN_LENGTH * (1.0 + BEFORE + AFTER));
        let around = self.around.score(weights, MEAN_LENGTH * (2 * REACH + 1) as f64);
        near + AROUND * around
    }

    /// The share of the query's terms that the entry itself has: from 0 to 1.
    pub fn coverage(&self) -> f64 {
        self.coverage
    }
}

/// How many entries there are, and how many of them have each term of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    pub entries: u64,
    pub with_term: Vec<u64>,
}

impl Statistics {
    pub fn add(&mut self, counts: &Counts) {
        self.entries += 1;
        self.with_term.resize(counts.of_terms.len(), 0);
        for (with, count) in self.with_term.iter_mut().zip(&counts.of_terms) {
            *with += u64::from(*count > 0);
        }
    }

    /// The weight of each term: its inverse document frequency.
    ///
    /// The logarithm is that of `libm`, since the systems' own differ in the last bit.
    pub fn weights(&self) -> Vec<f64> {
        let weight = |with: &u64| {
            let (with, entries) = (*with as f64, self.entries as f64);
            libm::log(1.0 + (entries - with + 0.5) / (with + 0.5))
        };
        self.with_term.iter().map(weight).collect()
    }
}
