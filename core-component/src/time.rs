//! Dates and timestamps. Each is written in exactly one form.

use std::borrow::Cow;
use std::fmt;

use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use jiff::{SignedDuration, civil};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A day of the Gregorian calendar, written `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(civil::Date);

impl Date {
    /// Parses `YYYY-MM-DD`. `None` if the text has another form or the day does not exist.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |range: std::ops::Range<usize>| {
            let digits = text.get(range)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let year = digits(0..4)?;
        let month = digits(5..7)?;
        let day = digits(8..10)?;
        civil::Date::new(year, month as i8, day as i8).ok().map(Self)
    }

    /// A day of the years 0 to 9999. None if it does not exist.
    pub(crate) fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let (year, month, day) =
            (year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?);
        civil::Date::new(year, month, day).ok().filter(|date| date.year() >= 0).map(Self)
    }

    pub(crate) fn year(self) -> i64 {
        self.0.year().into()
    }

    pub(crate) fn month(self) -> i64 {
        self.0.month().into()
    }

    pub(crate) fn last_of_month(self) -> Self {
        Self(self.0.last_of_month())
    }

    pub(crate) fn days_since_monday(self) -> i64 {
        self.0.weekday().to_monday_zero_offset().into()
    }

    /// The day that is `days` later. `None` outside the years 0 to 9999.
    pub(crate) fn plus_days(self, days: i64) -> Option<Self> {
        let duration = SignedDuration::try_from_hours(days.checked_mul(24)?)?;
        let date = self.0.checked_add(duration).ok()?;
        (date.year() >= 0).then_some(Self(date))
    }

    /// The next day. None after the year 9999.
    pub(crate) fn tomorrow(self) -> Option<Self> {
        self.0.tomorrow().ok().map(Self)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unknown = || de::Error::custom(format_args!("`{text}` is not a date that exists"));
        Self::parse(&text).ok_or_else(unknown)
    }
}

impl JsonSchema for Date {
    fn schema_name() -> Cow<'static, str> {
        "Date".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date" })
    }
}

/// A moment in UTC. `Display` writes milliseconds; `parse` also keeps finer fractions of a second.
///
/// It is a date and a time, because `jiff::Timestamp` ends 26 hours before the year 9999 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(civil::DateTime);

const EPOCH: civil::DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// The first millisecond of the year 0000.
const FIRST: i64 = -62_167_219_200_000;
/// The last millisecond of the year 9999.
const LAST: i64 = 253_402_300_799_999;

impl Timestamp {
    /// Parses an RFC 3339 timestamp with any offset.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(|moment| Self(Offset::UTC.to_datetime(moment)))
    }

    /// The first moment of a day in UTC.
    pub(crate) fn at_midnight(date: Date) -> Self {
        Self(date.0.at(0, 0, 0, 0))
    }

    /// The date in UTC.
    pub(crate) fn utc_date(&self) -> Date {
        Date(self.0.date())
    }

    /// Parses a timestamp that another program stored. It may have any fraction of a second, which is
    /// cut to milliseconds. Without an offset it is in UTC. The name of a zone may follow the offset,
    /// as in `+09:00[Asia/Tokyo]`. `None` before the year 0000, and for the name of a zone without an
    /// offset. A moment after the year 9999 becomes the end of that year.
    pub fn parse_stored(text: &str) -> Option<Self> {
        Self::parse_in(text, |local| local)
    }

    /// Parses a timestamp as [`parse_stored`](Self::parse_stored) does. If the text has no offset,
    /// `instant_of` gets its local time as if it were in UTC, and returns the moment in the caller's
    /// zone.
    pub(crate) fn parse_in(text: &str, instant_of: impl FnOnce(Self) -> Self) -> Option<Self> {
        if let Some(Self(moment)) = Self::parse(text) {
            return Self::in_range(cut(moment));
        }
        let pieces = Pieces::parse(text).ok()?;
        let local = cut(pieces.date().to_datetime(pieces.time()?));
        match pieces.to_numeric_offset() {
            Some(offset) => {
                let offset = SignedDuration::from_secs(offset.seconds().into());
                Self::in_range(local.saturating_sub(offset))
            }
            // The name of a zone does not give the offset: the core has no database of time zones.
            None if pieces.time_zone_annotation().is_some() => None,
            None => Self::in_range(local).map(instant_of),
        }
    }

    /// The moment this many milliseconds after 1970-01-01T00:00:00Z. None outside the years 0000 to
    /// 9999.
    pub fn from_milliseconds(milliseconds: i64) -> Option<Self> {
        let since = SignedDuration::from_millis(milliseconds);
        EPOCH.checked_add(since).ok().and_then(Self::in_range)
    }

    /// The moment this many milliseconds after 1970-01-01T00:00:00Z, or else the nearest moment in the
    /// years 0000 to 9999.
    pub(crate) fn clamped(milliseconds: i64) -> Self {
        let milliseconds = milliseconds.clamp(FIRST, LAST);
        Self(EPOCH.saturating_add(SignedDuration::from_millis(milliseconds)))
    }

    /// The milliseconds since 1970-01-01T00:00:00Z.
    pub fn milliseconds(&self) -> i64 {
        let since = self.0.duration_since(EPOCH);
        since.as_secs() * 1_000 + i64::from(since.subsec_millis())
    }

    fn in_range(moment: civil::DateTime) -> Option<Self> {
        (moment.year() >= 0).then_some(Self(moment))
    }
}

/// Cuts the moment to milliseconds.
fn cut(moment: civil::DateTime) -> civil::DateTime {
    let nanoseconds = moment.subsec_nanosecond();
    let cut = moment.with().subsec_nanosecond(nanoseconds - nanoseconds % 1_000_000);
    cut.build().unwrap_or(moment)
}

/// RFC 3339 in UTC with milliseconds. The texts sort in the order of the moments.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}Z", self.0)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| de::Error::custom(format_args!("`{text}` is not an RFC 3339 timestamp")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_ten_characters_of_a_day_that_exists() {
        for good in ["2025-01-20", "2024-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(Date::parse(good).expect(good).to_string(), good);
        }
        for bad in [
            "",
            "2025-02-29",
            "2025-13-01",
            "2025-1-20",
            "20250120",
            "+025-01-20",
            "2025-01-200",
            "2025/01/20",
            "2025-01-2é",
            "２０２５-01-20",
            " 2025-01-20",
        ] {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_timestamp_of_another_program_is_cut_to_milliseconds_in_utc() {
        for (stored, read) in [
            ("2025-01-20T10:00:00.123456", "2025-01-20T10:00:00.123Z"),
            ("2025-01-20T10:00:00.999999Z", "2025-01-20T10:00:00.999Z"),
            ("2025-01-20T10:00:00", "2025-01-20T10:00:00.000Z"),
            ("2025-01-20 10:00:00", "2025-01-20T10:00:00.000Z"),
            ("2025-01-20T10:00:00+02:00", "2025-01-20T08:00:00.000Z"),
            ("2025-01-20T10:00:00+09:00[Asia/Tokyo]", "2025-01-20T01:00:00.000Z"),
            ("2025-01-20 10:00+09:00[Asia/Tokyo]", "2025-01-20T01:00:00.000Z"),
            ("2025-01-20T10:00:00Z[Asia/Tokyo]", "2025-01-20T10:00:00.000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999Z"),
            ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"),
            ("9999-12-31T23:59:59", "9999-12-31T23:59:59.000Z"),
            ("9999-12-31T23:59:59+05:00", "9999-12-31T18:59:59.000Z"),
            ("9999-12-31T23:59:59-05:00", "9999-12-31T23:59:59.999Z"),
        ] {
            let timestamp = Timestamp::parse_stored(stored).map(|timestamp| timestamp.to_string());
            assert_eq!(timestamp.as_deref(), Some(read), "{stored}");
        }
        for bad in [
            "",
            "2025-01-20",
            "yesterday",
            "-000001-12-31T23:59:59Z",
            "0000-01-01T00:00:00+05:00",
            "2025-02-30T00:00:00",
            "2025-01-20T10:00:00[Asia/Tokyo]",
            "2025-01-20 10:00[Asia/Tokyo]",
            "9999-12-31T24:00:00Z",
        ] {
            assert_eq!(Timestamp::parse_stored(bad), None, "{bad}");
        }
    }

    #[test]
    fn milliseconds_and_timestamps_are_the_same_from_the_year_0_to_the_end_of_9999() {
        for (text, milliseconds) in [
            ("0000-01-01T00:00:00.000Z", -62_167_219_200_000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("1970-01-01T00:00:00.000Z", 0),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] {
            let timestamp = Timestamp::parse_stored(text).expect(text);
            assert_eq!(timestamp.milliseconds(), milliseconds, "{text}");
            assert_eq!(Timestamp::from_milliseconds(milliseconds), Some(timestamp), "{text}");
        }
        for beyond in [-62_167_219_200_001, 253_402_300_800_000, i64::MIN, i64::MAX] {
            assert_eq!(Timestamp::from_milliseconds(beyond), None, "{beyond}");
        }
    }
}
