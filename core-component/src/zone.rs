//! The caller's time zone: the days and local times of its arguments as moments.

use serde::Deserialize;

use crate::error::{Code, Error};
use crate::time::{Date, Timestamp};

/// More than the largest offset, in milliseconds.
const MAX_OFFSET: i64 = 26 * 60 * MINUTE;

const MINUTE: i64 = 60_000;

/// A time zone: its offset from UTC, and the moments at which the offset changes. The default is
/// UTC.
///
/// As JSON: `{"offset_minutes": -300, "changes": [{"at": 1772953200000, "offset_minutes": -240}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// The offset before the first change, in minutes, positive to the east.
    pub offset_minutes: i32,
    /// The changes in the order of their moments. The offset of the last one holds for ever.
    #[serde(default)]
    pub changes: Vec<ZoneChange>,
}

/// A change of a zone's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneChange {
    /// The moment, in milliseconds since 1970-01-01T00:00:00Z.
    pub at: i64,
    /// The offset from that moment on, in minutes, positive to the east.
    pub offset_minutes: i32,
}

/// The first and the last moment that a date or a timestamp of an argument stands for. Those of a
/// timestamp are the same. A day that the zone skipped ends before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: Timestamp,
    pub last: Timestamp,
}

impl Span {
    /// Checks the arguments `from_date` and `to_date`.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` if the first is after the second. A day that the zone skipped is no mistake:
    /// nothing was kept on it.
    pub(crate) fn check_order(from: Option<Self>, to: Option<Self>) -> Result<(), Error> {
        if let (Some(from), Some(to)) = (from, to)
            && from.first > to.first.max(to.last)
        {
            let message = "`from_date` is after `to_date`: exchange them";
            let accepted = format!("a moment up to {}", to.last);
            return Err(Error::at(Code::InvalidInput, message, "from_date", accepted));
        }
        Ok(())
    }
}

impl Zone {
    /// Reads the argument `field`: a date, which is that day in this zone, or a timestamp, which is
    /// in this zone if it has no offset. Space around the text counts for nothing.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for another text.
    pub(crate) fn span(&self, text: &str, field: &str) -> Result<Span, Error> {
        let trimmed = text.trim();
        if let Some(date) = Date::parse(trimmed) {
            return Ok(Span { first: self.start_of(date), last: self.end_of(date) });
        }
        // The name of a zone in brackets would be ignored.
        let moment = Timestamp::parse_in(trimmed, self).filter(|_| !trimmed.contains('['));
        moment.map(|moment| Span { first: moment, last: moment }).ok_or_else(|| {
            let message = format!(
                "`{field}` `{}` is no date and no timestamp: write `2025-01-31` or \
                 `2025-01-31T12:00:00Z`",
                text.escape_debug()
            );
            let accepted = "`YYYY-MM-DD` or an RFC 3339 timestamp".to_owned();
            Error::at(Code::InvalidInput, message, field, accepted)
        })
    }

    /// The date of a moment.
    pub fn date_at(&self, moment: Timestamp) -> Date {
        let milliseconds = moment.milliseconds();
        let changes = self.changes.partition_point(|change| change.at <= milliseconds);
        let local = milliseconds.saturating_add(self.offset_after(changes));
        Timestamp::clamped(local).utc_date()
    }

    /// The first moment of a day. In a zone that skips midnight on it, the day begins later; in a
    /// zone that skips the whole day, where the next one begins.
    pub fn start_of(&self, date: Date) -> Timestamp {
        match self.moment_of(Timestamp::at_midnight(date)) {
            Local::At(moment) => moment,
            Local::Skipped { change, .. } => Timestamp::clamped(change),
        }
    }

    /// The last millisecond of a day.
    pub fn end_of(&self, date: Date) -> Timestamp {
        match date.tomorrow() {
            Some(tomorrow) => Timestamp::clamped(self.start_of(tomorrow).milliseconds() - 1),
            None => Timestamp::clamped(i64::MAX),
        }
    }

