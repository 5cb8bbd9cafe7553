//! Parsers for the values of settings, each with a description of what it accepts.

use crate::model::MAX_TIMEOUT as MAX_MODEL_TIMEOUT;
use crate::storage::MAX_LOCK_WAIT;
use crate::{Clock, Durability, Random};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use tracing::level_filters::LevelFilter;

pub(super) const LOCK_WAIT: &str = "a duration such as `5s` or `500ms`, at most `1h`";

pub(super) fn lock_wait(text: &str) -> Option<Duration> {
    duration(text).filter(|wait| *wait <= MAX_LOCK_WAIT)
}

pub(super) const MODEL_TIMEOUT: &str = "a duration such as `10s`, more than nothing, at most `30s`";

pub(super) fn model_timeout(text: &str) -> Option<Duration> {
    duration(text).filter(|timeout| !timeout.is_zero() && *timeout <= MAX_MODEL_TIMEOUT)
}

fn duration(text: &str) -> Option<Duration> {
    let duration: SignedDuration = text.parse().ok()?;
    Duration::try_from(duration).ok()
}

pub(super) const UTC_OFFSET: &str = "an offset such as `+02:00` or `-05:30`";

/// Minutes east of UTC.
pub(super) fn utc_offset(text: &str) -> Option<i32> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text[1..].split_once(':')?;
    let two_digits = |digits: &str| -> Option<i32> {
        let plain = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
        plain.then(|| digits.parse().ok())?
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

pub(super) const FIXED_CLOCK: &str =
    "a time in UTC, alone or with a step, such as `2025-01-20T10:00:00Z+1s`";

pub(super) fn fixed_clock(text: &str) -> Option<Clock> {
    let (start, step) = text.split_once('+').unwrap_or((text, "0s"));
    // Only UTC is accepted, since the `+` of an offset would look like that of a step.
    let start: Timestamp = start.ends_with('Z').then(|| start.parse().ok())??;
    let step = duration(step)?;
    Some(Clock::Fixed { start, step })
}

pub(super) const FIXED_RANDOM: &str = "a number from 0 to 2^64-1";

pub(super) fn fixed_random(text: &str) -> Option<Random> {
    text.parse().ok().map(Random::Fixed)
}

pub(super) const DURABILITY: &str = "`full` or `relaxed`";

pub(super) fn durability(text: &str) -> Option<Durability> {
    match text {
        "full" => Some(Durability::Full),
        "relaxed" => Some(Durability::Relaxed),
        _ => None,
    }
}

pub(super) const LOG_LEVEL: &str = "DEBUG, INFO, WARNING, ERROR or CRITICAL";

pub(super) fn log_level(text: &str) -> Option<LevelFilter> {
    Some(match text.to_ascii_uppercase().as_str() {
        "DEBUG" => LevelFilter::DEBUG,
        "INFO" => LevelFilter::INFO,
        "WARNING" | "WARN" => LevelFilter::WARN,
        // This program logs nothing above ERROR.
        "ERROR" | "CRITICAL" => LevelFilter::ERROR,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_utc_offset_is_signed_hours_and_minutes() {
        assert_eq!(utc_offset("+02:00"), Some(120));
        assert_eq!(utc_offset("-05:30"), Some(-330));
        for wrong in ["02:00", "+2:00", "+24:00", "+02:60", "+0200", "Z", "", "+é:00"] {
            assert_eq!(utc_offset(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_fixed_clock_is_a_time_in_utc_and_a_step() {
        let start = "2025-01-20T10:00:00Z".parse().expect("a time");
        let fixed = |step| Some(Clock::Fixed { start, step });
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

    #[test]
    fn a_timeout_of_models_is_at_most_30_s_and_not_nothing() {
        assert_eq!(model_timeout("30s"), Some(MAX_MODEL_TIMEOUT));
        for wrong in ["0s", "30s 1ms", "1m"] {
            assert_eq!(model_timeout(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_log_level_is_written_in_any_case() {
        assert_eq!(log_level("debug"), Some(LevelFilter::DEBUG));
        assert_eq!(log_level("Warning"), Some(LevelFilter::WARN));
        assert_eq!(log_level("CRITICAL"), Some(LevelFilter::ERROR));
        assert_eq!(log_level("loud"), None);
    }
}
