//! A query as its stems, and how often a text has them.

use std::collections::BTreeSet;

use frostem::{Algorithm, Stemmer};

use super::irregular::stems_of_forms;
use super::stems::{each_stem, each_unstemmed};
use super::stop_words::is_stop_word;

/// The most terms of a query. Further ones are left out.
const MAX_TERMS: usize = 32;

/// The distinct words of a query, in the byte order of their stems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    terms: Vec<Vec<String>>,
    /// Each stem with the index of its term, in byte order.
    by_stem: Vec<(String, usize)>,
}

/// How often a text has each term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// In the order of the query's terms.
    pub(super) of_terms: Vec<u32>,
    /// The number of stems in the text, of the query or not.
    pub(super) length: u32,
}

impl Query {
    /// The query for a question. Stop words are left out, unless there is nothing else.
    pub fn of(text: &str) -> Self {
        let (mut telling, mut all) = (Vec::new(), Vec::new());
        each_stem(text, |word, stem| {
            let term = stems_of_forms(word, stem).unwrap_or_else(|| vec![stem.to_owned()]);
            if !is_stop_word(word) {
                telling.push(term.clone());
            }
            all.push(term);
        });
        let chosen = if telling.is_empty() { all } else { telling };
        let mut seen = BTreeSet::new();
        let first = chosen.into_iter().filter(|term| seen.insert(term.clone()));
        let mut terms: Vec<Vec<String>> = first.take(MAX_TERMS).collect();
        terms.sort_unstable();
        let stems = |(at, term): (usize, &Vec<String>)| {
            term.iter().map(move |stem| (stem.clone(), at)).collect::<Vec<_>>()
        };
        let mut by_stem: Vec<_> = terms.iter().enumerate().flat_map(stems).collect();
        by_stem.sort_unstable();
        Self { terms, by_stem }
    }

    /// The terms. Each has the stem of its word, and those of the word's irregular forms: a text with
    /// any of them has the term.
    pub fn terms(&self) -> &[Vec<String>] {
        &self.terms
    }

    /// Whether there is nothing to look for: the text has no letter and no digit.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Counts the terms of the query in a text.
    pub fn count(&self, text: &str) -> Counts {
        let mut counts = Counts { of_terms: vec![0; self.terms.len()], length: 0 };
        let stemmer = Stemmer::new(Algorithm::English);
        // Most words begin with another letter than the stems of the query: their stems don't matter.
        let mut begins = [false; 256];
        let letters = self.by_stem.iter().filter_map(|(stem, _)| stem.bytes().next());
        letters.for_each(|letter| begins[usize::from(letter)] = true);
        each_unstemmed(text, |word, is_english| {
            counts.length += 1;
            if !begins[usize::from(word.as_bytes()[0])] {
                return;
            }
            let find = |stem: &str| self.by_stem.binary_search_by(|one| one.0.as_str().cmp(stem));
            if let Ok(at) = if is_english { find(&stemmer.stem(word)) } else { find(word) } {
                counts.of_terms[self.by_stem[at].1] += 1;
            }
        });
        counts
    }
}

impl Counts {
    /// The counts of a text, in the order of the query's terms, and the number of all its stems.
    pub fn new(of_terms: Vec<u32>, length: u32) -> Self {
        Self { of_terms, length }
    }

    /// Adds how often the text has a stem of the term with this index in the query.
    pub fn add_to(&mut self, term: usize, count: u32) {
        self.of_terms[term] += count;
    }

    /// Adds those of another part of the text.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.of_terms.iter_mut().zip(&other.of_terms) {
            *count += more;
        }
        self.length += other.length;
    }

    /// Whether the text has the term with this index in the query.
    pub fn has(&self, term: usize) -> bool {
        self.of_terms[term] > 0
    }

    /// Which terms of the query the text has, in their order.
    pub(super) fn which(&self) -> Vec<bool> {
        self.of_terms.iter().map(|count| *count > 0).collect()
    }

    /// The share of the query's terms that the text has: from 0 to 1.
    pub fn coverage(&self) -> f64 {
        let had = self.of_terms.iter().filter(|count| **count > 0).count();
        had as f64 / self.of_terms.len() as f64
    }

    /// Whether the text has any term of the query.
    pub fn any(&self) -> bool {
        self.of_terms.iter().any(|count| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_the_stems_of_its_telling_words() {
        for (question, stems) in [
            ("Which tests did the collisions stop?", "collis stop test"),
            ("The broken build broke again", "break broke broken build built"),
            ("test, Tests TESTING", "test"),
            ("Who are you?", "are who you"),
            ("?!", ""),
        ] {
            assert_eq!(Query::of(question).terms().concat().join(" "), stems);
        }
    }

    #[test]
    fn a_text_is_counted_by_stems_and_its_length_has_all_of_them() {
        let query = Query::of("colliding planes");
        let counts = query.count("A plane collided with planes.");
        assert_eq!(counts, Counts { of_terms: vec![1, 2], length: 5 });
        assert!(!query.count("none of these").any());
        let query = Query::of("freezing");
        let counts = query.count("It froze. We freeze what is frozen.");
        assert_eq!(counts, Counts { of_terms: vec![3], length: 7 });
    }
}
