//! A query as its stems, and how often a text has them.

use std::collections::{BTreeMap, BTreeSet};

use super::beginnings::Beginnings;
use super::counts::{Counts, Found};
use super::language::Language;
use super::neighbours::{Neighbour, neighbours_of};
use super::parts::Parts;
use super::question::{Asked, asked_words};
use super::stop_words::is_russian_stop_word;
use crate::words::each_token;

/// The maximum number of terms of a query. A longer question keeps its first and its last words.
const MAX_TERMS: usize = 256;

/// The distinct words of a query, in the byte order of their stems, and after them the words of the
/// thesaurus that stand for them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// The language of a text or question whose own language cannot be detected.
    usual: Language,
    terms: Vec<Vec<String>>,
    /// The weight of each own term. The term's rarity is not part of it.
    weights: Vec<f64>,
    /// The indexes of the own terms for which words of the thesaurus can stand.
    common: Vec<usize>,
    neighbours: Vec<Neighbour>,
    /// The indexes of the own terms that only name days.
    days: Vec<usize>,
    /// Each stem with the index of its term, in byte order.
    by_stem: Vec<(String, usize)>,
    beginnings: Beginnings,
}

/// A term: the words of a question that have the same stem in the likeliest language.
#[derive(Default)]
struct Term {
    stems: Vec<String>,
    weight: f64,
    is_common: bool,
}

impl Query {
    /// The query for a question, where texts are usually in English.
    #[cfg(test)]
    pub fn in_english(text: &str) -> Self {
        Self::in_language(text, Language::English)
    }

    /// The query for a question. Stop words are left out, unless there is nothing else. A text whose
    /// language cannot be detected counts as one in the `usual` language.
    pub fn in_language(text: &str, usual: Language) -> Self {
        let languages = Language::all_of(text);
        let asked = asked_words(text);
        let telling = telling(&asked, &languages, usual);
        let has_telling = !telling.is_empty();
        let chosen = if has_telling { telling } else { asked.iter().collect() };
        Self::new(&first_and_last(chosen), &stemming(&languages, usual), usual)
    }

    /// The language of a text whose own language cannot be detected.
    pub fn usual(&self) -> Language {
        self.usual
    }

    /// Whether a question has a word that is no stop word.
    pub fn is_telling(text: &str, usual: Language) -> bool {
        !telling(&asked_words(text), &Language::all_of(text), usual).is_empty()
    }

    /// Words with the same stem in the first of the languages become one term. No stem is in two terms.
    fn new(asked: &[&Asked], languages: &[Language], usual: Language) -> Self {
        let mut terms: BTreeMap<String, Term> = BTreeMap::new();
        let mut add = |stems: Vec<String>, weight: f64, is_common: bool| {
            if terms.len() < MAX_TERMS || terms.contains_key(&stems[0]) {
                let term = terms.entry(stems[0].clone()).or_default();
                term.stems.extend(stems);
                term.weight = term.weight.max(weight);
                term.is_common |= is_common;
            }
        };
        for asked in asked {
            add(asked.stems(languages), asked.weight(), asked.is_common());
        }
        for asked in asked {
            let (parts, weight) = asked.parts(languages);
            parts.into_iter().for_each(|stems| add(stems, weight, false));
        }
        let is_english = languages[0] == Language::English;
        let common = terms.values().enumerate().filter(|(_, term)| is_english && term.is_common);
        let common = common.map(|(at, _)| at).collect();
        let weights = terms.values().map(|term| term.weight).collect();
        let mut taken: BTreeSet<String> = terms.keys().cloned().collect();
        let terms = terms.into_iter().map(|(first, term)| {
            let others = term.stems.into_iter().filter(|stem| taken.insert(stem.clone()));
            [first].into_iter().chain(others).collect()
        });
        Self::with_terms(usual, terms.collect(), weights, common, Vec::new())
    }

