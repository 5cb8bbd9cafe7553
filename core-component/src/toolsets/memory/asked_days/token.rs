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
    /// The character after the word.
    pub next: Option<char>,
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
                    tokens.push(Self {
                        word: plain(written),
                        is_capital: written.starts_with(char::is_uppercase),
                        start: first,
                        end: at,
                        next: text[at..].chars().next(),
                    });
                    start = None;
                }
                _ => {}
            }
        }
        tokens
    }

    /// Whether only this character is between this token and the next one.
    pub fn is_joined_by(&self, sign: char, next: &Self) -> bool {
        self.next == Some(sign) && self.end + sign.len_utf8() == next.start
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
}
