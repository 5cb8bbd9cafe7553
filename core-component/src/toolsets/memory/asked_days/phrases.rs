//! Words for days that need no look at the words around them.

use super::calendar::{Days, Unit, of_year};
use super::token::{Token, is_one_of};
use super::words::{AGO, BEFORE_YEAR, NUMBERS, ON, PHRASES, UNITS, WEEKDAYS};
use crate::time::Date;

pub(super) fn named_weekday(token: &Token) -> Option<usize> {
    let weekday = |names: &[&str; 7]| names.iter().position(|name| *name == token.word);
    WEEKDAYS.iter().find_map(weekday)
}

/// Reads the day of the week that follows a week, as in "last week on Tuesday". Also returns its
/// number of tokens.
pub(super) fn weekday_at(tokens: &[Token]) -> Option<(usize, usize)> {
    let before = usize::from(is_one_of(tokens.first(), ON));
    Some((named_weekday(tokens.get(before)?)?, before + 1))
}

/// Reads a year after a word such as "in".
pub(super) fn year(tokens: &[Token], before: Option<&Token>) -> Option<(Days, usize)> {
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
pub(super) fn ago(tokens: &[Token]) -> Option<(Unit, i64, usize)> {
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
