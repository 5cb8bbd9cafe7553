//! A query as its stems, and how often a text has them.

use std::collections::{BTreeMap, BTreeSet};

use super::asking::is_asking;
use super::constants::{ASKING, NAME};
use super::counts::{Counts, Found};
use super::irregular::stems_of_forms;
use super::language::{FOREIGN, Language};
use super::parts::Parts;
use super::stop_words::is_russian_stop_word;
use crate::words::{Role, each_token, is_han, is_in_pairs, plain};

/// The most terms of a query. Further ones are left out.
const MAX_TERMS: usize = 32;

/// The fewest parts of a compound whose parts are also looked for alone. A name of two parts, such as
/// `JavaScript`, means none of them.
const MIN_PARTS: usize = 3;

/// The fewest letters of such a part.
const MIN_LETTERS: usize = 3;

/// The fewest characters of the beginning of an id that stand for the id.
const MIN_BEGINNING: usize = 7;

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

/// A word of a question.
struct Asked {
    word: String,
    role: Role,
    /// What it weighs beside its rarity.
    weight: f64,
    /// Its parts, and the beginnings of an id.
    parts: Vec<(String, Role)>,
}

impl Query {
    /// The query for a question. Stop words are left out, unless there is nothing else.
    pub fn of(text: &str) -> Self {
        let languages = Language::all_of(text);
        let is_stop_word = |word: &str| {
            let of_question = languages.len() < Language::ALL.len();
            let languages = languages.iter().filter(|_| of_question).chain([&Language::English]);
            languages.copied().any(|language| language.has_stop_word(word))
                || is_russian_stop_word(word)
        };
        let asked = asked_words(text);
        let telling = asked.iter().filter(|asked| !is_stop_word(&asked.word));
        let has_telling = telling.clone().next().is_some();
        let chosen: Vec<&Asked> =
            if has_telling { telling.collect() } else { asked.iter().collect() };
        Self::new(&chosen, &stemming(&languages))
    }

    /// Words with one stem in the first of the languages are one term. No stem is in two terms.
    fn new(asked: &[&Asked], languages: &[Language]) -> Self {
        let mut seen = BTreeSet::new();
        let mut terms: BTreeMap<String, Vec<&Asked>> = BTreeMap::new();
        for asked in asked {
            let stem = asked.first_stem(languages[0]);
            if seen.len() < MAX_TERMS || seen.contains(&stem) {
                seen.insert(stem.clone());
                terms.entry(stem).or_default().push(asked);
            }
        }
        let weight =
            |asked: &Vec<&Asked>| asked.iter().map(|asked| asked.weight).fold(0.0, f64::max);
        let weights = terms.values().map(weight).collect();
        let stems = terms.into_iter().map(|(stem, asked)| {
            let others = asked.into_iter().flat_map(|asked| asked.stems(languages));
            [stem].into_iter().chain(others).collect::<Vec<String>>()
        });
        let stems: Vec<Vec<String>> = stems.collect();
        let mut taken: BTreeSet<String> = stems.iter().map(|stems| stems[0].clone()).collect();
        let terms = stems.into_iter().map(|stems| {
            let mut stems = stems.into_iter();
            let first = stems.next();
            first.into_iter().chain(stems.filter(|stem| taken.insert(stem.clone()))).collect()
        });
        let terms: Vec<Vec<String>> = terms.collect();
        let stems = |(at, term): (usize, &Vec<String>)| {
            term.iter().map(move |stem| (stem.clone(), at)).collect::<Vec<_>>()
        };
        let mut by_stem: Vec<_> = terms.iter().enumerate().flat_map(stems).collect();
        by_stem.sort_unstable();
        let mut begins = [false; 256];
        let first = |(stem, _): &(String, usize)| stem.trim_start_matches(FOREIGN).bytes().next();
        let first = by_stem.iter().filter_map(first);
        first.for_each(|byte| begins[usize::from(byte)] = true);
        Self { terms, weights, by_stem, begins }
    }

