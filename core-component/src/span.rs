//! Arguments that are dates or timestamps.

use crate::error::{Code, Error};
use crate::time::{Date, Timestamp};
use crate::zone::Zone;

/// The first and the last moment that a date or a timestamp of an argument stands for. For a timestamp
/// both are equal. For a day that the zone skipped, `last` is before `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: Timestamp,
    pub last: Timestamp,
}

impl Span {
    /// Reads the argument `field`: a date, which is that day in the zone, or a timestamp, which is in
    /// the zone if it has no offset. Space around the text is ignored.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` for another text.
    pub fn read(zone: &Zone, text: &str, field: &str) -> Result<Self, Error> {
        let trimmed = text.trim();
        if let Some(date) = Date::parse(trimmed) {
            return Ok(Self { first: zone.start_of(date), last: zone.end_of(date) });
        }
        let moment = Timestamp::parse_in(trimmed, |local| zone.instant_of(local));
        let moment = moment.filter(|_| !has_impossible_offset(trimmed));
        moment.map(|moment| Self { first: moment, last: moment }).ok_or_else(|| {
            let message = format!(
                "`{field}` `{}` is no date and no timestamp: write `2025-01-31` or \
                 `2025-01-31T12:00:00Z`",
                text.escape_debug()
            );
            let accepted = "`YYYY-MM-DD` or an RFC 3339 timestamp".to_owned();
            Error::at(Code::InvalidInput, message, field, accepted)
        })
    }

    /// Checks the arguments `from_date` and `to_date`.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` if the first is after the second. A day that the zone skipped is accepted: it
    /// has no entries.
    pub fn check_order(from: Option<Self>, to: Option<Self>) -> Result<(), Error> {
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

/// Whether the offset of a timestamp is a day or more. RFC 3339 allows at most 23:59.
fn has_impossible_offset(timestamp: &str) -> bool {
    let without_zone = timestamp.split('[').next().unwrap_or_default();
    // Skips the date, which has hyphens, too.
    let time = without_zone.get("2025-01-31".len()..).unwrap_or_default();
    let offset = time.rsplit_once(['+', '-']).and_then(|(_, offset)| offset.get(..2));
    let hours = offset.and_then(|hours| hours.parse::<u32>().ok());
    hours.is_some_and(|hours| hours > 23)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::ZoneChange;

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
        let Span { first, last } = Span::read(zone, text, "from_date").expect(text);
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
            ("2026-11-01T01:30:00+09:00[Asia/Tokyo]", "2026-10-31T16:30:00.000Z"),
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
        for text in [
            "",
            "yesterday",
            "2026-02-30",
            "20260101",
            "2026-01-01T10:00[Asia/Tokyo]",
            "2026-01-01T10:00:00+24:00",
            "2026-01-01T10:00:00-25:00",
            "2026-01-01 10:00+2400",
        ] {
            assert!(Span::read(&Zone::default(), text, "from_date").is_err(), "{text}");
        }
    }
}
