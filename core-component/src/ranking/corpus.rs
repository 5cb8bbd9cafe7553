//! The entries that a search looks through, one after the other.

use std::collections::VecDeque;

use super::query::{Counts, Query};
use super::score::{InContext, REACH, Statistics};

/// Collects the entries that may be hits. Others are only counted, so that a search needs little
/// memory.
pub(crate) struct Corpus<T> {
    statistics: Statistics,
    candidates: Vec<(InContext, T)>,
    /// The last entries of the run: those that are around an entry that is not decided yet.
    run: VecDeque<Added<T>>,
    /// The index in `run` of the first entry that is not decided.
    undecided: usize,
}

/// An entry of the run.
struct Added<T> {
    counts: Counts,
    matches: Match,
    entry: Option<T>,
}

/// Which candidates an entry makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// By its words: itself and its two neighbours.
    Words,
    /// By its vector: itself.
    Vector,
    None,
}

impl Match {
    pub fn of_words(is_match: bool) -> Self {
        if is_match { Self::Words } else { Self::None }
    }
}

/// A candidate with its score.
pub(crate) struct Ranked<T> {
    pub score: f64,
    /// The share of the query's terms that the entry has, its neighbours left out: from 0 to 1.
    pub coverage: f64,
    pub entry: T,
}

impl<T> Corpus<T> {
    pub fn of(query: &Query) -> Self {
        let with_term = vec![0; query.terms().len()];
        let statistics = Statistics { entries: 0, with_term };
        let (candidates, run) = (Vec::new(), VecDeque::new());
        Self { statistics, candidates, run, undecided: 0 }
    }

    /// Begins a run: the entries before it are not around those after it.
    pub fn begin_run(&mut self) {
        while self.undecided < self.run.len() {
            self.decide();
        }
        self.run.clear();
        self.undecided = 0;
    }

    /// Adds an entry. Without an `entry` it counts, but is no hit.
    pub fn add(&mut self, counts: Counts, entry: Option<T>) {
        self.statistics.add(&counts);
        let matches = Match::of_words(counts.any());
        self.add_counted(counts, matches, entry);
    }

    /// Counts entries that [`add_counted`](Self::add_counted) adds in part: how many there are, and
    /// how many of them have each term of the query.
    pub fn count(&mut self, entries: u64, with_term: &[u64]) {
        self.statistics.entries += entries;
        for (sum, with) in self.statistics.with_term.iter_mut().zip(with_term) {
            *sum += with;
        }
    }

    /// Whether any entry, hit or not, has a term of the query.
    pub fn has_any_term(&self) -> bool {
        self.statistics.with_term.iter().any(|entries| *entries > 0)
    }

    /// Adds an entry that is counted already. Only a match makes candidates.
    pub fn add_counted(&mut self, counts: Counts, matches: Match, entry: Option<T>) {
        self.run.push_back(Added { counts, matches, entry });
        if self.run.len() > self.undecided + REACH {
            self.decide();
        }
        while self.undecided > REACH {
            self.run.pop_front();
            self.undecided -= 1;
        }
    }

    /// Decides whether the next entry is a candidate.
    fn decide(&mut self) {
        let at = self.undecided;
        self.undecided += 1;
        let Some(entry) = self.run[at].entry.take() else { return };
        let run = &self.run;
        let mut near = (at.saturating_sub(1)..=at + 1).filter_map(|at| run.get(at));
        if run[at].matches == Match::Vector || near.any(|near| near.matches == Match::Words) {
            let counts = |at: usize| run.get(at).map(|near| &near.counts);
            self.candidates.extend(InContext::of(counts, at).map(|context| (context, entry)));
        }
    }

    /// The candidates in the order in which they were added, with their scores.
    pub fn ranked(mut self) -> Vec<Ranked<T>> {
        self.begin_run();
        let weights = self.statistics.weights();
        let candidates = self.candidates.into_iter();
        let ranked = candidates.map(|(context, entry)| {
            let (score, coverage) = (context.score(&weights), context.coverage());
            Ranked { score, coverage, entry }
        });
        ranked.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries as they rank, the best first. A blank text begins a run.
    fn rank<'t>(question: &str, texts: &[&'t str]) -> Vec<&'t str> {
        let query = Query::of(question);
        let mut corpus = Corpus::of(&query);
        for text in texts {
            match *text {
                "" => corpus.begin_run(),
                text => corpus.add(query.count(text), Some(text)),
            }
        }
        let mut ranked = corpus.ranked();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        ranked.into_iter().map(|ranked| ranked.entry).collect()
    }

    #[test]
    fn a_rare_word_counts_more_than_a_common_one() {
        let texts =
            ["a red car", "", "a red bus", "", "a blue kite", "", "a red kite", "", "a red hat"];
        assert_eq!(rank("red kites", &texts)[..2], ["a red kite", "a blue kite"]);
    }

    #[test]
    fn an_answer_is_found_by_the_question_before_it() {
        let texts =
            ["fine weather", "", "Where is the passport?", "In the drawer.", "Thanks!", "", "no"];
        assert_eq!(
            rank("passport", &texts),
            ["Where is the passport?", "In the drawer."],
            "the third entry has no neighbour with the word"
        );
    }

    #[test]
    fn entries_of_another_run_are_not_around_it() {
        assert_eq!(rank("passport", &["the passport", "", "in the drawer"]), ["the passport"]);
    }

    #[test]
    fn an_entry_counts_without_being_a_hit() {
        let query = Query::of("kite");
        let mut corpus = Corpus::of(&query);
        corpus.add(query.count("a kite"), None);
        corpus.add(query.count("and its string"), Some("and its string"));
        let ranked = corpus.ranked();
        assert_eq!(ranked.len(), 1);
        assert_eq!(ranked[0].coverage, 0.0);
        assert!(ranked[0].score > 0.0);
    }

    #[test]
    fn the_entries_around_an_entry_are_the_same_wherever_the_run_is_cut() {
        let texts: Vec<String> =
            (0..40).map(|n| format!("entry {n} {}", "kite ".repeat(n % 3))).collect();
        let query = Query::of("kite entry");
        let mut corpus = Corpus::of(&query);
        texts.iter().for_each(|text| corpus.add(query.count(text), Some(text)));
        let weights = corpus.statistics.weights();
        let counts: Vec<Counts> = texts.iter().map(|text| query.count(text)).collect();
        for (at, ranked) in corpus.ranked().iter().enumerate() {
            let whole = InContext::of(|at| counts.get(at), at).expect("each has a term");
            assert_eq!(whole.score(&weights), ranked.score, "{at}");
        }
    }
}
