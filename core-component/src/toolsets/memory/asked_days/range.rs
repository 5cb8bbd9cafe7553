//! Ranges of days, such as "5 March to 7 March 2025", "von Montag bis Freitag" or "January to March".

use super::calendar::{Days, Unit, latest_weekday, of_year, weekday_of};
use super::named::{Named, year_after};
use super::phrases::{iso, named_weekday, phrase};
use super::token::{Token, is_one_of};
use super::words::{
    AND, ARTICLES, BOTH, DASHES, LAST, LAST_AFTER, OTHER, OTHER_AFTER, RANGE, SINCE, TO,
};
use crate::time::Date;

/// One end of a range, as a question names it.
#[derive(Clone, Copy)]
enum End {
    Named(Named),
    /// A day of the month that the other end names. Also the year after it, if there is one.
    Day(i64, Option<i64>),
    /// 0 is Monday.
    Weekday(usize),
    Days(Days),
}

/// Reads a range that begins at the token `at`. Returns its days and its number of tokens, or `None` if
/// no range begins there. Beside a word such as "next" the days are `None`.
pub(super) fn range(tokens: &[Token], at: usize, today: Date) -> Option<(Option<Days>, usize)> {
    let before = |at: usize| at.checked_sub(1).map(|at| &tokens[at]);
    let opening = before(if is_one_of(before(at), ARTICLES) { at - 1 } else { at });
    let is_opened = is_one_of(opening, RANGE) || is_one_of(opening, SINCE);
    let (first, length) = End::read(&tokens[at..], opening, is_opened)?;
    let to = at + length;
    let is_dash = DASHES.contains(&tokens[to - 1].gap.trim_matches(['.', ' ']));
    let is_word =
        is_one_of(tokens.get(to), TO) || is_one_of(opening, BOTH) && is_one_of(tokens.get(to), AND);
    if !is_dash && !is_word {
        return None;
    }
    let after = if is_dash { to } else { to + 1 };
    let after = after + usize::from(is_one_of(tokens.get(after), ARTICLES));
    let rest = tokens.get(after..).filter(|rest| !rest.is_empty())?;
    let may_be_month = is_opened || matches!(first, End::Named(_)) && rest[0].is_capital;
    let (last, length) = End::read(rest, before(after), may_be_month)?;
    let end = after + length;
    if is_one_of(opening, LAST) || is_one_of(tokens.get(end), LAST_AFTER) {
        return None;
    }
    let is_used = !is_one_of(opening, OTHER) && !is_one_of(tokens.get(end), OTHER_AFTER);
    let days = |days: Days| is_used.then_some(days);
    if let (End::Weekday(first), End::Weekday(last), Some((Unit::Week, weeks, week))) =
        (first, last, phrase(&tokens[end..]))
    {
        let of_week = |weekday| Some(weekday_of(today, weeks, weekday)?.0);
        return Some((days((of_week(first)?, of_week(last)?)), end + week - at));
    }
    let is_bare = |end: End| matches!(end, End::Day(_, None));
    // A bare number is often something else, as in "from March 5 to 12 customers".
    let is_sure = is_bare(first) || !is_bare(last) || ends(rest, is_dash);
    // So is a year.
    let is_count = length == 1 && rest[0].year().is_some() && rest[0].counts(rest.get(1));
    if !is_sure || is_count {
        return None;
    }
    let found = first.until(last, today).filter(|(first, last)| first <= last)?;
    Some((days(found), end - at))
}

/// Whether a number at the end of a range is a day: a dash leads to it, or nothing follows that it could
/// count, or it is an ordinal number.
fn ends(tokens: &[Token], is_dash: bool) -> bool {
    let is_ordinal = tokens[0].number().is_none();
    let is_last = tokens.len() == 1 && !tokens[0].gap.starts_with(':');
    is_dash || is_ordinal || is_last || tokens[0].gap.starts_with([',', ';', '?', '!', ')'])
}

impl End {
    /// Reads an end. Also returns its number of tokens. If `is_opened`, it may be a year, or a month
    /// whose name is also another word.
    fn read(tokens: &[Token], before: Option<&Token>, is_opened: bool) -> Option<(Self, usize)> {
        let named = |named: Named| (Self::Named(named), named.length);
        let day = || {
            let day = tokens[0].day_of_month()?;
            let (year, length) = year_after(tokens, 1);
            Some((Self::Day(day, year), length))
        };
        let year = || Some((Self::Days(of_year(tokens[0].year().filter(|_| is_opened)?)?), 1));
        let month = if is_opened { Named::any_month(tokens) } else { Named::month(tokens, before) };
        iso(tokens)
            .map(|(days, length)| (Self::Days(days), length))
            .or_else(|| Named::day_and_month(tokens).or(month).map(named))
            .or_else(|| named_weekday(&tokens[0]).map(|weekday| (Self::Weekday(weekday), 1)))
            .or_else(day)
            .or_else(year)
    }

    /// Returns the days from this end to `last`.
    fn until(self, last: Self, today: Date) -> Option<Days> {
        match (self, last) {
            (Self::Named(first), Self::Named(last)) => between(first, last, today),
            (Self::Day(day, None), Self::Named(last)) if last.day > Some(day) => {
                between(Named { day: Some(day), ..last }, last, today)
            }
            (Self::Named(first @ Named { day: Some(_), .. }), Self::Day(day, year))
                if Some(day) > first.day =>
            {
                let year = year.or(first.year);
                between(Named { year, ..first }, Named { year, day: Some(day), ..first }, today)
            }
            (Self::Weekday(first), Self::Weekday(last)) => {
                let (last, _) = latest_weekday(today, last)?;
                Some((latest_weekday(last, first)?.0, last))
            }
            (Self::Days(first), Self::Days(last)) if last.0 <= today => Some((first.0, last.1)),
            _ => None,
        }
    }
}

/// Returns the days from `first` to `last`. Without a year, these are the latest ones that have begun if
/// both are in one year, and otherwise the latest ones of which the last day or month has begun: "from
/// October to March" is a winter.
fn between(first: Named, last: Named, today: Date) -> Option<Days> {
    let begun = first.resolved(today)?;
    let after = last.resolved_after(begun.0)?;
    let is_one_year = begun.0.year() == after.0.year();
    let last = match (first.year, last.year) {
        (Some(_), None) => after.1,
        (None, None) if is_one_year => after.1,
        _ => last.resolved(today)?.1,
    };
    Some((first.resolved(last)?.0, last))
}
