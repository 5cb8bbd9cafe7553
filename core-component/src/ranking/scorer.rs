//! The scorer: collects the entries of a search one after the other, and computes their scores.

use std::ops::Range;

use super::bm25::{Statistics, Weighted, Weights, length};
use super::constants::{
    AFTER, AROUND, BEFORE, COHERENT, MAX_MATCHES, NEEDS_CONTEXT, PART, REACH, WHOLE,
};
use super::counts::{Counts, Found, distinct};
use super::matches::{FoundBy, Match, Value};
use super::neighbours::Neighbour;
use super::query::Query;

/// Collects the entries of a search. For an entry that cannot be a hit, it stores only numbers, so that
/// a search needs little memory.
pub(crate) struct Scorer<T> {
    /// The weights that the query gives its own terms.
    of_query: Vec<f64>,
    neighbours: Vec<Neighbour>,
    /// The own terms of the query that only name days.
    days: Vec<usize>,
    statistics: Statistics,
    rows: Vec<Row>,
    /// The lengths of the parts of all entries. The `part` of a [`Found`] in `found` is an index of
    /// `lengths`.
    lengths: Vec<u8>,
    found: Vec<Found>,
    hits: Vec<Hit<T>>,
    run: u32,
    most_matches: usize,
}

/// The numbers of an entry.
struct Row {
    /// The number of the entry's run. Entries of the same run belong together.
    run: u32,
    first_part: u32,
    first_found: u32,
    matches: Match,
}

/// An entry that may be a hit.
struct Hit<T> {
    row: usize,
    entry: T,
}

/// A candidate with its score.
pub(crate) struct Ranked<T> {
    pub score: f64,
    /// The weighted share of the query's own terms that the entry itself has, from 0 to 1.
    pub coverage: f64,
    /// The weighted share of the own terms that only name days and that the entry does not have. An entry
    /// of these days need not name them.
    pub unnamed_days: f64,
    pub found_by: FoundBy,
    pub entry: T,
}

impl<T> Scorer<T> {
    pub fn new(query: &Query) -> Self {
        let with_term = vec![0; query.terms().len()];
        Self {
            of_query: query.weights().to_vec(),
            neighbours: query.neighbours().to_vec(),
            days: query.days().to_vec(),
            statistics: Statistics { entries: 0, with_term },
            rows: Vec::new(),
            lengths: Vec::new(),
            found: Vec::new(),
            hits: Vec::new(),
            run: 0,
            most_matches: MAX_MATCHES,
        }
    }

    /// Removes the limit on matches that make candidates.
    pub fn without_limit(self) -> Self {
        Self { most_matches: usize::MAX, ..self }
    }

    /// Begins a run: entries that are added before and after this call do not count as neighbours.
    pub fn begin_run(&mut self) {
        self.run += 1;
    }

    /// Counts and adds an entry. If `entry` is `None`, it cannot be a hit, but it changes the scores of
    /// the others. If `is_nearest` is true, it can be a hit without a term of the query.
    pub fn add(&mut self, counts: &Counts, is_nearest: bool, entry: Option<T>) {
        self.statistics.entries += 1;
        for term in distinct(&counts.found) {
            self.statistics.with_term[term] += 1;
        }
        self.add_counted(counts, Match::new(counts.any(), is_nearest), entry);
    }

    /// Counts entries without adding them: `entries` in all, of which `with_term` have each term of the
    /// query. They change the document frequencies.
    pub fn count(&mut self, entries: u64, with_term: &[u64]) {
        self.statistics.entries += entries;
        for (sum, with) in self.statistics.with_term.iter_mut().zip(with_term) {
            *sum += with;
        }
    }

    /// Whether any entry, hit or not, has an own term of the query.
    pub fn has_any_term(&self) -> bool {
        let own = self.of_query.len();
        self.statistics.with_term[..own].iter().any(|entries| *entries > 0)
    }

    /// Adds an entry that is already in the document frequencies. `matches` tells whether it makes
    /// candidates.
    pub fn add_counted(&mut self, counts: &Counts, matches: Match, entry: Option<T>) {
        let row = self.rows.len();
        let first_part = self.lengths.len() as u32;
        let first_found = self.found.len() as u32;
        self.rows.push(Row { run: self.run, first_part, first_found, matches });
        self.lengths.extend_from_slice(&counts.lengths);
        let of_all = |found: &Found| Found { part: first_part + found.part, ..*found };
        self.found.extend(counts.found.iter().map(of_all));
        // Both neighbours of the entry before are known now. It is dropped if neither the entry nor a
        // neighbour matches.
        let is_settled = |hit: &Hit<T>| hit.row + 1 == row;
        if self.hits.last().is_some_and(|hit| is_settled(hit) && !self.is_near_match(hit.row)) {
            self.hits.pop();
        }
        self.hits.extend(entry.map(|entry| Hit { row, entry }));
    }

