//! Calculates days, weeks, months and years relative to a day.

use crate::time::Date;

/// The first and the last day of a range, both inclusive.
pub(in crate::toolsets::memory) type Days = (Date, Date);

/// A unit of the calendar.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// Returns one day, or a whole calendar week, month or year: the one `units` units before today's.
pub(super) fn span(today: Date, unit: Unit, units: i64) -> Option<Days> {
    match unit {
        Unit::Day => today.plus_days(-units).map(|day| (day, day)),
        Unit::Week => {
            let first = today.plus_days(-today.days_since_monday() - 7 * units.min(1_000_000))?;
            Some((first, first.plus_days(6)?))
        }
        Unit::Month => {
            let months = today.year() * 12 + today.month() - 1 - units;
            let first = Date::new(months.div_euclid(12), months.rem_euclid(12) + 1, 1)?;
            Some((first, first.last_of_month()))
        }
        Unit::Year => of_year(today.year() - units),
    }
}

pub(super) fn of_year(year: i64) -> Option<Days> {
    Some((Date::new(year, 1, 1)?, Date::new(year, 12, 31)?))
}

/// Returns the last such day of the week that is not after `until`. 0 is Monday.
pub(super) fn latest_weekday(until: Date, weekday: usize) -> Option<Days> {
    let since = (until.days_since_monday() - weekday as i64).rem_euclid(7);
    until.plus_days(-since).map(|day| (day, day))
}

/// Returns such a day of the week in the calendar week `weeks` weeks ago. 0 is Monday.
pub(super) fn weekday_of(today: Date, weeks: i64, weekday: usize) -> Option<Days> {
    let (monday, _) = span(today, Unit::Week, weeks)?;
    monday.plus_days(weekday as i64).map(|day| (day, day))
}

/// Returns the latest date such as March 5 that is not after `until`. Looks back eight years, since
/// there may be no February 29 for so long.
pub(super) fn latest(until: Date, date: impl Fn(i64) -> Option<Date>) -> Option<Date> {
    (0..=8).find_map(|years| date(until.year() - years).filter(|date| *date <= until))
}
