//! The time zone of calls.

use crate::capability::toolbox::{Zone, ZoneChange};
use agent_memory_setting_values::ZoneOffsets;
use jiff::tz::TimeZone;
use std::sync::{Arc, Mutex, PoisonError};

/// The time zone of calls, as the component gets it.
pub(crate) struct CallZone {
    /// The zone of the settings. `None`: the machine's zone at the time of each call.
    given: Option<TimeZone>,
    /// The zone of the last call with its offsets, which are computed only when the zone changes.
    last: Mutex<Option<(TimeZone, Arc<Zone>)>>,
}

impl CallZone {
    pub(crate) fn new(given: Option<TimeZone>) -> CallZone {
        CallZone { given, last: Mutex::new(None) }
    }

    /// The zone of a call that arrives now.
    pub(crate) fn now(&self) -> Arc<Zone> {
        let zone = self.given.clone().unwrap_or_else(TimeZone::system);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, offsets)) = &*last
            && *known == zone
        {
            return offsets.clone();
        }
        let offsets = Arc::new(offsets(&zone));
        *last = Some((zone, offsets.clone()));
        offsets
    }
}

fn offsets(zone: &TimeZone) -> Zone {
    let ZoneOffsets { first, changes } = ZoneOffsets::from(zone);
    let change = |(at, offset_minutes)| ZoneChange { at, offset_minutes };
    Zone { offset_minutes: first, changes: changes.into_iter().map(change).collect() }
}
