//! The words of a question.

use std::collections::BTreeSet;

use super::asking::is_asking;
use super::constants::{ASKING, NAME, PART_OF_WORD};
use super::irregular::stems_of_forms;
use super::language::Language;
use super::stop_words::is_abbreviation;
use crate::words::{Role, each_token, is_han, is_in_pairs, plain};

/// The parts of a compound with at least this many parts are terms, too. A name of two parts, such as
/// `JavaScript`, does not mean either part.
const MIN_PARTS: usize = 3;

/// A part of a compound is a term only if it has at least this many letters.
const MIN_LETTERS: usize = 3;

/// A beginning of an id with at least this many characters stands for the id.
const MIN_BEGINNING: usize = 7;

/// A word of a question.
pub(super) struct Asked {
    pub word: String,
    role: Role,
    /// Whether the word begins with a capital letter and is not the first word.
    is_name: bool,
    /// Whether the word begins with a capital letter. So it may be a name, which is the same in every
    /// language.
    is_capital: bool,
    /// Whether the word is an abbreviation that is spelled like a stop word, such as `IT` or `DoS`. It is
    /// searched for.
    pub is_abbreviation: bool,
    /// Whether the word says what kind of answer is wanted, and seldom what the question is about.
    is_asking: bool,
    /// The parts of a compound, and the beginnings of an id.
    parts: Vec<(String, Role)>,
}

impl Asked {
    fn new(word: &str, role: Role, capitals: &Capitals) -> Self {
        let is_asking = is_asking(&Language::English.stem(word, role));
        Self {
            word: word.to_owned(),
            role,
            is_name: capitals.names.contains(word),
            is_capital: capitals.all.contains(word),
            is_abbreviation: capitals.abbreviations.contains(word),
            is_asking,
            parts: Vec::new(),
        }
    }

    /// The weight of the word. Its rarity among the entries is not part of it.
    pub fn weight(&self) -> f64 {
        let name = if self.is_name { NAME } else { 1.0 };
        let asking = if self.is_asking { ASKING } else { 1.0 };
        name * asking
    }

    /// Whether words of the thesaurus may stand for the word.
    pub fn is_common(&self) -> bool {
        self.role == Role::Word && !self.is_name && !self.is_asking
    }

    /// The stems of the word: a text with any of them has the word. The first stem is that of the first
    /// language; for an English word with irregular forms, it is the stem of the base form. A word that
    /// may be a name has its stems in every language.
    pub fn stems(&self, languages: &[Language]) -> Vec<String> {
        let mut all = Vec::new();
        let others = Language::ALL.into_iter().filter(|_| self.is_capital);
        let others = others.filter(|language| !languages.contains(language));
        let languages: Vec<Language> = languages.iter().copied().chain(others).collect();
        let beginnings = self.parts.iter().filter(|(beginning, role)| {
            *role == Role::Beginning && beginning.len() >= MIN_BEGINNING
        });
        let beginnings = beginnings.map(|(beginning, role)| (beginning.as_str(), *role));
        for (word, role) in [(self.word.as_str(), self.role)].into_iter().chain(beginnings) {
            all.extend(stems(word, role, &languages));
        }
        all
    }

    /// The stems of the parts of a compound that are terms beside the whole word, and their weight.
    pub fn parts(&self, languages: &[Language]) -> (Vec<Vec<String>>, f64) {
        let is_word = |word: &str| word.bytes().all(|byte| !byte.is_ascii_digit());
        let has_digits = !is_word(&self.word);
        let many = has_digits || self.parts.len() >= MIN_PARTS;
        let parts = self.parts.iter().filter(|(part, role)| {
            let is_telling = !Language::English.has_stop_word(part);
            let is_long = part.chars().count() >= MIN_LETTERS;
            many && *role == Role::Part && is_word(part) && is_long && is_telling
        });
        let stems = parts.map(|(part, role)| stems(part, *role, languages)).collect();
        (stems, self.weight() * PART_OF_WORD)
    }
}

fn stems(word: &str, role: Role, languages: &[Language]) -> Vec<String> {
    let stems: Vec<String> =
        languages.iter().map(|language| language.stem(word, role).into_owned()).collect();
    let is_english = languages[0] == Language::English;
    let forms = is_english.then(|| stems_of_forms(word, &stems[0])).flatten();
    forms.into_iter().flatten().chain(stems).collect()
}

/// The words of a question in order, each once.
pub(super) fn asked_words(text: &str) -> Vec<Asked> {
    let names = Capitals::from_text(text);
    let mut asked: Vec<Asked> = Vec::new();
    each_token(text, |word, role| match (role, asked.last_mut()) {
        (Role::Part | Role::Beginning, Some(last)) => last.parts.push((word.to_owned(), role)),
        // A word with signs, such as `C++`, replaces the word without them, `C`.
        (Role::Signed, Some(last)) => *last = Asked::new(word, role, &names),
        (Role::Run | Role::Single, _) => {}
        _ => asked.push(Asked::new(word, role, &names)),
    });
    let single = |word: char| Asked::new(&word.to_string(), Role::Single, &names);
    asked.extend(single_words(text).into_iter().map(single));
    let mut seen = BTreeSet::new();
    asked.retain(|asked| seen.insert(asked.word.clone()));
    asked
}

/// The words of a text that have capital letters.
#[derive(Default)]
struct Capitals {
    /// The words that begin with a capital letter.
    all: BTreeSet<String>,
    /// The words of `all` without the first word of the text.
    names: BTreeSet<String>,
    /// The words with two capital letters or more that are spelled like stop words but are abbreviations.
    /// Empty if the whole text is in capitals.
    abbreviations: BTreeSet<String>,
}

impl Capitals {
    fn from_text(text: &str) -> Self {
        let mut found = Self::default();
        let is_small = |letter: char| letter.is_alphabetic() && !letter.is_uppercase();
        let has_small = text.contains(is_small);
        for (at, written) in text.split_whitespace().enumerate() {
            let letters = written.chars().filter(|letter| letter.is_alphabetic());
            let is_capital = letters.clone().next().is_some_and(char::is_uppercase);
            let has_two = letters.filter(|letter| letter.is_uppercase()).nth(1).is_some();
            if !is_capital && !has_two {
                continue;
            }
            each_token(written, |word, role| {
                let sets = [
                    (&mut found.all, is_capital),
                    (&mut found.names, is_capital && at > 0),
                    (&mut found.abbreviations, has_small && has_two && is_abbreviation(word)),
                ];
                for (set, _) in sets.into_iter().filter(|(_, has)| *has && role == Role::Word) {
                    set.insert(word.to_owned());
                }
            });
        }
        found
    }
}

/// Chinese function words of one character. [`single_words`] takes them as boundaries between words.
const PARTICLES: &str = "的了是在我你他她它们們这這那也都很吗嗎呢吧把被";

/// Korean particles of one syllable, which follow a word.
const ENDINGS: &str = "을를이가은는에의도로와과";

/// Finds words of one character, which have only particles or other scripts beside them: `猫` in `猫は`,
/// `책` in `책을`.
fn single_words(text: &str) -> Vec<char> {
    if text.is_ascii() {
        return Vec::new();
    }
    let is_hangul = |character: char| matches!(character, '\u{ac00}'..='\u{d7a3}');
    let is_bound = |character: char| !is_han(character) || PARTICLES.contains(character);
    // Padded, so that each character has two before it and two after it.
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
