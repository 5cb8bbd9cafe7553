//! Whether a stamp shows every later change of its file.

use crate::time::Timestamp;

/// The coarsest clock of a file system, that of FAT, in milliseconds. A file that changes twice within
/// this time may keep its stamp.
const GRAIN: i64 = 2_000;

/// Whether every change of the file after `now` gives the file another stamp. `now` is a moment before
/// the stamp was taken.
///
/// On a file system, a stamp is `<size>-<modified>-<changed>-<inode>`. Two changes within the grain of
/// the clock can have the same times. On other media a stamp has no `-`. It is a version of the bytes,
/// so each change gives another one.
pub(super) fn is_settled(stamp: &str, now: Timestamp) -> bool {
    if !stamp.contains('-') {
        return !stamp.is_empty();
    }
    let numbers: Option<Vec<u128>> = stamp.split('-').map(|part| part.parse().ok()).collect();
    let Some([_, modified, changed, _]) = numbers.as_deref() else { return false };
    let Ok(now) = u128::try_from(now.milliseconds().saturating_sub(GRAIN)) else { return false };
    (*modified).max(*changed) <= now * 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_settled_once_the_clock_has_gone_on() {
        let now = Timestamp::parse("2026-01-01T00:00:00.000Z").expect("a timestamp");
        let at = |milliseconds: i64| i128::from(now.milliseconds() + milliseconds) * 1_000_000;
        let stamp = |modified, changed| format!("5-{}-{}-77", at(modified), at(changed));
        for (modified, changed, expected) in [
            (-2_000, -2_000, true),
            (-90_000, -2_001, true),
            (-90_000, -1_999, false),
            (-1_999, -90_000, false),
            (0, 0, false),
            // The clock was set back.
            (60_000, 60_000, false),
        ] {
            let stamp = stamp(modified, changed);
            assert_eq!(is_settled(&stamp, now), expected, "{modified} {changed}");
        }
    }

    #[test]
    fn a_version_is_settled_and_no_unknown_stamp_is() {
        let now = Timestamp::parse("2026-01-01T00:00:00.000Z").expect("a timestamp");
        assert!(is_settled("9f86d081884c7d65", now));
        for unknown in ["", "5", "-", "5-1-1", "5-1-1-1-1", "5--1-1-77", "a-b-c-d"] {
            assert_eq!(is_settled(unknown, now), unknown == "5", "{unknown}");
        }
    }
}
