//! The facts of a document that a search needs beside its words.

use super::codes::{Codes, put_signed};
use crate::time::{Date, Timestamp};

const DAY: i64 = 86_400_000;

/// Facts of a document that hold for each of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub written: Option<Written>,
    /// When the document was last changed, if that is later than `written`.
    pub updated_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// 1 for high, 0 for medium, -1 for low.
    pub importance: i8,
    pub is_archived: bool,
    /// The number of the document's group in its collection, such as its type. All documents of a run
    /// of related documents have the same group.
    pub group: u8,
}

/// When something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    At(Timestamp),
    /// Only the day is known.
    On(Date),
}

const AT: u8 = 1;
const ON: u8 = 2;
const EXPIRES: u8 = 4;
const ARCHIVED: u8 = 8;
const HIGH: u8 = 16;
const LOW: u8 = 32;
const GROUPED: u8 = 64;
const UPDATED: u8 = 128;

impl Facts {
    /// Appends the encoded facts. `last` is the time of an earlier document: only the difference to it
    /// is stored, because small numbers take fewer bytes.
    pub(super) fn put(&self, bytes: &mut Vec<u8>, last: &mut i64) {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let written = match self.written {
            Some(Written::At(_)) => AT,
            Some(Written::On(_)) => ON,
            None => 0,
        };
        bytes.push(
            written
                | flag(self.expires_at.is_some(), EXPIRES)
                | flag(self.is_archived, ARCHIVED)
                | flag(self.importance > 0, HIGH)
                | flag(self.importance < 0, LOW)
                | flag(self.group > 0, GROUPED)
                | flag(self.updated_at.is_some(), UPDATED),
        );
        if self.group > 0 {
            bytes.push(self.group);
        }
        match self.written {
            Some(Written::At(moment)) => {
                put_signed(bytes, moment.milliseconds().wrapping_sub(*last));
                *last = moment.milliseconds();
            }
            Some(Written::On(day)) => {
                put_signed(bytes, Timestamp::at_midnight(day).milliseconds() / DAY);
            }
            None => {}
        }
        if let Some(moment) = self.updated_at {
            put_signed(bytes, moment.milliseconds().wrapping_sub(*last));
        }
        if let Some(moment) = self.expires_at {
            put_signed(bytes, moment.milliseconds());
        }
    }

    pub(super) fn read(codes: &mut Codes<'_>, last: &mut i64) -> Option<Self> {
        let flags = codes.byte()?;
        let has = |flag: u8| flags & flag != 0;
        let group = if has(GROUPED) { codes.byte()? } else { 0 };
        let written = match (has(AT), has(ON)) {
            (true, false) => {
                *last = last.wrapping_add(codes.signed()?);
                Some(Written::At(Timestamp::from_milliseconds(*last)?))
            }
            (false, true) => {
                let midnight = codes.signed()?.checked_mul(DAY)?;
                Some(Written::On(Timestamp::from_milliseconds(midnight)?.utc_date()))
            }
            (false, false) => None,
            (true, true) => return None,
        };
        let updated_at = if has(UPDATED) {
            Some(Timestamp::from_milliseconds(last.wrapping_add(codes.signed()?))?)
        } else {
            None
        };
        let expires_at =
            if has(EXPIRES) { Some(Timestamp::from_milliseconds(codes.signed()?)?) } else { None };
        let importance = i8::from(has(HIGH)) - i8::from(has(LOW));
        let is_archived = has(ARCHIVED);
        Some(Self { written, updated_at, expires_at, importance, is_archived, group })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_as_they_were_written() {
        let moment = |text: &str| Timestamp::parse(text).expect("a timestamp");
        let at = |text: &str| Some(Written::At(moment(text)));
        let facts = [
            Facts::default(),
            Facts {
                written: at("2026-11-26T10:00:00.123Z"),
                updated_at: Some(moment("2026-11-27T10:00:00.000Z")),
                importance: 1,
                ..Facts::default()
            },
            Facts {
                written: at("1950-01-01T00:00:00.000Z"),
                is_archived: true,
                ..Facts::default()
            },
            Facts {
                written: Date::parse("1969-12-31").map(Written::On),
                updated_at: Some(moment("2026-11-26T10:00:00.000Z")),
                expires_at: Some(moment("2999-12-31T23:59:59.999Z")),
                importance: -1,
                is_archived: false,
                group: 2,
            },
        ];
        let mut bytes = Vec::new();
        let mut last = 0;
        facts.iter().for_each(|facts| facts.put(&mut bytes, &mut last));
        let mut codes = Codes(&bytes);
        let mut last = 0;
        for facts in facts {
            assert_eq!(Facts::read(&mut codes, &mut last), Some(facts));
        }
        assert!(codes.is_empty());
        assert_eq!(Facts::read(&mut Codes(&[AT | ON, 0]), &mut 0), None);
    }
}