    /// The terms. Each has the stems of its word in the languages that a text may be in, and those of
    /// the word's irregular forms and of its parts: a text with any of them has the term.
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
        for text in texts {
            let language = Language::of(text);
            for line in text.split('\n') {
                self.each_term(language, line, |term| {
                    let part = parts.add_stem();
                    found.extend(term.map(|term| Found { part, term: term as u32, count: 1 }));
                });
                parts.end_line();
            }
        }
        Counts::new(parts.end(), found)
    }

    /// Which terms a text has, or a part of one, whose language is known.
    pub(super) fn which(&self, language: Language, text: &str) -> Vec<bool> {
        let mut which = vec![false; self.terms.len()];
        self.each_term(language, text, |term| {
            term.into_iter().for_each(|term| which[term] = true);
        });
        which
    }

    /// Calls `found` for each stem of a text, with the index of its term if it is of the query.
    fn each_term(&self, language: Language, text: &str, mut found: impl FnMut(Option<usize>)) {
        let keeps_beginnings = language.keeps_beginnings();
        each_token(text, |word, role| {
            // Most words begin with another letter than the stems of the query: their stems don't
            // matter.
            if keeps_beginnings && !self.begins[usize::from(word.as_bytes()[0])] {
                return found(None);
            }
            let stem = language.stem(word, role);
            let at = self.by_stem.binary_search_by(|one| one.0.as_str().cmp(&stem));
            found(at.ok().map(|at| self.by_stem[at].1));
        });
    }
}

/// The words of a text that begin with a capital letter, without the first word.
fn names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for written in text.split_whitespace().skip(1) {
        if written.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase) {
            each_token(written, |word, role| {
                if role == Role::Word {
                    names.insert(word.to_owned());
                }
            });
        }
    }
    names
}

/// The words of a question in order.
fn asked_words(text: &str) -> Vec<Asked> {
    let names = names(text);
    let one = |word: &str, role| {
        let name = if names.contains(word) { NAME } else { 1.0 };
        let asking = if is_asking(&Language::English.stem(word, role)) { ASKING } else { 1.0 };
        Asked { word: word.to_owned(), role, weight: name * asking, parts: Vec::new() }
    };
    let mut asked: Vec<Asked> = Vec::new();
    each_token(text, |word, role| match (role, asked.last_mut()) {
        (Role::Part | Role::Beginning, Some(last)) => last.parts.push((word.to_owned(), role)),
        // `C++` is not `C`.
        (Role::Signed, Some(last)) => *last = one(word, role),
        (Role::Single, _) => {}
        _ => asked.push(one(word, role)),
    });
    let single = |word: char| one(&word.to_string(), Role::Single);
    asked.extend(single_words(text).into_iter().map(single));
    asked
}

/// Characters of Chinese that are no part of another word.
const PARTICLES: &str = "的了是在我你他她它们們这這那也都很吗嗎呢吧把被";

/// Syllables of Korean that stand after a word.
const ENDINGS: &str = "을를이가은는에의도로와과";

/// Words of one character beside others: `猫` in `猫は`, `책` in `책을`.
fn single_words(text: &str) -> Vec<char> {
    if text.is_ascii() {
        return Vec::new();
    }
    let is_hangul = |character: char| matches!(character, '\u{ac00}'..='\u{d7a3}');
    let is_bound = |character: char| !is_han(character) || PARTICLES.contains(character);
    // Two characters before and after each.
    let characters: Vec<char> =
        [' ', ' '].into_iter().chain(plain(text).chars()).chain([' ', ' ']).collect();
    let singles = characters.windows(5).filter_map(|window| {
        let [_, before, character, next, after] = window.try_into().expect("five characters");
        let is_single = if is_hangul(character) {
            !is_hangul(before) && ENDINGS.contains(next) && !is_hangul(after)
        } else {
            let is_beside = is_in_pairs(before) || is_in_pairs(next);
            !is_bound(character) && is_beside && is_bound(before) && is_bound(next)
        };
        is_single.then_some(character)
    });
    singles.collect()
}

