//! Finds days in languages with spaces between words.

use super::calendar::{Days, Unit, latest, latest_weekday, of_year, span, weekday_of};
use super::token::Token;
use super::words::{
    AGO, AMBIGUOUS, BEFORE_YEAR, BETWEEN, LAST, LAST_AFTER, MONTHS, NEEDS_CAPITAL, NUMBERS, ON,
    OTHER, OTHER_AFTER, PHRASES, RANGE, SINCE, UNITS, WEEKDAYS,
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
        let rest = &tokens[at..];
        let before = at.checked_sub(1).map(|at| &tokens[at]);
        let relative = phrase(rest).or_else(|| ago(rest));
        let relative = relative.filter(|_| rest[0].word != "hier" || self.is_french);
        let named = || {
            iso(rest)
                .or_else(|| self.day_and_month(rest))
                .or_else(|| self.month(rest, before))
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

    /// Reads a month with a day, in either order, such as "March 5th, 2024" or "5. März".
    fn day_and_month(&self, tokens: &[Token]) -> Option<(Days, usize)> {
        let second = 1 + usize::from(is_between(tokens.get(1)));
        let (month, day) = match month_of(&tokens[0].word) {
            Some(month) => (month, tokens.get(1)?.day_of_month()?),
            None => (month_of(&tokens.get(second)?.word)?, tokens[0].day_of_month()?),
        };
        let is_month_first = month_of(&tokens[0].word).is_some();
        let named = if is_month_first { &tokens[0] } else { &tokens[second] };
        if NEEDS_CAPITAL.contains(&named.word.as_str()) && !named.is_capital {
            return None;
        }
        let length = if is_month_first { 2 } else { second + 1 };
        let (year, length) = year_after(tokens, length);
        let date = |year| Date::new(year, month, day);
        let date = match year {
            Some(year) => date(year)?,
            None => latest(self.today, date)?,
        };
        Some(((date, date), length))
    }

    fn month(&self, tokens: &[Token], before: Option<&Token>) -> Option<(Days, usize)> {
        let word = tokens[0].word.as_str();
        let month = month_of(word)?;
        let (year, length) = year_after(tokens, 1);
        let leads = AMBIGUOUS.iter().find(|(ambiguous, _)| *ambiguous == word);
        if year.is_none() && leads.is_some_and(|(_, leads)| !is_one_of(before, leads)) {
            return None;
        }
        let first = |year| Date::new(year, month, 1);
        let first = match year {
            Some(year) => first(year)?,
            None => latest(self.today, first)?,
        };
        Some(((first, first.last_of_month()), length))
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

fn named_weekday(token: &Token) -> Option<usize> {
    let weekday = |names: &[&str; 7]| names.iter().position(|name| *name == token.word);
    WEEKDAYS.iter().find_map(weekday)
}

/// Reads the day of the week that follows a week, as in "last week on Tuesday". Also returns its
/// number of tokens.
fn weekday_at(tokens: &[Token]) -> Option<(usize, usize)> {
    let before = usize::from(is_one_of(tokens.first(), ON));
    Some((named_weekday(tokens.get(before)?)?, before + 1))
}

fn is_one_of(token: Option<&Token>, words: &[&str]) -> bool {
    token.is_some_and(|token| words.contains(&token.word.as_str()))
}

/// Reads a year after a word such as "in". A number before a lower-case word is no year but counts
/// something, as in "in 2025 tests".
fn year(tokens: &[Token], before: Option<&Token>) -> Option<(Days, usize)> {
    let year = tokens[0].year().filter(|_| is_one_of(before, BEFORE_YEAR))?;
    let is_number =
        tokens[0].next == Some(' ') && tokens.get(1).is_some_and(|next| !next.is_capital);
    if is_number { None } else { Some((of_year(year)?, 1)) }
}

fn phrase(tokens: &[Token]) -> Option<(Unit, i64, usize)> {
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
fn iso(tokens: &[Token]) -> Option<(Days, usize)> {
    let [first, second, rest @ ..] = tokens else { return None };
    let third = |sign| rest.first().filter(|third| second.is_joined_by(sign, third));
    if first.is_joined_by('-', second) {
        let year = first.year()?;
        let month = second.number()?;
        let Some(day) = third('-') else {
            let first = Date::new(year, month, 1)?;
            return Some(((first, first.last_of_month()), 2));
        };
        let day: String = day.word.chars().take_while(char::is_ascii_digit).collect();
        let date = Date::new(year, month, day.parse().ok()?)?;
        return Some(((date, date), 3));
    }
    let year = third('.').filter(|_| first.is_joined_by('.', second))?.year()?;
    let date = Date::new(year, second.number()?, first.number()?)?;
    Some(((date, date), 3))
}

fn month_of(word: &str) -> Option<i64> {
    let month = MONTHS.iter().find_map(|names| names.iter().position(|name| *name == word));
    month.map(|month| month as i64 + 1)
}

fn is_between(token: Option<&Token>) -> bool {
    token.is_some_and(|token| BETWEEN.contains(&token.word.as_str()))
}

/// Returns the year after the first `length` tokens, if there is one, and the number of tokens
/// including the year.
fn year_after(tokens: &[Token], length: usize) -> (Option<i64>, usize) {
    let at = length + usize::from(is_between(tokens.get(length)));
    match tokens.get(at).and_then(Token::year) {
        Some(year) => (Some(year), at + 1),
        None => (None, length),
    }
}
