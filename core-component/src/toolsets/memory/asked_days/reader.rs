//! Finds days in languages with spaces between words.

use super::calendar::{Days, Unit, latest_weekday, of_year, span, weekday_of};
use super::named::{Named, is_between};
use super::range::range;
use super::token::{Token, is_one_of};
use super::words::{
    AGO, BEFORE_YEAR, LAST, LAST_AFTER, NUMBERS, ON, OTHER, OTHER_AFTER, PHRASES, RANGE, SINCE,
    UNITS, WEEKDAYS,
};
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

pub(super) fn named_weekday(token: &Token) -> Option<usize> {
    let weekday = |names: &[&str; 7]| names.iter().position(|name| *name == token.word);
    WEEKDAYS.iter().find_map(weekday)
}

/// Reads the day of the week that follows a week, as in "last week on Tuesday". Also returns its
/// number of tokens.
fn weekday_at(tokens: &[Token]) -> Option<(usize, usize)> {
    let before = usize::from(is_one_of(tokens.first(), ON));
    Some((named_weekday(tokens.get(before)?)?, before + 1))
}

/// Reads a year after a word such as "in".
fn year(tokens: &[Token], before: Option<&Token>) -> Option<(Days, usize)> {
    let year = tokens[0].year().filter(|_| is_one_of(before, BEFORE_YEAR))?;
    if tokens[0].counts(tokens.get(1)) { None } else { Some((of_year(year)?, 1)) }
}

pub(super) fn phrase(tokens: &[Token]) -> Option<(Unit, i64, usize)> {
    PHRASES.iter().find_map(|(phrase, unit, units)| {
        let words = phrase.split(' ');
        let length = words.clone().count();
        let begins =
            tokens.len() >= length && words.zip(tokens).all(|(word, token)| word == token.word);
        begins.then_some((*unit, *units, length))
    })
}

/// Reads a number of units in the past, such as "3 days ago", "vor zwei Wochen" or "il y a un
/// mois".
fn ago(tokens: &[Token]) -> Option<(Unit, i64, usize)> {
    let begins = |words: &&[&str]| {
        tokens.len() > words.len()
            && words.iter().zip(tokens).all(|(word, token)| *word == token.word)
    };
    let before = AGO.iter().find(|words| begins(words)).map_or(0, |words| words.len());
    let [number, unit, rest @ ..] = &tokens[before..] else { return None };
    let named = || NUMBERS.iter().find(|(word, _)| *word == number.word).map(|(_, number)| *number);
    let number = number.number().or_else(named)?;
    let (_, unit) = UNITS.iter().find(|(word, _)| *word == unit.word)?;
    match (before, rest.first()) {
        (0, Some(ago)) if ago.word == "ago" => Some((*unit, number, 3)),
        (0, _) => None,
        _ => Some((*unit, number, before + 2)),
    }
}

/// Reads a date such as 2024-03-05 or 5.3.2024, or a month such as 2024-03.
pub(super) fn iso(tokens: &[Token]) -> Option<(Days, usize)> {
    let [first, second, rest @ ..] = tokens else { return None };
    let third = |sign| rest.first().filter(|_| second.gap == sign);
    if first.gap == "-" {
        let year = first.year()?;
        let month = second.number()?;
        let Some(day) = third("-") else {
            let first = Date::new(year, month, 1)?;
            return Some(((first, first.last_of_month()), 2));
        };
        let day: String = day.word.chars().take_while(char::is_ascii_digit).collect();
        let date = Date::new(year, month, day.parse().ok()?)?;
        return Some(((date, date), 3));
    }
    let year = third(".").filter(|_| first.gap == ".")?.year()?;
    let date = Date::new(year, second.number()?, first.number()?)?;
    Some(((date, date), 3))
}
