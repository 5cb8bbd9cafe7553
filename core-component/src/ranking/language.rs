//! The language of a text, and the stems of its words.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

use super::stop_words;
use crate::words::{Role, each_token};

/// A word of more bytes is not stemmed.
const MAX_STEMMED: usize = 40;

/// The language of a text is detected from at most this many parts between spaces at its beginning.
const TOLD_BY: usize = 200;

/// A text with fewer stop words of every language is taken to be in the usual language.
const MIN_STOP_WORDS: usize = 2;

/// Counting ends when one language has this many stop words more than every other.
const LEAD: usize = 6;

/// The prefix of a stem in a language with Latin letters other than English, so that it does not equal
/// the stem of an English word. No token begins with it.
pub(super) const FOREIGN: char = '°';

/// A language with Latin letters whose words have stems. Words in Cyrillic are stemmed as Russian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    English,
    Danish,
    Dutch,
    French,
    German,
    Italian,
    Norwegian,
    Portuguese,
    Spanish,
    Swedish,
}

/// The names of the languages in their order, each with a line of help.
pub(crate) const LANGUAGES: &[(&str, &str)] = &[
    ("english", "English"),
    ("danish", "Danish"),
    ("dutch", "Dutch"),
    ("french", "French"),
    ("german", "German"),
    ("italian", "Italian"),
    ("norwegian", "Norwegian"),
    ("portuguese", "Portuguese"),
    ("spanish", "Spanish"),
    ("swedish", "Swedish"),
];

impl Language {
    pub const ALL: [Self; 10] = [
        Self::English,
        Self::Danish,
        Self::Dutch,
        Self::French,
        Self::German,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Spanish,
        Self::Swedish,
    ];

    /// The language of a text: the one with the most stop words at the beginning of the text. `usual`
    /// if there are too few stop words, or `usual` has as many as any other.
    pub fn detect(text: &str, usual: Self) -> Self {
        let counts = Counts::from_text(text);
        let most = counts.most();
        if most < MIN_STOP_WORDS || counts.0[usual as usize] == most {
            return usual;
        }
        let with_most = |language: &Self| counts.0[*language as usize] == most;
        Self::ALL.into_iter().find(with_most).unwrap_or(usual)
    }

    /// The language with this name in lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        let at = LANGUAGES.iter().position(|(known, _)| *known == name)?;
        Some(Self::ALL[at])
    }

    /// The languages that a question may be in: those with the most stop words. All languages if it has
    /// none, or only some that are also words of English, as in "door handle" or "war history".
    pub fn all_of(question: &str) -> Vec<Self> {
        let mut is_told = false;
        each_token(question, |word, role| {
            let is_stop_word = || stop_words::languages_of(word) != 0;
            is_told |= role == Role::Word && !stop_words::is_english_too(word) && is_stop_word();
        });
        if !is_told {
            return Self::ALL.to_vec();
        }
        let counts = Counts::from_text(question);
        let most = counts.most();
        Self::ALL.into_iter().filter(|language| counts.0[*language as usize] == most).collect()
    }

    /// Whether a word is a stop word of this language. The word is in plain form: without case and
    /// accents.
    pub fn has_stop_word(self, word: &str) -> bool {
        stop_words::languages_of(word) >> self as usize & 1 == 1
    }

    /// The stem of a token.
    pub fn stem<'w>(self, word: &'w str, role: Role) -> Cow<'w, str> {
        if !matches!(role, Role::Word | Role::Part | Role::Run) || word.len() > MAX_STEMMED {
            return Cow::Borrowed(word);
        }
        let first = word.as_bytes()[0];
        if first.is_ascii() {
            return if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                Cow::Borrowed(word)
            } else if self == Self::English {
                Stemmer::new(Algorithm::English).stem(word)
            } else {
                Cow::Owned(self.foreign_stem(word))
            };
        }
        if word.chars().all(|letter| matches!(letter, 'а'..='я')) {
            Stemmer::new(Algorithm::Russian).stem(word)
        } else {
            Cow::Borrowed(word)
        }
    }

    fn foreign_stem(self, word: &str) -> String {
        let endings = ENDINGS.iter().filter(|(language, ..)| *language == self);
        let mut marked = Cow::Borrowed(word);
        for (_, plain, ending) in endings {
            let rest = marked.strip_suffix(plain).filter(|rest| rest.len() >= MIN_REST);
            if let Some(rest) = rest {
                marked = Cow::Owned(format!("{rest}{ending}"));
            }
        }
        let stem = Stemmer::new(self.algorithm()).stem(&marked);
        format!("{FOREIGN}{}", crate::words::plain(&stem))
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Self::English => Algorithm::English,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
        }
    }
}

/// Endings that the stemmers know only with diacritics, which plain words lack. Each plain ending is
/// replaced.
const ENDINGS: [(Language, &str, &str); 7] = [
    (Language::French, "ee", "ée"),
    (Language::French, "ees", "ées"),
    (Language::French, "ite", "ité"),
    (Language::French, "ites", "ités"),
    (Language::Portuguese, "oes", "ao"),
    (Language::Portuguese, "cao", "ção"),
    (Language::Portuguese, "veis", "vel"),
];

