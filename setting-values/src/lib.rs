//! Parsers for the values of settings that every Rust host has. Beside each parser is a text that
//! describes the values that it accepts. A parser returns `None` for any other value.

mod path;
mod secret;
mod zone;

use agent_memory_storage_files::Durability;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

pub use path::path_mistake;
pub use secret::{hide_urls, is_database_url};
pub use zone::{TIME_ZONE, ZoneOffsets, time_zone};

/// How long a writer waits for the lock of a place, unless a setting says otherwise.
pub const DEFAULT_LOCK_WAIT: Duration = Duration::from_secs(5);

/// The longest wait for the lock of a place.
pub const MAX_LOCK_WAIT: Duration = Duration::from_secs(60 * 60);

/// The values that [`lock_wait`] accepts, in words.
pub const LOCK_WAIT: &str = "a duration such as `5s` or `500ms`, at most `1h`";

/// Parses the time that a writer waits for the lock of a place.
pub fn lock_wait(text: &str) -> Option<Duration> {
    duration(text).filter(|wait| *wait <= MAX_LOCK_WAIT)
}

/// Parses a duration with units, such as `1m 30s`. `None` also if it is negative.
pub fn duration(text: &str) -> Option<Duration> {
    let duration: SignedDuration = text.parse().ok()?;
    Duration::try_from(duration).ok()
}

/// The values that [`utc_offset`] accepts, in words.
pub const UTC_OFFSET: &str = "an offset such as `+02:00` or `-05:30`";

/// Parses an offset from UTC. Returns minutes, positive to the east.
pub fn utc_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':')?;
    let number = |digits: &str, end: i32| -> Option<i32> {
        let plain = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
        plain.then(|| digits.parse().ok())?.filter(|number| *number < end)
    };
    Some(sign * (number(hours, 24)? * 60 + number(minutes, 60)?))
}

/// The values that [`fixed_clock`] accepts, in words.
pub const FIXED_CLOCK: &str =
    "a time in UTC, alone or with a step, such as `2025-01-20T10:00:00Z+1s`";

/// Parses a fixed clock: the time of the first call, and the time between two calls.
pub fn fixed_clock(text: &str) -> Option<(Timestamp, Duration)> {
    let (start, step) = text.split_once('+').unwrap_or((text, "0s"));
    // Only UTC is accepted, since the `+` of an offset would look like that of a step.
    let start = start.ends_with('Z').then(|| start.parse().ok())??;
    Some((start, duration(step)?))
}

/// The values that [`fixed_random`] accepts, in words.
pub const FIXED_RANDOM: &str = "a number from 0 to 2^64-1";

/// Parses the seed of the first call.
pub fn fixed_random(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// The values that [`durability`] accepts, in words.
pub const DURABILITY: &str = "`full` or `relaxed`";

/// Parses the durability of an acknowledged commit.
pub fn durability(text: &str) -> Option<Durability> {
    match text {
        "full" => Some(Durability::Full),
        "relaxed" => Some(Durability::Relaxed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_utc_offset_is_signed_hours_and_minutes() {
        assert_eq!(utc_offset("+02:00"), Some(120));
        assert_eq!(utc_offset("-05:30"), Some(-330));
        for wrong in ["02:00", "+2:00", "+24:00", "+02:60", "+0200", "Z", "", "+é:00", "é02:00"] {
            assert_eq!(utc_offset(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_fixed_clock_is_a_time_in_utc_and_a_step() {
        let start = "2025-01-20T10:00:00Z".parse().expect("a time");
        let fixed = |step| Some((start, step));
        assert_eq!(fixed_clock("2025-01-20T10:00:00Z"), fixed(Duration::ZERO));
        assert_eq!(
            fixed_clock("2025-01-20T10:00:00.000Z+1500ms"),
            fixed(Duration::from_millis(1500))
        );
        for wrong in [
            "2025-01-20T10:00:00",
            "2025-01-20T10:00:00+02:00",
            "2025-02-30T10:00:00Z",
            "2025-01-20T10:00:00Z+",
            "2025-01-20T10:00:00Z+-1s",
            "",
        ] {
            assert_eq!(fixed_clock(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_duration_has_a_unit_and_is_not_negative() {
        assert_eq!(duration("5s"), Some(Duration::from_secs(5)));
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("1m 30s"), Some(Duration::from_secs(90)));
        for wrong in ["5", "-5s", "soon", ""] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_wait_for_the_lock_is_at_most_an_hour() {
        assert_eq!(lock_wait("1h"), Some(Duration::from_secs(3600)));
        for wrong in ["1h 1ms", "9223372036854775807s"] {
            assert_eq!(lock_wait(wrong), None, "{wrong}");
        }
    }
}
