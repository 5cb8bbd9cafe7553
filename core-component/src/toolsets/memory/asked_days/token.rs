//! Splits a question into words and numbers.

use std::ops::RangeInclusive;

use crate::words::plain;

/// The numbers that can be years.
pub(super) const YEARS: RangeInclusive<i64> = 1900..=2200;

/// A word or a number in plain form: without case and marks.
pub(super) struct Token {
    pub word: String,
    /// Whether the word begins with a capital letter in the question.
    pub is_capital: bool,
    pub start: usize,
    pub end: usize,
    /// The text between this word and the next one.
    pub gap: String,
}

impl Token {
    pub fn all_of(text: &str) -> Vec<Self> {
        let mut tokens = Vec::new();
        let mut start = None;
        let end = text.len();
        for (at, character) in text.char_indices().chain([(end, ' ')]) {
            match (character.is_alphanumeric(), start) {
                (true, None) => start = Some(at),
                (false, Some(first)) => {
                    let written = &text[first..at];
                    let rest = &text[at..];
                    let gap = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
                    tokens.push(Self {
                        word: plain(written),
                        is_capital: written.starts_with(char::is_uppercase),
                        start: first,
                        end: at,
                        gap: rest[..gap].to_owned(),
                    });
                    start = None;
                }
                _ => {}
            }
        }
        tokens
    }

    pub fn number(&self) -> Option<i64> {
        let is_number = self.word.len() <= 4 && self.word.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.word.parse().ok())?
    }

    /// Returns the day of a month that the token is, as in "5", "5th" or "1er".
    pub fn day_of_month(&self) -> Option<i64> {
        let digits = self.word.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        let day = digits.parse().ok().filter(|day| (1..=31).contains(day));
        day.filter(|_| matches!(&self.word[digits.len()..], "" | "st" | "nd" | "rd" | "th" | "er"))
    }

    pub fn year(&self) -> Option<i64> {
        self.number().filter(|year| self.word.len() == 4 && YEARS.contains(year))
    }

    /// Whether this number counts something, as in "2025 tests". Such a number is not a year. A number
    /// before a word in lower case is taken as a count.
    pub fn counts(&self, next: Option<&Self>) -> bool {
        self.gap.starts_with(' ') && next.is_some_and(|next| !next.is_capital)
    }
}

pub(super) fn is_one_of(token: Option<&Token>, words: &[&str]) -> bool {
    token.is_some_and(|token| words.contains(&token.word.as_str()))
}