/// An ending is replaced only after at least this many letters.
const MIN_REST: usize = 2;

/// Returns a part of a text without the punctuation around it. `None` unless the rest has only
/// lower-case ASCII letters, as most words do.
fn plain_word(part: &str) -> Option<&str> {
    let is_sign = |byte: &u8| byte.is_ascii_punctuation();
    let start = part.bytes().take_while(is_sign).count();
    let end = part.len() - part[start..].bytes().rev().take_while(is_sign).count();
    let word = &part[start..end];
    word.bytes().all(|byte| byte.is_ascii_lowercase()).then_some(word)
}

/// How many stop words of each language a text has.
struct Counts([usize; Language::ALL.len()]);

impl Counts {
    fn from_text(text: &str) -> Self {
        let mut counts = Self([0; Language::ALL.len()]);
        for part in text.split_ascii_whitespace().take(TOLD_BY) {
            match plain_word(part) {
                Some(word) => counts.add(word),
                None if part.len() > MAX_STEMMED => {}
                None => each_token(part, |word, role| {
                    if role == Role::Word {
                        counts.add(word);
                    }
                }),
            }
            if counts.lead() >= LEAD {
                break;
            }
        }
        counts
    }

    fn add(&mut self, word: &str) {
        let languages = stop_words::languages_of(word);
        if languages != 0 {
            for (at, count) in self.0.iter_mut().enumerate() {
                *count += usize::from(languages >> at & 1);
            }
        }
    }

    fn most(&self) -> usize {
        self.0.into_iter().max().unwrap_or_default()
    }

    /// How many stop words more the language with the most has than the next one.
    fn lead(&self) -> usize {
        let mut first = 0;
        let mut second = 0;
        for count in self.0 {
            second = second.max(first.min(count));
            first = first.max(count);
        }
        first - second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_own_stop_words() {
        use Language::*;
        for (language, word) in [
            (English, "the"),
            (Danish, "hvornar"),
            (Dutch, "het"),
            (French, "avec"),
            (German, "nicht"),
            (Italian, "della"),
            (Norwegian, "hva"),
            (Portuguese, "nao"),
            (Spanish, "esta"),
            (Swedish, "och"),
        ] {
            assert!(language.has_stop_word(word), "{language:?} {word}");
        }
        assert!(Language::ALL.into_iter().enumerate().all(|(at, one)| one as usize == at));
    }

    #[test]
    fn the_stop_words_tell_the_language() {
        for (text, language) in [
            ("The key is in the office.", Language::English),
            ("Der Schlüssel liegt im Büro.", Language::German),
            ("La clé est dans le bureau.", Language::French),
            ("La llave está en la oficina.", Language::Spanish),
            ("A chave está no escritório com ele.", Language::Portuguese),
            ("La chiave è nell'ufficio della scuola.", Language::Italian),
            ("De sleutel ligt niet op het kantoor.", Language::Dutch),
            ("Nyckeln är inte på kontoret, men jag har en.", Language::Swedish),
            ("Jeg har ikke noget ud over nøglen.", Language::Danish),
            ("Jeg vet ikke hva noen har kjøpt.", Language::Norwegian),
            ("Schlüssel Büro", Language::English),
            ("Maria de Silva", Language::English),
            ("", Language::English),
            ("猫 ไทย", Language::English),
        ] {
            assert_eq!(Language::detect(text, Language::English), language, "{text}");
        }
        assert_eq!(Language::detect("Schlüssel Büro", Language::German), Language::German);
        assert_eq!(Language::detect("It is in the office.", Language::German), Language::English);
        let names = LANGUAGES.iter().map(|(name, _)| Language::from_name(name));
        assert!(names.eq(Language::ALL.map(Some)));
        let long = "key ".repeat(TOLD_BY) + &"der die das ".repeat(50);
        assert_eq!(Language::detect(&long, Language::English), Language::English);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (language, forms) in [
            (Language::English, "collide collides colliding"),
            (Language::German, "Entscheidung Entscheidungen"),
            (Language::German, "Haus Häuser Häusern"),
            (Language::French, "décider décidé décidée décidées"),
            (Language::French, "activité activités"),
            (Language::Spanish, "canción canciones"),
            (Language::Portuguese, "decisão decisões decisao"),
            (Language::Portuguese, "informação informações"),
            (Language::Portuguese, "possível possíveis"),
            (Language::Italian, "riunione riunioni"),
            (Language::Dutch, "lopen gelopen loopt"),
            (Language::Swedish, "möte möten mötet"),
            (Language::Danish, "beslutning beslutninger"),
            (Language::Norwegian, "beslutning beslutningen"),
            (Language::English, "решение решения решениями"),
            (Language::German, "новый новая нового"),
        ] {
            let stem = |form| {
                let word = crate::words::plain(form);
                language.stem(&word, Role::Word).into_owned()
            };
            let stems: Vec<String> = forms.split(' ').map(stem).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{language:?} {stems:?}");
        }
    }
}
