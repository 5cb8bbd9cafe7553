//! Finds days in languages with spaces between words.

use super::calendar::{Days, Unit, latest_weekday, span, weekday_of};
use super::named::{Named, is_between};
use super::phrases::{ago, iso, named_weekday, phrase, weekday_at, year};
use super::range::range;
use super::token::{Token, is_one_of};
use super::words::{LAST, LAST_AFTER, OTHER, OTHER_AFTER, RANGE, SINCE};
use crate::time::Date;

pub(super) struct Reader {
    pub today: Date,
    /// Whether the question is in French. "hier" is "yesterday" in French, and "here" in German.
    is_french: bool,
    pub days: Vec<Days>,
    /// Whether the question asks for all days from the first day to the second.
    pub is_range: bool,
    /// The byte ranges of relative words such as "yesterday".
    pub relative: Vec<(usize, usize)>,
    /// The byte ranges of the other words for days, such as "March 5".
    pub named: Vec<(usize, usize)>,
}

impl Reader {
    pub fn new(today: Date, is_french: bool) -> Self {
        let days = Vec::new();
        let relative = Vec::new();
        let named = Vec::new();
        Self { today, is_french, days, is_range: false, relative, named }
    }

    /// Finds all days in a question, in languages with spaces between words.
    pub fn read_all(&mut self, question: &str) {
        let tokens = Token::all_of(question);
        let mut at = 0;
        while at < tokens.len() {
            at += self.read(&tokens, at).max(1);
        }
    }

    /// Adds days that relative words name, and the byte range of these words. Does nothing for
    /// `None`.
    pub fn add_relative(&mut self, days: Option<Days>, start: usize, end: usize) {
        self.days.extend(days);
        self.relative.extend(days.map(|_| (start, end)));
    }

    /// Adds days that other words name, and the byte range of these words. Does nothing for `None`.
    pub fn add_named(&mut self, days: Option<Days>, start: usize, end: usize) {
        self.days.extend(days);
        self.named.extend(days.map(|_| (start, end)));
    }

    /// Reads days whose words begin at the token `at`. Returns the number of tokens of these words,
    /// or 0.
    fn read(&mut self, tokens: &[Token], at: usize) -> usize {
        if let Some((days, length)) = range(tokens, at, self.today) {
            self.add_named(days, tokens[at].start, tokens[at + length - 1].end);
            return length;
        }
        let rest = &tokens[at..];
        let before = at.checked_sub(1).map(|at| &tokens[at]);
        let relative = phrase(rest).or_else(|| ago(rest));
        let relative = relative.filter(|_| rest[0].word != "hier" || self.is_french);
        let named = || {
            iso(rest)
                .or_else(|| self.resolved(Named::day_and_month(rest)?))
                .or_else(|| self.resolved(Named::month(rest, before)?))
                .or_else(|| self.weekday(rest, before))
                .or_else(|| year(rest, before))
        };
        let found = match relative {
            Some((Unit::Week, weeks, length))
                if let Some((weekday, more)) = weekday_at(&rest[length..]) =>
            {
                (weekday_of(self.today, weeks, weekday), length + more)
            }
            Some((unit, units, length)) => (span(self.today, unit, units), length),
            None => match named() {
                Some((days, length)) => (Some(days), length),
                None => return 0,
            },
        };
        let (days, length) = found;
        let after = rest.get(length);
        if is_one_of(before, OTHER) || is_one_of(after, OTHER_AFTER) {
            return length;
        }
        let is_since = is_one_of(before, SINCE);
        let until_today = |(first, last)| (first, if is_since { self.today } else { last });
        let days = days.map(until_today);
        self.is_range |= is_one_of(before, RANGE);
        // A word such as "last" belongs to the words for the day, so it is not searched for either.
        let first = before.filter(|_| is_one_of(before, LAST)).unwrap_or(&rest[0]);
        let last = after.filter(|_| is_one_of(after, LAST_AFTER)).unwrap_or(&rest[length - 1]);
        match relative {
            Some(_) => self.add_relative(days, first.start, last.end),
            None => {
                // Only words such as "last" are relative here. In an entry, they would mean another
                // day.
                let beside = before.into_iter().filter(|_| is_one_of(before, LAST));
                let beside = beside.chain(after.filter(|_| is_one_of(after, LAST_AFTER)));
                self.relative.extend(beside.map(|token| (token.start, token.end)));
                self.add_named(days, rest[0].start, rest[length - 1].end);
            }
        }
        length
    }

    /// Returns the days that are named, and the number of tokens.
    fn resolved(&self, named: Named) -> Option<(Days, usize)> {
        Some((named.resolved(self.today)?, named.length))
    }

    /// Reads a day of the week, such as "last Friday" or "Tuesday last week".
    fn weekday(&self, tokens: &[Token], before: Option<&Token>) -> Option<(Days, usize)> {
        let weekday = named_weekday(&tokens[0])?;
        let second = 1 + usize::from(is_between(tokens.get(1)));
        if let Some((Unit::Week, weeks, length)) = tokens.get(second..).and_then(phrase) {
            return Some((weekday_of(self.today, weeks, weekday)?, second + length));
        }
        let is_past = is_one_of(before, LAST) || is_one_of(tokens.get(1), LAST_AFTER);
        let until = if is_past { self.today.plus_days(-1)? } else { self.today };
        Some((latest_weekday(until, weekday)?, 1))
    }
}
