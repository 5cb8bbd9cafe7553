//! A query as its stems, and how often a text has them.

use std::collections::BTreeSet;

use frostem::{Algorithm, Stemmer};

use super::stems::{each_stem, each_unstemmed};
use super::stop_words::is_stop_word;

/// The most stems of a query. Further ones are left out.
const MAX_STEMS: usize = 32;

/// The distinct stems of a query, in byte order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    stems: Vec<String>,
}

/// How often a text has each stem of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// In the order of the query's stems.
    pub(super) of_stems: Vec<u32>,
    /// The number of stems in the text, of the query or not.
    pub(super) length: u32,
}

impl Query {
    /// The query for a question. Stop words are left out, unless there is nothing else.
    pub fn of(text: &str) -> Self {
        let (mut telling, mut all) = (Vec::new(), Vec::new());
        each_stem(text, |word, stem| {
            all.push(stem.to_owned());
            if !is_stop_word(word) {
                telling.push(stem.to_owned());
            }
        });
        let chosen = if telling.is_empty() { all } else { telling };
        let mut seen = BTreeSet::new();
        let first = chosen.into_iter().filter(|stem| seen.insert(stem.clone()));
        let mut stems: Vec<String> = first.take(MAX_STEMS).collect();
        stems.sort_unstable();
        Self { stems }
    }

    pub fn stems(&self) -> &[String] {
        &self.stems
    }

    /// Whether there is nothing to look for: the text has no letter and no digit.
    pub fn is_empty(&self) -> bool {
        self.stems.is_empty()
    }

    /// Counts the stems of the query in a text.
    pub fn count(&self, text: &str) -> Counts {
        let mut counts = Counts { of_stems: vec![0; self.stems.len()], length: 0 };
        let stemmer = Stemmer::new(Algorithm::English);
        // Most words begin with another letter than the stems of the query: their stems don't matter.
        let mut begins = [false; 256];
        let letters = self.stems.iter().filter_map(|stem| stem.bytes().next());
        letters.for_each(|letter| begins[usize::from(letter)] = true);
        each_unstemmed(text, |word, is_english| {
            counts.length += 1;
            if !begins[usize::from(word.as_bytes()[0])] {
                return;
            }
            let find = |stem: &str| self.stems.binary_search_by(|one| one.as_str().cmp(stem));
            if let Ok(at) = if is_english { find(&stemmer.stem(word)) } else { find(word) } {
                counts.of_stems[at] += 1;
            }
        });
        counts
    }
}

impl Counts {
    /// The counts of a text, in the order of the query's stems, and the number of all its stems.
    pub fn new(of_stems: Vec<u32>, length: u32) -> Self {
        Self { of_stems, length }
    }

    /// Sets how often the text has the stem with this index in the query.
    pub fn set(&mut self, stem: usize, count: u32) {
        self.of_stems[stem] = count;
    }

    /// Adds those of another part of the text.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.of_stems.iter_mut().zip(&other.of_stems) {
            *count += more;
        }
        self.length += other.length;
    }

    /// Whether the text has the stem with this index in the query.
    pub fn has(&self, stem: usize) -> bool {
        self.of_stems[stem] > 0
    }

    /// Which stems of the query the text has, in their order.
    pub(super) fn which(&self) -> Vec<bool> {
        self.of_stems.iter().map(|count| *count > 0).collect()
    }

    /// The share of the query's stems that the text has: from 0 to 1.
    pub fn coverage(&self) -> f64 {
        let had = self.of_stems.iter().filter(|count| **count > 0).count();
        had as f64 / self.of_stems.len() as f64
    }

    /// Whether the text has any stem of the query.
    pub fn any(&self) -> bool {
        self.of_stems.iter().any(|count| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_the_stems_of_its_telling_words() {
        for (question, stems) in [
            ("Which tests did the collisions break?", "break collis test"),
            ("test, Tests TESTING", "test"),
            ("Who are you?", "are who you"),
            ("?!", ""),
        ] {
            assert_eq!(Query::of(question).stems().join(" "), stems);
        }
    }

    #[test]
    fn a_text_is_counted_by_stems_and_its_length_has_all_of_them() {
        let query = Query::of("colliding planes");
        let counts = query.count("A plane collided with planes.");
        assert_eq!(counts, Counts { of_stems: vec![1, 2], length: 5 });
        assert!(!query.count("none of these").any());
    }
}