    /// The candidates in the order in which they were added, with their scores.
    pub fn ranked(mut self) -> Vec<Ranked<T>> {
        let hits = std::mem::take(&mut self.hits);
        let weights = Weights::new(&self.statistics, &self.of_query, &self.neighbours);
        let least = self.least_of_matches(&hits, &weights);
        let coherence = self.coherence();
        let is_match =
            |row: usize| least.is_none_or(|least| self.value(row, &weights).is_at_least(least));
        let is_candidate = |row: usize| {
            self.rows[row].matches == Match::Vector || self.matches_near(row).any(is_match)
        };
        let hits = hits.into_iter().filter(|hit| is_candidate(hit.row));
        let ranked = hits.map(|Hit { row, entry }| Ranked {
            score: self.score(row, coherence, &weights),
            coverage: self.coverage(row, &weights),
            unnamed_days: self.unnamed_days(row, &weights),
            found_by: self.found_by(row),
            entry,
        });
        ranked.collect()
    }

    /// The least value of a match that makes candidates. `None` if no match has to be left out.
    fn least_of_matches(&self, hits: &[Hit<T>], weights: &Weights) -> Option<Value> {
        let mut rows: Vec<usize> = hits.iter().flat_map(|hit| self.matches_near(hit.row)).collect();
        rows.sort_unstable();
        rows.dedup();
        if rows.len() <= self.most_matches {
            return None;
        }
        let mut values: Vec<Value> = rows.iter().map(|row| self.value(*row, weights)).collect();
        let (_, least, _) = values.select_nth_unstable_by(self.most_matches - 1, |a, b| b.order(a));
        Some(*least)
    }

    fn value(&self, row: usize, weights: &Weights) -> Value {
        Value { has_own_term: self.has_own_term(row), score: self.own_score(row, weights) }
    }

    /// The matches that make an entry a candidate: the entry itself, and entries beside it that have
    /// words of the query.
    fn matches_near(&self, row: usize) -> impl Iterator<Item = usize> {
        let near = row.saturating_sub(1)..(row + 2).min(self.rows.len());
        near.filter(move |other| {
            self.is_beside(row, *other)
                && self.rows[*other].matches == Match::Words
                && (*other == row || self.has_own_term(*other))
        })
    }

    fn is_near_match(&self, row: usize) -> bool {
        self.rows[row].matches == Match::Vector || self.matches_near(row).next().is_some()
    }

    fn has_own_term(&self, row: usize) -> bool {
        self.found(row).iter().any(|found| self.is_own(found))
    }

    fn is_own(&self, found: &Found) -> bool {
        (found.term as usize) < self.of_query.len()
    }

    fn found_by(&self, row: usize) -> FoundBy {
        if self.has_own_term(row) {
            FoundBy::Words
        } else if !self.found(row).is_empty() || self.rows[row].matches == Match::Vector {
            FoundBy::Meaning
        } else {
            FoundBy::Context
        }
    }

    fn parts(&self, row: usize) -> Range<usize> {
        let end = self.rows.get(row + 1).map_or(self.lengths.len(), |row| row.first_part as usize);
        self.rows[row].first_part as usize..end
    }

    fn found(&self, row: usize) -> &[Found] {
        let end = self.rows.get(row + 1).map_or(self.found.len(), |row| row.first_found as usize);
        &self.found[self.rows[row].first_found as usize..end]
    }

    /// The terms that are found in a part of an entry.
    fn found_in_part(&self, row: usize, part: usize) -> &[Found] {
        let found = self.found(row);
        let start = found.partition_point(|found| (found.part as usize) < part);
        let end = found.partition_point(|found| found.part as usize <= part);
        &found[start..end]
    }

    fn stems(&self, row: usize) -> u32 {
        self.lengths[self.parts(row)].iter().map(|stems| u32::from(*stems)).sum()
    }

    /// The terms of the whole entry, without the parts around it.
    fn whole(&self, row: usize, weights: &Weights) -> Weighted {
        let mut whole = self.none();
        whole.length = length(self.stems(row));
        weights.add(&mut whole, self.found(row), 1.0);
        whole
    }

    fn none(&self) -> Weighted {
        Weighted::new(self.of_query.len())
    }

    fn own_score(&self, row: usize, weights: &Weights) -> f64 {
        self.whole(row, weights).score(&WHOLE, weights)
    }

