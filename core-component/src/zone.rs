//! The caller's time zone. Converts days and local times of arguments to moments.

use serde::Deserialize;

use crate::time::{Date, Timestamp};

/// Every offset is smaller than this, in milliseconds.
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
    /// The changes in the order of their moments. The offset of the last change holds for ever.
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

impl Zone {
    /// The date of a moment.
    pub fn date_at(&self, moment: Timestamp) -> Date {
        let milliseconds = moment.milliseconds();
        let changes = self.changes.partition_point(|change| change.at <= milliseconds);
        let local = milliseconds.saturating_add(self.offset_after(changes));
        Timestamp::clamped(local).utc_date()
    }

    /// The first moment of a day. If clocks skip midnight, it is later than midnight. If they skip the
    /// whole day, it is the first moment of the next day.
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
    /// the first moment. If they skip it, it is the moment by the offset before the change, which is
    /// after the change.
    pub(crate) fn instant_of(&self, local: Timestamp) -> Timestamp {
        match self.moment_of(local) {
            Local::At(moment) => moment,
            Local::Skipped { moment, .. } => Timestamp::clamped(moment),
        }
    }

    /// Looks for a local time, which is given as if it were in UTC.
    fn moment_of(&self, local: Timestamp) -> Local {
        let local = local.milliseconds();
        // All changes before this index are earlier than the local time, whatever their offsets are.
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

    /// The offset after the first `changes` changes, in milliseconds. An offset of 26 hours or more
    /// counts as UTC.
    fn offset_after(&self, changes: usize) -> i64 {
        let last = changes.checked_sub(1).map(|last| self.changes[last].offset_minutes);
        let offset = i64::from(last.unwrap_or(self.offset_minutes)) * MINUTE;
        if offset.abs() < MAX_OFFSET { offset } else { 0 }
    }
}

/// The moment of a local time in a zone.
enum Local {
    At(Timestamp),
    /// Clocks skip the local time. `moment` is the local time by the offset before the change, and
    /// `change` the moment of the change, in milliseconds.
    Skipped {
        moment: i64,
        change: i64,
    },
}
