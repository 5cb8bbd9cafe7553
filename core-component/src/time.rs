//! Dates and timestamps: parsed strictly, with one spelling each.

use std::borrow::Cow;
use std::fmt;

use jiff::civil;
use jiff::tz::Offset;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// A day of the Gregorian calendar, spelled `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(civil::Date);

impl Date {
    /// Reads `YYYY-MM-DD`; none where the spelling is another or the day does not exist.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |range: std::ops::Range<usize>| {
            let digits = text.get(range)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
        civil::Date::new(year, month as i8, day as i8).ok().map(Self)
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

/// A moment in UTC, with milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// Reads RFC 3339 with any offset.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    /// The date in a zone that is so many minutes east of UTC; an offset of a day or more counts
    /// as none.
    pub fn date_at(&self, offset_minutes: i32) -> Date {
        let offset = Offset::from_seconds(offset_minutes.saturating_mul(60)).unwrap_or(Offset::UTC);
        Date(offset.to_datetime(self.0).date())
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
    fn the_local_date_follows_the_offset() {
        let late = Timestamp::parse("2025-01-20T23:30:00.000Z").expect("a timestamp");
        assert_eq!(late.date_at(0).to_string(), "2025-01-20");
        assert_eq!(late.date_at(60).to_string(), "2025-01-21");
        assert_eq!(late.date_at(-24 * 60).to_string(), "2025-01-19");
    }
}