    fn with_terms(
        usual: Language,
        terms: Vec<Vec<String>>,
        weights: Vec<f64>,
        common: Vec<usize>,
        neighbours: Vec<Neighbour>,
    ) -> Self {
        let stems = |(at, term): (usize, &Vec<String>)| {
            term.iter().map(move |stem| (stem.clone(), at)).collect::<Vec<_>>()
        };
        let mut by_stem: Vec<_> = terms.iter().enumerate().flat_map(stems).collect();
        by_stem.sort_unstable();
        let beginnings = Beginnings::new(by_stem.iter().map(|(stem, _)| stem.as_str()));
        let days = Vec::new();
        Self { usual, terms, weights, common, neighbours, days, by_stem, beginnings }
    }

    /// Marks the terms that only name days: those of no word in `beside`, the question without its words
    /// for days.
    pub fn with_named_days(self, beside: &str) -> Self {
        let beside = Self::in_language(beside, self.usual);
        let is_beside = |term: &Vec<String>| beside.term_with(&term[0]).is_some();
        let own = self.terms[..self.own_terms()].iter().enumerate();
        let days = own.filter(|(_, term)| !is_beside(term)).map(|(at, _)| at).collect();
        Self { days, ..self }
    }

    /// Adds words of the thesaurus to the query, if its language is English or cannot be detected.
    pub fn with_thesaurus(self) -> Self {
        let common: Vec<(usize, &str)> =
            self.common.iter().map(|at| (*at, self.terms[*at][0].as_str())).collect();
        let is_own = |stem: &str| self.term_with(stem).is_some();
        let (stems, neighbours) = neighbours_of(&common, self.terms.len(), is_own);
        let mut terms = self.terms;
        terms.extend(stems.into_iter().map(|stem| vec![stem]));
        let query = Self::with_terms(self.usual, terms, self.weights, self.common, neighbours);
        Self { days: self.days, ..query }
    }

    /// The terms: the query's own terms, and after them the stems of the thesaurus.
    ///
    /// An own term has the stems of its word in the languages that a text may be in, and those of the
    /// word's irregular forms: a text with any of them has the term. Parts of compounds are terms, too.
    pub fn terms(&self) -> &[Vec<String>] {
        &self.terms
    }

    /// The number of the query's own terms, without those of the thesaurus.
    pub fn own_terms(&self) -> usize {
        self.weights.len()
    }

    /// The weight of each own term. The term's rarity is not part of it.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The indexes of the own terms that only name days.
    pub(super) fn days(&self) -> &[usize] {
        &self.days
    }

    /// The words of the thesaurus, with the own terms for which they stand.
    pub(super) fn neighbours(&self) -> &[Neighbour] {
        &self.neighbours
    }

    /// Whether there is nothing to look for: the text has no letter and no digit.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Counts the terms of the query in an entry of these texts.
    pub fn count<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Counts {
        let mut parts = Parts::default();
        let mut found = Vec::new();
        for text in texts {
            let language = Language::detect(text, self.usual);
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

    /// For each term, whether a text in this language has it. The text may be a part of a longer one.
    pub(super) fn which(&self, language: Language, text: &str) -> Vec<bool> {
        let mut which = vec![false; self.terms.len()];
        self.each_term(language, text, |term| {
            term.into_iter().for_each(|term| which[term] = true);
        });
        which
    }

    /// The first term that a text in this language has. The text may be a part of a longer one.
    pub(super) fn first_in(&self, language: Language, text: &str) -> Option<usize> {
        let mut first = None;
        self.each_term(language, text, |term| {
            first = [first, term].into_iter().flatten().min();
        });
        first
    }

    /// Calls `found` for each stem of a text, with the index of its term, or `None` if the query does
    /// not have the stem.
    fn each_term(&self, language: Language, text: &str, mut found: impl FnMut(Option<usize>)) {
        each_token(text, |word, role| {
            if !self.beginnings.may_have(language, word) {
                return found(None);
            }
            found(self.term_with(&language.stem(word, role)));
        });
    }

    /// The index of the term with a stem.
    fn term_with(&self, stem: &str) -> Option<usize> {
        let at = self.by_stem.binary_search_by(|(other, _)| other.as_str().cmp(stem));
        at.ok().map(|at| self.by_stem[at].1)
    }
}

/// Leaves out words from the middle of a question with more than [`MAX_TERMS`]. A long question often
/// asks at its beginning or at its end.
fn first_and_last(mut asked: Vec<&Asked>) -> Vec<&Asked> {
    if let Some(more) = asked.len().checked_sub(MAX_TERMS) {
        asked.drain(MAX_TERMS / 2..MAX_TERMS / 2 + more);
    }
    asked
}

/// The words of a question, without stop words of the languages that it may be in, of the usual
/// language and of English.
fn telling<'a>(asked: &'a [Asked], languages: &[Language], usual: Language) -> Vec<&'a Asked> {
    let is_stop_word = |word: &str| {
        let of_question = languages.len() < Language::ALL.len();
        let languages = languages.iter().filter(|_| of_question);
        let languages = languages.chain([&usual, &Language::English]);
        languages.copied().any(|language| language.has_stop_word(word))
            || is_russian_stop_word(word)
    };
    asked.iter().filter(|asked| asked.is_abbreviation || !is_stop_word(&asked.word)).collect()
}