/// The languages in which the words of a question are stemmed, the likeliest first. A text that is too
/// short to tell its language has stems of English, so English is among them.
fn stemming(of_question: &[Language]) -> Vec<Language> {
    if of_question.contains(&Language::English) {
        return Language::ALL.to_vec();
    }
    of_question.iter().copied().chain([Language::English]).collect()
}

impl Asked {
    /// The stem in a language, that of the base form if the forms are irregular.
    fn first_stem(&self, language: Language) -> String {
        let stem = language.stem(&self.word, self.role).into_owned();
        let is_english = language == Language::English;
        let forms = is_english.then(|| stems_of_forms(&self.word, &stem)).flatten();
        forms.and_then(|forms| forms.into_iter().next()).unwrap_or(stem)
    }

    /// The stems by which a text has the word.
    fn stems(&self, languages: &[Language]) -> Vec<String> {
        let mut stems = Vec::new();
        let is_english = languages[0] == Language::English;
        for (word, role) in self.alternatives() {
            let of_language =
                languages.iter().map(|language| language.stem(word, role).into_owned());
            stems.extend(of_language);
            let english = Language::English.stem(word, role);
            let forms = is_english.then(|| stems_of_forms(word, &english)).flatten();
            stems.extend(forms.unwrap_or_default());
        }
        stems
    }

    /// The word itself, and what else stands for it.
    fn alternatives(&self) -> impl Iterator<Item = (&str, Role)> {
        let is_word = |word: &str| word.bytes().all(|byte| !byte.is_ascii_digit());
        let has_digits = !is_word(&self.word);
        let many = has_digits || self.parts.len() >= MIN_PARTS;
        let parts = self.parts.iter().filter(move |(part, role)| match role {
            Role::Beginning => part.len() >= MIN_BEGINNING,
            _ => {
                let is_telling = !Language::English.has_stop_word(part);
                many && is_word(part) && part.chars().count() >= MIN_LETTERS && is_telling
            }
        });
        let parts = parts.map(|(part, role)| (part.as_str(), *role));
        [(self.word.as_str(), self.role)].into_iter().chain(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_the_stems_of_its_telling_words() {
        for (question, stems) in [
            ("Which tests did the collisions stop?", "collis stop test"),
            ("The broken build broke again", "break build"),
            ("test, Tests TESTING", "test"),
            ("Who are you?", "are who you"),
            ("?!", ""),
        ] {
            let terms = Query::of(question).terms;
            let first: Vec<&str> = terms.iter().map(|stems| stems[0].as_str()).collect();
            assert_eq!(first.join(" "), stems);
        }
    }

    #[test]
    fn a_term_has_the_stems_by_which_a_text_may_have_it() {
        for (question, stems) in [
            ("die Häuser der Stadt", "°haus hauser|°stadt stadt"),
            ("C++", "c++"),
            ("3f2a9c81d7", "3f2a9c81d7 3f2a9c8 3f2a9c81"),
            ("猫は", "猫|猫は"),
            ("책을", "책|책을"),
            ("решение", "решен"),
        ] {
            let terms: Vec<String> =
                Query::of(question).terms.iter().map(|stems| stems.join(" ")).collect();
            assert_eq!(terms.join("|"), stems, "{question}");
        }
        let has = |question, stem: &str| {
            Query::of(question).terms.iter().flatten().any(|one| one == stem)
        };
        assert!(has("getUserName", "user") && has("python3", "python"));
        assert!(!has("JavaScript", "java") && !has("C#", "c"));
    }

    #[test]
    fn no_stem_is_in_two_terms() {
        let query = Query::of("plane plan planes planen plans notes note not");
        let all: Vec<&String> = query.terms.iter().flatten().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
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
        let query = Query::of("Wo ist das Haus?");
        let counts = query.count(["Die Häuser sind alt, aber das Haus ist neu."]);
        assert_eq!(counts, Counts { lengths: vec![9], found: vec![found(0, 2)] });
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
