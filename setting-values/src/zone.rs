//! Time zones and their offsets from UTC.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// The values that [`time_zone`] accepts, in words.
pub const TIME_ZONE: &str = "the name of a time zone such as `America/New_York`";

/// A time zone of the IANA database, by its name.
pub fn time_zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

/// The offsets of a time zone in the years 1970 to 2099, in minutes, positive to the east.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneOffsets {
    /// The offset at the beginning of 1970.
    pub first: i32,
    /// The changes of the offset, in order: the moment of the change, in milliseconds since
    /// 1970-01-01T00:00:00Z, and the offset from then on.
    pub changes: Vec<(i64, i32)>,
}

/// 2100-01-01T00:00:00Z, in milliseconds.
const END: i64 = 4_102_444_800_000;

impl From<&TimeZone> for ZoneOffsets {
    fn from(zone: &TimeZone) -> ZoneOffsets {
        let minutes = |offset: Offset| offset.seconds() / 60;
        let first = minutes(zone.to_offset(Timestamp::UNIX_EPOCH));
        let mut last = first;
        let following = zone.following(Timestamp::UNIX_EPOCH);
        let all = following.map(|change| (change.timestamp().as_millisecond(), change.offset()));
        let mut changes = Vec::new();
        for (at, offset) in all.take_while(|(at, _)| *at < END) {
            // Some transitions change only the abbreviation of the zone.
            if minutes(offset) != last {
                last = minutes(offset);
                changes.push((at, last));
            }
        }
        ZoneOffsets { first, changes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_with_daylight_saving_time_changes_twice_a_year_until_2099() {
        let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").expect("a zone");
        let ZoneOffsets { first, changes } = ZoneOffsets::from(&zone);
        assert_eq!((first, changes.len()), (-300, 260));
        let of_2026 = [(1_772_953_200_000, -240), (1_793_512_800_000, -300)];
        assert_eq!(changes[112..114], of_2026);
        assert_eq!(changes.last(), Some(&(4_097_196_000_000, -300)));
    }

    #[test]
    fn a_fixed_offset_never_changes() {
        let zone = TimeZone::fixed(jiff::tz::offset(-5));
        assert_eq!(ZoneOffsets::from(&zone), ZoneOffsets { first: -300, changes: Vec::new() });
    }
}