/// The languages in which the words of a question are stemmed, the likeliest first. The usual language
/// is always among them, because texts that are too short to detect their language have its stems.
fn stemming(of_question: &[Language], usual: Language) -> Vec<Language> {
    let languages = if of_question.contains(&usual) || of_question.contains(&Language::English) {
        &Language::ALL[..]
    } else {
        of_question
    };
    let is_told = !of_question.contains(&usual);
    let first = if is_told { of_question[0] } else { usual };
    let mut stemming = vec![first];
    let others = languages.iter().copied().chain([usual, Language::English]);
    for language in others {
        if !stemming.contains(&language) {
            stemming.push(language);
        }
    }
    stemming
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::constants::MAX_NEIGHBOURS;

    #[test]
    fn a_question_is_the_stems_of_its_telling_words() {
        for (question, stems) in [
            ("Which tests did the collisions stop?", "collis stop test"),
            ("The broken build broke again", "break build"),
            ("test, Tests TESTING", "test"),
            ("Who are you?", "are who you"),
            ("war history", "histori war"),
            ("DoS attack in the cluster", "attack cluster dos"),
            ("Which laptop did the IT department order?", "depart it laptop order"),
            ("Mention ONLY and ONLY what McGee's team DID", "mcgee mention team"),
            ("WHAT DID IT COST THE TEAM?", "cost team"),
            ("IT 犬", "it 犬"),
            ("Wann war der Krieg?", "°krieg"),
            ("?!", ""),
        ] {
            let terms = Query::in_english(question).terms;
            let first: Vec<&str> = terms.iter().map(|stems| stems[0].as_str()).collect();
            assert_eq!(first.join(" "), stems);
        }
    }

    #[test]
    fn a_term_has_the_stems_by_which_a_text_may_have_it() {
        for (question, stems) in [
            ("die Häuser der Stadt", "°haus hauser °hauser|°stadt stadt"),
            ("C++", "c++"),
            ("3f2a9c81d7", "3f2a9c81d7 3f2a9c8 3f2a9c81"),
            ("猫は", "猫|猫は"),
            ("책을", "책|책을"),
            ("решение", "решен"),
        ] {
            let terms: Vec<String> =
                Query::in_english(question).terms.iter().map(|stems| stems.join(" ")).collect();
            assert_eq!(terms.join("|"), stems, "{question}");
        }
        let has = |question, stem: &str| {
            Query::in_english(question).terms.iter().flatten().any(|one| one == stem)
        };
        assert!(has("getUserName", "user") && has("python3", "python"));
        assert!(has("Wo ist Kafka?", "°kafk"), "a name in a Spanish text");
        assert!(!has("JavaScript", "java") && !has("C#", "c"));
    }

    #[test]
    fn texts_that_do_not_tell_their_language_are_in_the_usual_one() {
        let query = Query::in_language("Haus", Language::German);
        assert!(query.count(["alte Häuser streichen"]).any());
        assert!(query.count(["the house, das Haus"]).any());
        assert!(!Query::in_english("Haus").count(["alte Häuser streichen"]).any());
        let query = Query::in_language("Which walls do we paint?", Language::German);
        assert!(query.count(["paint the wall that is next to the house"]).any());
        assert!(query.count(["paint wall"]).any(), "stems of German for an English word");
    }

    #[test]
    fn no_stem_is_in_two_terms() {
        let query = Query::in_english("plane plan planes planen plans notes note not");
        let all: Vec<&String> = query.terms.iter().flatten().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn words_of_the_thesaurus_come_after_those_of_the_query() {
        let query = Query::in_english("Which doctors drive a car?").with_thesaurus();
        let terms: Vec<&str> = query.terms().iter().map(|term| term[0].as_str()).collect();
        assert_eq!(terms[..3], ["car", "doctor", "drive"]);
        assert_eq!(query.own_terms(), 3);
        assert!(terms.contains(&"physician") && terms.contains(&"vehicl"), "{terms:?}");
        assert_eq!(terms.iter().collect::<BTreeSet<_>>().len(), terms.len());
        let counts = query.count(["The physician sold her vehicle."]);
        assert!(counts.any() && !counts.has_any(query.own_terms()));
    }

    #[test]
    fn no_words_stand_for_names_and_words_that_ask_or_in_another_language() {
        for question in ["Who is the Doctor?", "mention", "Wo ist der doctor?", "猫", "v2"] {
            let query = Query::in_english(question);
            assert_eq!(query.clone().with_thesaurus(), query, "{question}");
        }
    }

    #[test]
    fn a_long_question_has_no_more_words_of_the_thesaurus() {
        let words = "car doctor movie child error job street illness house river money garden \
                     kitchen winter teacher music letter animal doubt anger bread coffee dream \
                     flower forest friend game hair hospital island journey knife lake meal";
        let query = Query::in_english(words).with_thesaurus();
        assert_eq!(query.own_terms(), 34);
        let others = query.terms().len() - query.own_terms();
        assert!((1..=MAX_NEIGHBOURS).contains(&others), "{others}");
    }

    #[test]
    fn a_long_question_is_asked_by_its_first_and_its_last_words() {
        let words = (0..400).map(|number| format!("zq{number}x")).collect::<Vec<_>>().join(" ");
        for question in [format!("{words} kites"), format!("kites {words}")] {
            let query = Query::in_english(&question);
            assert_eq!(query.own_terms(), MAX_TERMS);
            assert!(query.count(["a kite"]).any());
        }
        let question = "服务器网络中断以后同事在会议里讨论了很多别的事情现在请问数据库端口是多少";
        assert!(Query::in_english(question).count(["数据库端口是五四三三"]).any());
    }

    #[test]
    fn a_word_that_asks_weighs_less_and_a_name_more() {
        let query = Query::in_english("Did Anna mention the red kite?");
        let words: Vec<&str> = query.terms().iter().map(|term| term[0].as_str()).collect();
        assert_eq!(words, ["anna", "kite", "mention", "red"]);
        assert_eq!(query.weights(), [1.2, 1.0, 0.6, 1.0]);
    }

    #[test]
    fn a_text_is_counted_by_stems_and_its_length_has_all_of_them() {
        let found = |term, count| Found { part: 0, term, count };
        let query = Query::in_english("colliding planes");
        let counts = query.count(["A plane collided\nwith planes."]);
        assert_eq!(counts, Counts { lengths: vec![5], found: vec![found(0, 1), found(1, 2)] });
        assert!(!query.count(["none of these"]).any());
        let query = Query::in_english("freezing");
        let counts = query.count(["It froze.", "We freeze what is frozen."]);
        assert_eq!(counts, Counts { lengths: vec![7], found: vec![found(0, 3)] });
        let query = Query::in_english("Wo ist das Haus?");
        let counts = query.count(["Die Häuser sind alt, aber das Haus ist neu."]);
        assert_eq!(counts, Counts { lengths: vec![9], found: vec![found(0, 2)] });
    }

    #[test]
    fn a_term_is_counted_in_each_part() {
        let line = format!("kite {}\n", "word ".repeat(70));
        let counts =
            Query::in_english("kite").count([line.repeat(2).as_str(), "a kite and a kite"]);
        assert_eq!(counts.lengths, [71, 76]);
        let found = |part, count| Found { part, term: 0, count };
        assert_eq!(counts.found, [found(0, 1), found(1, 3)], "the rest joins the last part");
    }
}
