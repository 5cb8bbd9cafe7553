//! bm25: the score of a text by the words of a query.

use super::constants::{K1, Kind, LEAST_LENGTH, LEAST_WEIGHT};
use super::counts::Found;
use super::neighbours::Neighbour;

/// How often a text has each own term of a query (a term that is not from the thesaurus), in the order
/// of the query, and the text's length. Terms of neighbouring parts and words of the thesaurus count as
/// fractions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weighted {
    pub of_terms: Vec<f64>,
    /// The length in stems. bm25 compares it with `usual` times [`Kind::usual`], the length of a usual
    /// text.
    pub length: f64,
    pub usual: f64,
}

impl Weighted {
    pub fn new(terms: usize) -> Self {
        Self { of_terms: vec![0.0; terms], length: 0.0, usual: 1.0 }
    }

    /// The bm25 sum over the terms, by their weights.
    pub fn score(&self, kind: &Kind, weights: &Weights) -> f64 {
        let Kind { weight, b, usual } = kind;
        let slow = K1 * (1.0 - b + b * self.length / (usual * self.usual));
        let of_term = |(count, weight): (&f64, &f64)| weight * count * (K1 + 1.0) / (count + slow);
        weight * self.of_terms.iter().zip(&weights.of_terms).map(of_term).sum::<f64>()
    }
}

/// The length for bm25 of a text with this number of stems.
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
    /// The inverse document frequency of a term that `with` entries have, at least [`LEAST_WEIGHT`] of
    /// the maximum.
    ///
    /// Uses the logarithm of `libm`, because those of operating systems differ in the last bit.
    fn rarity(&self, with: f64) -> f64 {
        let entries = self.entries as f64;
        let least = LEAST_WEIGHT * libm::log(1.0 + entries / 1.5);
        libm::log(1.0 + (entries - with + 0.5) / (with + 0.5)).max(least)
    }
}

/// The weights of a query's terms among the entries of a search.
pub(super) struct Weights {
    /// The weight of each own term of the query, a term that is not from the thesaurus.
    pub of_terms: Vec<f64>,
    /// For each word of the thesaurus: the own terms for which it counts, each with the weight of an
    /// occurrence.
    neighbours: Vec<Vec<(usize, f64)>>,
}

impl Weights {
    /// `of_query` has the weight that the query gives each own term. The term's rarity is not part of
    /// it.
    pub fn new(statistics: &Statistics, of_query: &[f64], neighbours: &[Neighbour]) -> Self {
        let own = of_query.len();
        let with = |term: usize| statistics.with_term[term] as f64;
        let rarity = |term: usize| {
            let with = match statistics.with_term[term] {
                // If no entry has the word, its neighbours in the thesaurus tell how common it is. At
                // least one entry is assumed to have the word: otherwise, among few entries, the word
                // would outweigh all others.
                0 => {
                    let of_term = neighbours.iter().filter(|neighbour| neighbour.of == term);
                    let with = of_term.map(|neighbour| neighbour.weight * with(neighbour.term));
                    with.sum::<f64>().max(1.0)
                }
                with => with as f64,
            };
            statistics.rarity(with)
        };
        let rarities: Vec<f64> = (0..own).map(rarity).collect();
        let mut of_neighbours = vec![Vec::new(); statistics.with_term.len() - own];
        for Neighbour { of, term, weight } in neighbours {
            let common = (statistics.rarity(with(*term)) / rarities[*of]).min(1.0);
            of_neighbours[term - own].push((*of, weight * common));
        }
        let of_terms = rarities.iter().zip(of_query).map(|(rarity, weight)| rarity * weight);
        Self { of_terms: of_terms.collect(), neighbours: of_neighbours }
    }

    /// The share of some own terms of the query in the weight of all.
    pub fn share(&self, terms: impl Iterator<Item = usize>) -> f64 {
        terms.map(|term| self.of_terms[term]).sum::<f64>() / self.of_terms.iter().sum::<f64>()
    }

    /// Adds the terms of a text. Each occurrence counts as `share` of one.
    pub fn add(&self, to: &mut Weighted, found: &[Found], share: f64) {
        for Found { term, count, .. } in found {
            let count = share * f64::from(*count);
            match to.of_terms.get_mut(*term as usize) {
                Some(of_term) => *of_term += count,
                None => {
                    for (of, weight) in &self.neighbours[*term as usize - to.of_terms.len()] {
                        to.of_terms[*of] += count * weight;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_thesaurus_count_in_part_and_less_if_they_are_common() {
        let statistics = Statistics { entries: 100, with_term: vec![0, 10, 40, 20, 2] };
        let neighbour = |of, term, weight| Neighbour { of, term, weight };
        let neighbours = [neighbour(0, 2, 0.5), neighbour(1, 3, 0.5), neighbour(1, 4, 0.25)];
        let weights = Weights::new(&statistics, &[1.0, 2.0], &neighbours);
        let as_rare_as = |with| statistics.rarity(with);
        assert_eq!(weights.of_terms, [as_rare_as(20.0), 2.0 * as_rare_as(10.0)]);

        let mut text = Weighted::new(2);
        let found = |term, count| Found { part: 0, term, count };
        weights.add(&mut text, &[found(1, 1), found(3, 1), found(4, 2)], 0.5);
        let common = as_rare_as(20.0) / as_rare_as(10.0);
        assert_eq!(text.of_terms, [0.0, 0.5 + 0.5 * 0.5 * common + 0.25]);
    }
}