    /// The moment of a local time, which is given as if it were in UTC. If clocks show it twice, it is
    /// the first moment. If they skip it, it is the moment after the change that the offset before
    /// the change gives.
    pub(crate) fn instant_of(&self, local: Timestamp) -> Timestamp {
        match self.moment_of(local) {
            Local::At(moment) => moment,
            Local::Skipped { moment, .. } => Timestamp::clamped(moment),
        }
    }

    /// Looks for a local time, which is given as if it were in UTC.
    fn moment_of(&self, local: Timestamp) -> Local {
        let local = local.milliseconds();
        // Later than the changes before this one, whatever their offset is.
        let mut index = self.changes.partition_point(|change| change.at <= local - MAX_OFFSET);
        let mut begins = i64::MIN;
        loop {
            let moment = local - self.offset_after(index);
            if moment < begins {
                let before = local - self.offset_after(index - 1);
                return Local::Skipped { moment: before, change: begins };
            }
            match self.changes.get(index) {
                Some(change) if change.at <= moment => begins = change.at,
                _ => return Local::At(Timestamp::clamped(moment)),
            }
            index += 1;
        }
    }

    /// The offset after that many changes, in milliseconds. An offset of 26 hours or more counts as
    /// UTC.
    fn offset_after(&self, changes: usize) -> i64 {
        let last = changes.checked_sub(1).map(|last| self.changes[last].offset_minutes);
        let offset = i64::from(last.unwrap_or(self.offset_minutes)) * MINUTE;
        if offset.abs() < MAX_OFFSET { offset } else { 0 }
    }
}

