//! What both formats can do with the memories of one agent. The tools know nothing else of them.

use std::collections::BTreeSet;

use super::error::Error;
use super::memory::{Kind, Memory};
use super::query::{Page, Query};
use super::stats::Stats;
use crate::time::Timestamp;

/// A memory that comes from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Imported {
    pub memory: Memory,
    /// Its record, where the memory does not say all of it.
    pub original: Option<String>,
}

/// One view of an agent's memories.
pub(super) trait Reader {
    /// The memory with that id.
    fn find(&self, id: &str) -> Result<Option<Memory>, Error>;

    /// One page of those that match.
    fn query(&self, query: &Query) -> Result<Page, Error>;

    fn stats(&self) -> Result<Stats, Error>;

    /// Whether a memory has that id, be it damaged or not.
    fn has(&self, id: &str) -> Result<bool, Error>;

    /// Which of these ids memories have.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` where a file has one of them, damaged: who has a record of that id may want
    /// to mend it.
    fn known(&self, ids: &[&str]) -> Result<BTreeSet<String>, Error> {
        let mut known = BTreeSet::new();
        for id in ids {
            if self.find(id)?.is_some() {
                known.insert((*id).to_owned());
            }
        }
        Ok(known)
    }

    /// Unarchived memories that nobody has accessed or changed since a moment, at most so many.
    fn unused(&self, since: Timestamp, kind: Option<Kind>, most: u32)
    -> Result<Vec<Memory>, Error>;
}

/// A change that is being made under the lock: others see all of it or nothing. What a record holds
/// beyond a [`Memory`] stays in it.
pub(super) trait Writer: Reader {
    /// Adds a memory after all others.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED`.
    fn insert(&mut self, memory: &Memory) -> Result<(), Error>;

    /// Adds memories from elsewhere after all others.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED`.
    fn insert_all(&mut self, records: &[&Imported]) -> Result<(), Error>;

    /// Changes the fields in which `after` differs from `before`, which was read in this change. A
    /// memory of another type moves to the end of those.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED`.
    fn update(&mut self, before: &Memory, after: &Memory) -> Result<(), Error>;

    /// Removes a memory that was read in this change.
    fn remove(&mut self, memory: &Memory) -> Result<(), Error>;

    /// Whether what is removed stays in a backup for a while.
    fn keeps_backup(&self) -> bool;
}