    /// How much adjacent entries belong together, from 0 to 1, judged by the terms of the query: if a
    /// text continues from entry to entry, a term repeats in the next entries more often than by
    /// chance.
    fn coherence(&self) -> f64 {
        let mut with_term: Vec<Vec<usize>> = vec![Vec::new(); self.of_query.len()];
        for row in 0..self.rows.len() {
            for found in self.found(row).iter().filter(|found| self.is_own(found)) {
                let rows = &mut with_term[found.term as usize];
                if rows.last() != Some(&row) {
                    rows.push(row);
                }
            }
        }
        let entries = self.statistics.entries as f64;
        let mut seen = COHERENT.unknown_seen;
        let mut by_chance = COHERENT.unknown_by_chance;
        for (rows, with) in with_term.iter().zip(&self.statistics.with_term) {
            let with = *with as f64;
            if with < 2.0 || with > COHERENT.most_entries * entries {
                continue;
            }
            let mut pairs = 0.0;
            let mut again = 0.0;
            for row in rows {
                let next = row + 1..self.rows.len().min(row + 1 + COHERENT.next);
                for other in next.take_while(|other| self.is_beside(*row, *other)) {
                    pairs += 1.0;
                    again += if rows.binary_search(&other).is_ok() { 1.0 } else { 0.0 };
                }
            }
            if pairs > 0.0 {
                let weight = with.min(COHERENT.most_weight);
                seen += weight * again / pairs;
                by_chance += weight * (with - 1.0) / (entries - 1.0);
            }
        }
        let ratio = seen / by_chance;
        ((ratio - COHERENT.none) / (COHERENT.full - COHERENT.none)).clamp(0.0, 1.0)
    }

    fn score(&self, row: usize, coherence: f64, weights: &Weights) -> f64 {
        let context = coherence * (NEEDS_CONTEXT / f64::from(self.stems(row).max(1))).min(1.0);
        let best = self.best_part(row, context, weights);
        let around = self.around(row, weights).score(&AROUND, weights);
        best + self.own_score(row, weights) + context * around
    }

    /// The score of the best part. The part before the entry also counts in the first part, and the
    /// part after the entry in the last one.
    fn best_part(&self, row: usize, context: f64, weights: &Weights) -> f64 {
        let parts = self.parts(row);
        let before = self.beside(row, row.checked_sub(1)).map(|row| (row, self.parts(row).end - 1));
        let after = self.beside(row, Some(row + 1)).map(|row| (row, self.parts(row).start));
        let score = |part: usize| {
            let own = self.found_in_part(row, part);
            if own.is_empty() && part != parts.start && part + 1 != parts.end {
                return 0.0;
            }
            let mut weighted = self.none();
            weighted.length = length(self.lengths[part].into());
            weights.add(&mut weighted, own, 1.0);
            let before = before.filter(|_| part == parts.start).map(|near| (near, BEFORE));
            let after = after.filter(|_| part + 1 == parts.end).map(|near| (near, AFTER));
            for ((row, part), share) in before.into_iter().chain(after) {
                weighted.length += share * context * length(self.lengths[part].into());
                weighted.usual += share * context;
                weights.add(&mut weighted, self.found_in_part(row, part), share * context);
            }
            weighted.score(&PART, weights)
        };
        parts.clone().map(score).fold(0.0, f64::max)
    }

    /// The terms of the parts around an entry.
    fn around(&self, row: usize, weights: &Weights) -> Weighted {
        let mut around = self.none();
        let mut take = |row: usize, part: usize| {
            around.length += length(self.lengths[part].into());
            weights.add(&mut around, self.found_in_part(row, part), 1.0);
        };
        let back = (0..row).rev().take_while(|other| self.is_beside(row, *other));
        let back = back.flat_map(|row| self.parts(row).rev().map(move |part| (row, part)));
        let forth = (row + 1..self.rows.len()).take_while(|other| self.is_beside(row, *other));
        let forth = forth.flat_map(|row| self.parts(row).map(move |part| (row, part)));
        back.take(REACH).chain(forth.take(REACH)).for_each(|(row, part)| take(row, part));
        around
    }

    fn is_beside(&self, row: usize, other: usize) -> bool {
        self.rows[row].run == self.rows[other].run
    }

    /// The index of the other entry, if it exists and belongs to the same run.
    fn beside(&self, row: usize, other: Option<usize>) -> Option<usize> {
        other.filter(|other| *other < self.rows.len() && self.is_beside(row, *other))
    }

    fn coverage(&self, row: usize, weights: &Weights) -> f64 {
        let own = self.of_query.len();
        weights.share(distinct(self.found(row)).into_iter().filter(|term| *term < own))
    }

    fn unnamed_days(&self, row: usize, weights: &Weights) -> f64 {
        let found = distinct(self.found(row));
        let days = self.days.iter().copied();
        weights.share(days.filter(|day| found.binary_search(day).is_err()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries as they rank, the best first. A blank text begins a run.
    fn rank<'t>(question: &str, texts: &[&'t str]) -> Vec<&'t str> {
        let ranked = ranked(&Query::in_english(question), texts);
        ranked.into_iter().map(|ranked| ranked.entry).collect()
    }