/// Where a local time is in a zone.
enum Local {
    At(Timestamp),
    /// Clocks skip it. In milliseconds: the moment that the offset before the change gives, and that
    /// of the change.
    Skipped {
        moment: i64,
        change: i64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).expect(text)
    }

    fn zone(offset_minutes: i32, changes: &[(&str, i32)]) -> Zone {
        let change = |&(at, offset_minutes): &(&str, i32)| ZoneChange {
            at: moment(at).milliseconds(),
            offset_minutes,
        };
        Zone { offset_minutes, changes: changes.iter().map(change).collect() }
    }

    /// New York in 2026.
    fn new_york() -> Zone {
        zone(-300, &[("2026-03-08T07:00:00Z", -240), ("2026-11-01T06:00:00Z", -300)])
    }

    fn span(zone: &Zone, text: &str) -> (String, String) {
        let Span { first, last } = zone.span(text, "from_date").expect(text);
        (first.to_string(), last.to_string())
    }

    fn check(zone: &Zone, text: &str, first: &str, last: &str) {
        assert_eq!(span(zone, text), (first.to_owned(), last.to_owned()), "{text}");
    }

    #[test]
    fn a_day_has_the_offset_that_holds_on_it() {
        let zone = new_york();
        check(&zone, "2026-01-15", "2026-01-15T05:00:00.000Z", "2026-01-16T04:59:59.999Z");
        check(&zone, "2026-07-01", "2026-07-01T04:00:00.000Z", "2026-07-02T03:59:59.999Z");
        check(&zone, " 2026-12-01\n", "2026-12-01T05:00:00.000Z", "2026-12-02T04:59:59.999Z");
    }

    #[test]
    fn a_day_with_a_change_has_23_or_25_hours() {
        let zone = new_york();
        check(&zone, "2026-03-08", "2026-03-08T05:00:00.000Z", "2026-03-09T03:59:59.999Z");
        check(&zone, "2026-11-01", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z");
    }

    #[test]
    fn a_local_time_that_is_skipped_is_later_and_one_that_occurs_twice_is_the_first() {
        let zone = new_york();
        for (local, read) in [
            ("2026-03-08T01:59:59.999", "2026-03-08T06:59:59.999Z"),
            ("2026-03-08T02:00:00", "2026-03-08T07:00:00.000Z"),
            ("2026-03-08T02:30:00", "2026-03-08T07:30:00.000Z"),
            ("2026-03-08T03:00:00", "2026-03-08T07:00:00.000Z"),
            ("2026-11-01T00:59:59", "2026-11-01T04:59:59.000Z"),
            ("2026-11-01 01:30", "2026-11-01T05:30:00.000Z"),
            ("2026-11-01T02:00:00", "2026-11-01T07:00:00.000Z"),
            ("2026-11-01T01:30:00-05:00", "2026-11-01T06:30:00.000Z"),
            ("2026-11-01T01:30:00Z", "2026-11-01T01:30:00.000Z"),
        ] {
            check(&zone, local, read, read);
        }
    }

    #[test]
    fn a_day_without_midnight_begins_at_the_change() {
        // São Paulo in 2018 and 2019: clocks went from 0:00 to 1:00, and from 24:00 back to 23:00.
        let changes = [("2018-11-04T03:00:00Z", -120), ("2019-02-17T02:00:00Z", -180)];
        let sao_paulo = zone(-180, &changes);
        check(&sao_paulo, "2018-11-03", "2018-11-03T03:00:00.000Z", "2018-11-04T02:59:59.999Z");
        check(&sao_paulo, "2018-11-04", "2018-11-04T03:00:00.000Z", "2018-11-05T01:59:59.999Z");
        check(&sao_paulo, "2019-02-16", "2019-02-16T02:00:00.000Z", "2019-02-17T02:59:59.999Z");
        // Toronto in 1919: from 23:30 to 0:30.
        let toronto = zone(-300, &[("1919-03-31T04:30:00Z", -240)]);
        check(&toronto, "1919-03-31", "1919-03-31T04:30:00.000Z", "1919-04-01T03:59:59.999Z");
        check(&toronto, "1919-03-31T00:00", "1919-03-31T05:00:00.000Z", "1919-03-31T05:00:00.000Z");
    }

    #[test]
    fn a_day_that_is_skipped_ends_before_it_begins() {
        let apia = zone(-600, &[("2011-12-30T10:00:00Z", 840)]);
        check(&apia, "2011-12-29", "2011-12-29T10:00:00.000Z", "2011-12-30T09:59:59.999Z");
        check(&apia, "2011-12-30", "2011-12-30T10:00:00.000Z", "2011-12-30T09:59:59.999Z");
        check(&apia, "2011-12-31", "2011-12-30T10:00:00.000Z", "2011-12-31T09:59:59.999Z");
        let noon = "2011-12-30T22:00:00.000Z";
        check(&apia, "2011-12-30T12:00:00", noon, noon);
    }

    #[test]
    fn the_date_of_a_moment_has_the_offset_of_that_moment() {
        let late = moment("2025-01-20T23:30:00.000Z");
        for (minutes, date) in
            [(0, "2025-01-20"), (60, "2025-01-21"), (-1440, "2025-01-19"), (1560, "2025-01-20")]
        {
            assert_eq!(zone(minutes, &[]).date_at(late).to_string(), date, "{minutes}");
        }
        let zone = new_york();
        for (at, date) in [
            ("2026-07-02T03:59:59Z", "2026-07-01"),
            ("2026-07-02T04:00:00Z", "2026-07-02"),
            ("2026-12-02T04:59:59Z", "2026-12-01"),
        ] {
            assert_eq!(zone.date_at(moment(at)).to_string(), date, "{at}");
        }
    }

    #[test]
    fn days_at_both_ends_of_time_are_within_the_years_0_to_9999() {
        let last = "9999-12-31T23:59:59.999Z";
        for minutes in [-720, 0, 840] {
            let zone = zone(minutes, &[]);
            assert_eq!(span(&zone, "9999-12-31").1, last, "{minutes}");
            assert!(span(&zone, "0000-01-01").0.starts_with("0000-01-01T"), "{minutes}");
            let moment = Timestamp::parse_stored(last).expect("a moment");
            assert_eq!(zone.date_at(moment).to_string(), "9999-12-31", "{minutes}");
        }
    }

    #[test]
    fn every_other_text_is_refused() {
        for text in ["", "yesterday", "2026-02-30", "20260101", "2026-01-01T10:00[Asia/Tokyo]"] {
            assert!(Zone::default().span(text, "from_date").is_err(), "{text}");
        }
    }
}
