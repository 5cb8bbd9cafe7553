//! The values of settings, each with a description of what it accepts.

pub(super) use agent_memory_setting_values::{
    DURABILITY, FIXED_CLOCK, FIXED_RANDOM, LOCK_WAIT, TIME_ZONE, UTC_OFFSET, durability, lock_wait,
    time_zone, utc_offset,
};

use crate::model::MAX_TIMEOUT as MAX_MODEL_TIMEOUT;
use crate::{Clock, Random};
use agent_memory_setting_values as shared;
use std::net::SocketAddr;
use std::time::Duration;
use tracing::level_filters::LevelFilter;

pub(super) const MODEL_TIMEOUT: &str = "a duration such as `10s`, more than nothing, at most `30s`";

pub(super) fn model_timeout(text: &str) -> Option<Duration> {
    shared::duration(text).filter(|timeout| !timeout.is_zero() && *timeout <= MAX_MODEL_TIMEOUT)
}

pub(super) fn fixed_clock(text: &str) -> Option<Clock> {
    shared::fixed_clock(text).map(|(start, step)| Clock::Fixed { start, step })
}

pub(super) fn fixed_random(text: &str) -> Option<Random> {
    shared::fixed_random(text).map(Random::Fixed)
}

pub(super) const NAME: &str = "a name: 1 to 64 letters from A to Z, digits, `.`, `_` and `-`, the first a \
    letter or digit";

/// The name of an agent or a store, without the spaces around it. The component checks the rest of the
/// rule.
pub(super) fn name(text: &str) -> Option<String> {
    let name = text.trim();
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let begins = name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    (begins && name.len() <= 64 && name.bytes().all(is_inner)).then(|| name.to_owned())
}

/// The name of an agent in an option that the component does not check.
pub(super) fn agent(text: &str) -> Result<String, String> {
    name(text).ok_or_else(|| format!("it takes {NAME}"))
}

/// An address with a port. `localhost` is read as `127.0.0.1`.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = local.as_deref().unwrap_or(text).parse();
    address.map_err(|_| "it takes an address and a port, such as `127.0.0.1:8080`".to_owned())
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
    fn an_address_is_one_with_a_port_or_that_of_this_machine() {
        let local = address("127.0.0.1:8080");
        assert_eq!(local, Ok("127.0.0.1:8080".parse().expect("an address")));
        assert_eq!(address("localhost:8080"), local);
        for wrong in ["8080", ":8080", "127.0.0.1", "http://127.0.0.1:8080", "localhost:"] {
            assert!(address(wrong).is_err_and(|told| told.contains("127.0.0.1:8080")), "{wrong}");
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
    fn a_name_has_letters_of_ascii_digits_and_three_signs() {
        assert_eq!(name(" ada "), Some("ada".to_owned()));
        assert_eq!(name("1.a_b-C"), Some("1.a_b-C".to_owned()));
        for wrong in ["", "-a", ".a", "a b", "a/b", "\u{e4}", &"x".repeat(65)] {
            assert_eq!(name(wrong), None, "{wrong}");
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
