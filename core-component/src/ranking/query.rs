//! A query as its stems, and how often a text has them.

use std::collections::BTreeSet;

use frostem::{Algorithm, Stemmer};

use super::asking::is_asking;
use super::constants::{ASKING, NAME};
use super::counts::{Counts, Found};
use super::irregular::stems_of_forms;
use super::parts::Parts;
use super::stems::{each_stem, each_unstemmed};
use super::stop_words::is_stop_word;

/// The most terms of a query. Further ones are left out.
const MAX_TERMS: usize = 32;

/// The distinct words of a query, in the byte order of their stems.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    terms: Vec<Vec<String>>,
    /// What each term weighs beside its rarity.
    weights: Vec<f64>,
    /// Each stem with the index of its term, in byte order.
    by_stem: Vec<(String, usize)>,
    /// The bytes with which a stem begins.
    begins: [bool; 256],
}

impl Query {
    /// The query for a question. Stop words are left out, unless there is nothing else.
    pub fn of(text: &str) -> Self {
        let (mut telling, mut all) = (Vec::new(), Vec::new());
        let names = names(text);
        each_stem(text, |word, stem| {
            let term = stems_of_forms(word, stem).unwrap_or_else(|| vec![stem.to_owned()]);
            let weight = if names.contains(word) { NAME } else { 1.0 };
            let weight = if is_asking(stem) { weight * ASKING } else { weight };
            if !is_stop_word(word) {
                telling.push((term.clone(), weight));
            }
            all.push((term, weight));
        });
        let chosen = if telling.is_empty() { all } else { telling };
        let mut seen = BTreeSet::new();
        let first = chosen.into_iter().filter(|(term, _)| seen.insert(term.clone()));
        let mut chosen: Vec<(Vec<String>, f64)> = first.take(MAX_TERMS).collect();
        chosen.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let (terms, weights): (Vec<_>, Vec<_>) = chosen.into_iter().unzip();
        let stems = |(at, term): (usize, &Vec<String>)| {
            term.iter().map(move |stem| (stem.clone(), at)).collect::<Vec<_>>()
        };
        let mut by_stem: Vec<_> = terms.iter().enumerate().flat_map(stems).collect();
        by_stem.sort_unstable();
        let mut begins = [false; 256];
        let first = by_stem.iter().filter_map(|(stem, _)| stem.bytes().next());
        first.for_each(|byte| begins[usize::from(byte)] = true);
        Self { terms, weights, by_stem, begins }
    }

    /// The terms. Each has the stem of its word, and those of the word's irregular forms: a text with
    /// any of them has the term.
    pub fn terms(&self) -> &[Vec<String>] {
        &self.terms
    }

    /// What each term weighs beside its rarity.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether there is nothing to look for: the text has no letter and no digit.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Counts the terms of the query in an entry of these texts.
    pub fn count<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Counts {
        let (mut parts, mut found) = (Parts::default(), Vec::new());
        for line in texts.into_iter().flat_map(|text| text.split('\n')) {
            self.each_term(line, |term| {
                let part = parts.add_stem();
                found.extend(term.map(|term| Found { part, term: term as u32, count: 1 }));
            });
            parts.end_line();
        }
        Counts::new(parts.end(), found)
    }

    /// Which terms a text has.
    pub(super) fn which(&self, text: &str) -> Vec<bool> {
        let mut which = vec![false; self.terms.len()];
        self.each_term(text, |term| term.into_iter().for_each(|term| which[term] = true));
        which
    }

    /// Calls `found` for each stem of a text, with the index of its term if it is of the query.
    fn each_term(&self, text: &str, mut found: impl FnMut(Option<usize>)) {
        let stemmer = Stemmer::new(Algorithm::English);
        each_unstemmed(text, |word, is_english| {
            // Most words begin with another letter than the stems of the query: their stems don't
            // matter.
            if !self.begins[usize::from(word.as_bytes()[0])] {
                return found(None);
            }
            let find = |stem: &str| self.by_stem.binary_search_by(|one| one.0.as_str().cmp(stem));
            let at = if is_english { find(&stemmer.stem(word)) } else { find(word) };
            found(at.ok().map(|at| self.by_stem[at].1));
        });
    }
}

/// The words of a text, folded, that begin with a capital letter, without the first word.
fn names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for written in text.split_whitespace().skip(1) {
        if written.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase) {
            each_unstemmed(written, |word, _| {
                names.insert(word.to_owned());
            });
        }
    }
    names
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
    fn a_word_that_asks_weighs_less_and_a_name_more() {
        let query = Query::of("Did Anna mention the red kite?");
        let words: Vec<&str> = query.terms().iter().map(|term| term[0].as_str()).collect();
        assert_eq!(words, ["anna", "kite", "mention", "red"]);
        assert_eq!(query.weights(), [1.2, 1.0, 0.6, 1.0]);
    }

    #[test]
    fn a_text_is_counted_by_stems_and_its_length_has_all_of_them() {
        let found = |term, count| Found { part: 0, term, count };
        let query = Query::of("colliding planes");
        let counts = query.count(["A plane collided\nwith planes."]);
        assert_eq!(counts, Counts { lengths: vec![5], found: vec![found(0, 1), found(1, 2)] });
        assert!(!query.count(["none of these"]).any());
        let query = Query::of("freezing");
        let counts = query.count(["It froze.", "We freeze what is frozen."]);
        assert_eq!(counts, Counts { lengths: vec![7], found: vec![found(0, 3)] });
    }

    #[test]
    fn a_term_is_counted_in_each_part() {
        let line = format!("kite {}\n", "word ".repeat(70));
        let counts = Query::of("kite").count([line.repeat(2).as_str(), "a kite and a kite"]);
        assert_eq!(counts.lengths, [71, 76]);
        let found = |part, count| Found { part, term: 0, count };
        assert_eq!(counts.found, [found(0, 1), found(1, 3)], "the rest joins the last part");
    }
}
