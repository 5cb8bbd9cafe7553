//! Months and days of a month, with or without a year.

use super::calendar::{Days, latest};
use super::token::{Token, is_one_of};
use super::words::{AMBIGUOUS, BETWEEN, MONTHS, NEEDS_CAPITAL};
use crate::time::Date;

/// A month or a day of a month, as a question names it.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub year: Option<i64>,
    pub month: i64,
    pub day: Option<i64>,
    /// The number of tokens.
    pub length: usize,
}

impl Named {
    /// Reads a month with a day, in either order, such as "March 5th, 2024" or "5. März".
    pub fn day_and_month(tokens: &[Token]) -> Option<Self> {
        let second = 1 + usize::from(is_between(tokens.get(1)));
        let at_month = if month_of(&tokens[0].word).is_some() { 0 } else { second };
        let name = tokens.get(at_month)?;
        let month = month_of(&name.word)?;
        let at_day = if at_month == 0 { 1 } else { 0 };
        let day = tokens.get(at_day)?.day_of_month()?;
        if NEEDS_CAPITAL.contains(&name.word.as_str()) && !name.is_capital {
            return None;
        }
        let (year, length) = year_after(tokens, at_month.max(at_day) + 1);
        Some(Self { year, month, day: Some(day), length })
    }

    /// Reads a month, such as "in March" or "March 2024". `before` is the token before it.
    pub fn month(tokens: &[Token], before: Option<&Token>) -> Option<Self> {
        let named = Self::any_month(tokens)?;
        let is_other =
            |(word, leads): &(&str, &[&str])| *word == tokens[0].word && !is_one_of(before, leads);
        let is_month = named.year.is_some() || !AMBIGUOUS.iter().any(is_other);
        is_month.then_some(named)
    }

    /// Reads a month, even if its name is also another word.
    pub fn any_month(tokens: &[Token]) -> Option<Self> {
        let month = month_of(&tokens.first()?.word)?;
        let (year, length) = year_after(tokens, 1);
        Some(Self { year, month, day: None, length })
    }

    /// Returns the days. Without a year, they are the latest ones that do not begin after `until`.
    pub fn resolved(self, until: Date) -> Option<Days> {
        let first = |year| Date::new(year, self.month, self.day.unwrap_or(1));
        let first = self.year.map_or_else(|| latest(until, first), first)?;
        let last = if self.day.is_some() { first } else { first.last_of_month() };
        Some((first, last))
    }

    /// Returns the days like [`Self::resolved`], but without a year the first ones that do not begin
    /// before `from`.
    pub fn resolved_after(self, from: Date) -> Option<Days> {
        let year = |year| Self { year: Some(year), ..self }.resolved(from);
        match self.year {
            Some(_) => self.resolved(from),
            None => {
                (0..=1).find_map(|years| year(from.year() + years).filter(|days| days.0 >= from))
            }
        }
    }
}

fn month_of(word: &str) -> Option<i64> {
    let month = MONTHS.iter().find_map(|names| names.iter().position(|name| *name == word));
    month.map(|month| month as i64 + 1)
}

pub(super) fn is_between(token: Option<&Token>) -> bool {
    is_one_of(token, BETWEEN)
}

/// Returns the year after the first `length` tokens, if there is one, and the number of tokens
/// including the year.
pub(super) fn year_after(tokens: &[Token], length: usize) -> (Option<i64>, usize) {
    let at = length + usize::from(is_between(tokens.get(length)));
    match tokens.get(at).and_then(Token::year) {
        Some(year) => (Some(year), at + 1),
        None => (None, length),
    }
}
