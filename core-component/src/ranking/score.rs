//! The score of an entry.

use super::constants::{K1, Kind, LEAST_LENGTH, LEAST_WEIGHT};

/// How often a text has each term of a query, in the order of its terms, and the text's length. Terms
/// of other texts count in part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weighted {
    pub of_terms: Vec<f64>,
    /// The length in stems, and that of a usual text of the kind in units of [`Kind::usual`].
    pub length: f64,
    pub usual: f64,
}

impl Weighted {
    pub fn new(terms: usize) -> Self {
        Self { of_terms: vec![0.0; terms], length: 0.0, usual: 1.0 }
    }

    /// The bm25 sum over the terms, by their weights.
    pub fn score(&self, kind: &Kind, weights: &[f64]) -> f64 {
        let Kind { weight, b, usual } = kind;
        let slow = K1 * (1.0 - b + b * self.length / (usual * self.usual));
        let of_term = |(count, weight): (&f64, &f64)| weight * count * (K1 + 1.0) / (count + slow);
        weight * self.of_terms.iter().zip(weights).map(of_term).sum::<f64>()
    }
}

/// The length that counts of a text with so many stems.
pub(super) fn length(stems: u32) -> f64 {
    f64::from(stems).max(LEAST_LENGTH)
}

/// How many entries there are, and how many of them have each term of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statistics {
    pub entries: u64,
    pub with_term: Vec<u64>,
}

impl Statistics {
    /// The weight of each term: its inverse document frequency, times what the query says.
    ///
    /// The logarithm is that of `libm`, since the systems' own differ in the last bit.
    pub fn weights(&self, of_query: &[f64]) -> Vec<f64> {
        let entries = self.entries as f64;
        let least = LEAST_WEIGHT * libm::log(1.0 + entries / 1.5);
        let weight = |(with, of_query): (&u64, &f64)| {
            let with = *with as f64;
            let rarity = libm::log(1.0 + (entries - with + 0.5) / (with + 0.5));
            of_query * rarity.max(least)
        };
        self.with_term.iter().zip(of_query).map(weight).collect()
    }
}
