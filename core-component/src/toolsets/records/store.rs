//! The traits that both formats implement for the memories of one agent. Most tools use nothing else
//! of a format.

use std::collections::BTreeSet;

use super::entries::Search;
use super::error::Error;
use super::memory::{Kind, Memory};
use super::query::{Page, Query};
use super::stats::Stats;
use crate::index::Index;
use crate::source::{Collector, ReadDocuments};
use crate::time::Timestamp;

/// A memory that is imported or converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Imported {
    pub memory: Memory,
    /// The text of its record, if the record holds more than the memory.
    pub original: Option<String>,
}

/// Memories with any term of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WithAnyTerm {
    pub count: u32,
    /// If some memories were not looked at, the number of those that were, the newest.
    pub of_newest: Option<u64>,
}

/// A memory's place among the newest, for a look at them without an index.
pub(super) struct Newest<K> {
    pub keys: Vec<K>,
    pub is_all: bool,
}

impl<K> Newest<K> {
    /// The newest memories that have at most 2 MiB together. `memories` come newest first, each with
    /// its bytes.
    pub fn from_memories(memories: impl Iterator<Item = (K, u64)>) -> Self {
        let mut keys = Vec::new();
        let mut room = 2_u64 << 20;
        for (key, bytes) in memories {
            let Some(left) = room.checked_sub(bytes) else { return Self { keys, is_all: false } };
            room = left;
            keys.push(key);
        }
        Self { keys, is_all: true }
    }

    /// The number of memories to tell, if they are not all.
    pub fn number(&self) -> Option<u64> {
        (!self.is_all).then_some(self.keys.len() as u64)
    }
}

/// A consistent view of an agent's memories.
pub(super) trait Reader {
    /// The memory with this id.
    fn find(&self, id: &str) -> Result<Option<Memory>, Error>;

    /// One page of the memories that match.
    fn query(&self, query: &Query) -> Result<Page, Error>;

    /// Counts the memories that have one of the terms of a query, up to the limit of the query.
    /// Of its filters, only that of archived memories counts.
    fn count_with_any_term(&self, query: &Query) -> Result<WithAnyTerm, Error>;

    fn stats(&self) -> Result<Stats, Error>;

    /// Whether a memory has this id, even if its record is damaged.
    fn has_id(&self, id: &str) -> Result<bool, Error>;

    /// A warning about the records that cannot be read, if there are any. All other methods that
    /// return several memories leave them out.
    fn unreadable(&self) -> Option<String> {
        None
    }

    /// Those of these ids that memories have.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if the record of one of these ids is damaged: it has to be repaired first.
    fn existing_ids(&self, ids: &[&str]) -> Result<BTreeSet<String>, Error> {
        let mut existing = BTreeSet::new();
        for id in ids {
            if self.find(id)?.is_some() {
                existing.insert((*id).to_owned());
            }
        }
        Ok(existing)
    }

    /// At most `limit` unarchived memories that were last accessed and changed before `since`.
    fn unused(
        &self,
        since: Timestamp,
        kind: Option<Kind>,
        limit: u32,
    ) -> Result<Vec<Memory>, Error>;
}

/// A view that a search reads, too.
pub(super) trait View: Reader {
    /// Adds the memories to those of the last owner of a search.
    fn add_to(
        &self,
        search: &Search<'_>,
        index: &mut Index<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), Error>;

    /// Reads hits by their keys in the index, in the order of the keys.
    fn read_rows(&self, search: &Search<'_>, keys: &[i64]) -> Result<ReadDocuments, Error>;
}

/// A change that is being made under the lock. Others see all of it or nothing. The fields that
/// other programs added to a record are kept.
pub(super) trait Writer: Reader {
    /// Adds a memory after all others of its type.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED`.
    fn insert(&mut self, memory: &Memory) -> Result<(), Error>;

    /// Adds imported memories, each after all others of its type.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED`.
    fn insert_all(&mut self, records: &[&Imported]) -> Result<(), Error>;

    /// Changes the fields in which `after` differs from `before`. This writer has read `before`. If
    /// the type changes, the memory moves to the end of its new type.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED` if the agent would exceed its limits; errors of storage.
    fn update(&mut self, before: &Memory, after: &Memory) -> Result<(), Error>;

    /// Removes a memory that was read in this change.
    fn remove(&mut self, memory: &Memory) -> Result<(), Error>;

    /// Whether a removed memory stays in the backup until the next change.
    fn keeps_backup(&self) -> bool;
}

/// Why a change is made. In JSON, it decides whether the file is backed up, and whether its
/// `updated_at` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The caller asked for it: the file before the change becomes the backup.
    Change,
    /// A further page of a change: the backup was made with the first page.
    Continuation,
    /// It records an access: the backup stays as it is.
    Access,
}