    fn ranked<'t>(query: &Query, texts: &[&'t str]) -> Vec<Ranked<&'t str>> {
        let mut scorer = Scorer::new(query);
        for text in texts {
            match *text {
                "" => scorer.begin_run(),
                text => scorer.add(&query.count([text]), false, Some(text)),
            }
        }
        let mut ranked = scorer.ranked();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        ranked
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
    fn a_hit_says_by_what_it_is_found() {
        let texts = ["The physician is ill.", "so", "", "A doctor lives here.", "yes"];
        let query = Query::in_english("doctor").with_thesaurus();
        let mut found: Vec<_> = ranked(&query, &texts)
            .iter()
            .map(|one| (one.entry, one.found_by, one.coverage))
            .collect();
        found.sort_by_key(|(entry, ..)| *entry);
        assert_eq!(
            found,
            [
                ("A doctor lives here.", FoundBy::Words, 1.0),
                ("The physician is ill.", FoundBy::Meaning, 0.0),
                ("yes", FoundBy::Context, 0.0),
            ],
            "words of the thesaurus make no candidates of the entries beside them"
        );
    }

    #[test]
    fn matches_with_words_of_the_query_are_chosen_first() {
        let query = Query::in_english("doctor").with_thesaurus();
        let mut scorer = Scorer::new(&query);
        for at in 0..2 * MAX_MATCHES {
            scorer.begin_run();
            let text = if at % 2 == 0 { "physician physician" } else { "a doctor of letters" };
            scorer.add(&query.count([text]), false, Some(at));
        }
        let ranked = scorer.ranked();
        assert_eq!(ranked.len(), MAX_MATCHES);
        assert!(ranked.iter().all(|ranked| ranked.found_by == FoundBy::Words));
    }

    #[test]
    fn without_a_limit_all_matches_are_candidates() {
        let query = Query::in_english("kite");
        let mut scorer = Scorer::new(&query).without_limit();
        for at in 0..2 * MAX_MATCHES {
            scorer.begin_run();
            scorer.add(&query.count(["a kite"]), false, Some(at));
        }
        assert_eq!(scorer.ranked().len(), 2 * MAX_MATCHES);
    }

    #[test]
    fn an_entry_counts_without_being_a_hit() {
        let query = Query::in_english("kite");
        let mut scorer = Scorer::new(&query);
        scorer.add(&query.count(["a kite"]), false, None);
        scorer.add(&query.count(["and its string"]), false, Some("and its string"));
        let ranked = scorer.ranked();
        assert_eq!(ranked.len(), 1);
        assert_eq!(ranked[0].coverage, 0.0);
        assert!(ranked[0].score > 0.0);
    }

    #[test]
    fn the_best_part_of_a_long_entry_makes_it_a_hit() {
        let filler = format!("{}\n", "word ".repeat(70)).repeat(20);
        let long = format!("{filler}the red kite flew\n{filler}");
        let scattered = format!("red {filler}kite {filler}flew");
        assert_eq!(rank("red kite flew", &[&scattered, "", &long])[0], long);
    }

    #[test]
    fn a_rare_word_covers_more_of_the_query_than_a_common_one() {
        let texts = ["a red car", "", "a red bus", "", "a blue kite"];
        let ranked = ranked(&Query::in_english("red kite"), &texts);
        assert_eq!(ranked[0].entry, "a blue kite");
        assert!(ranked[0].coverage > 0.6 && ranked[1].coverage < 0.4);
    }

    #[test]
    fn a_word_that_no_entry_has_covers_as_much_as_one_of_a_single_entry() {
        let query = Query::in_english("kite zzyzx");
        assert_eq!(ranked(&query, &["a kite"])[0].coverage, 0.5);
    }

    #[test]
    fn the_words_for_days_that_an_entry_lacks_are_told_apart() {
        let query = Query::in_english("kite of March").with_named_days("kite of ");
        let texts = ["a kite", "", "a kite of March", "", "March"];
        let ranked = ranked(&query, &texts);
        let days = |text: &str| ranked.iter().find(|one| one.entry == text).unwrap().unnamed_days;
        assert!(days("a kite") > 0.4 && days("a kite of March") == 0.0 && days("March") == 0.0);
    }

    #[test]
    fn an_entry_of_many_has_its_neighbours_as_candidates_and_no_others() {
        let texts: Vec<String> = (0..1_200).map(|n| format!("entry {n} of a kite")).collect();
        let query = Query::in_english("kite 7");
        let mut scorer = Scorer::new(&query);
        texts.iter().for_each(|text| scorer.add(&query.count([text.as_str()]), false, Some(text)));
        let ranked = scorer.ranked();
        assert!(ranked.iter().any(|ranked| ranked.entry == "entry 7 of a kite"));
        assert!(ranked.len() >= MAX_MATCHES, "{}", ranked.len());
    }
}
