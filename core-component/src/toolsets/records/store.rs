//! The traits that both formats implement for the memories of one agent. Most tools use only these
//! traits.

use std::collections::BTreeSet;

use super::entries::Search;
use super::error::Error;
use super::memory::{Kind, Memory};
use super::query::{Page, Query};
use super::stats::Stats;
use crate::index::RowIndex;
use crate::source::{Collector, ReadDocuments};
use crate::time::Timestamp;

/// A memory that is imported or converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Imported {
    pub memory: Memory,
    /// The text of the memory's record, if the record holds more than the memory.
    pub original: Option<String>,
}

/// The number of memories that have any term of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WithAnyTerm {
    pub count: u32,
    /// The number of memories that were looked at, if these were only the newest. `None` if all
    /// memories were looked at.
    pub of_newest: Option<u64>,
}

/// The keys of an agent's newest memories, for a query that looks through them without an index.
pub(super) struct Newest<K> {
    pub keys: Vec<K>,
    pub is_all: bool,
}

impl<K> Newest<K> {
    /// Takes the newest memories that have at most 2 MiB together. `memories` come newest first,
    /// each with its size in bytes.
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

    /// The number of keys. `None` if they are the keys of all memories.
    pub fn number(&self) -> Option<u64> {
        (!self.is_all).then_some(self.keys.len() as u64)
    }
}

/// A consistent view of an agent's memories.
pub(super) trait Reader {
    /// Returns the memory with this id, or `None` if no memory has the id.
    fn find(&self, id: &str) -> Result<Option<Memory>, Error>;

    /// Returns one page of the memories that match the query.
    fn query(&self, query: &Query) -> Result<Page, Error>;

    /// Counts the memories that have at least one of the query's terms, up to the query's limit. Of
    /// the query's filters, only `archived` applies.
    fn count_with_any_term(&self, query: &Query) -> Result<WithAnyTerm, Error>;

    fn stats(&self) -> Result<Stats, Error>;

    /// Whether a record has this id, even if the record is damaged.
    fn has_id(&self, id: &str) -> Result<bool, Error>;

    /// The warning about the records that cannot be read, or `None` if all can be read. The methods
    /// that return several memories leave these records out.
    fn unreadable(&self) -> Option<String> {
        None
    }

    /// Returns the `ids` that memories of the agent have.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` if a JSON record with one of these ids is damaged: it has to be repaired
    /// first.
    fn existing_ids(&self, ids: &[&str]) -> Result<BTreeSet<String>, Error> {
        let mut existing = BTreeSet::new();
        for id in ids {
            if self.find(id)?.is_some() {
                existing.insert((*id).to_owned());
            }
        }
        Ok(existing)
    }

    /// At most `limit` unarchived memories of this type, or of any type, whose last access and last
    /// change were before `since`.
    fn unused(
        &self,
        since: Timestamp,
        kind: Option<Kind>,
        limit: u32,
    ) -> Result<Vec<Memory>, Error>;
}

/// A reader that a search can use, too.
pub(super) trait View: Reader {
    /// Adds the memories as entries of the owner that was last passed to `collector.begin`.
    fn add_to(
        &self,
        search: &Search<'_>,
        index: &mut RowIndex<'_>,
        collector: &mut Collector<'_>,
    ) -> Result<(), Error>;

    /// Reads the memories with these keys of the index, in the order of the keys. `None` for a
    /// memory that is missing or cannot be read.
    fn read_rows(&self, search: &Search<'_>, keys: &[i64]) -> Result<ReadDocuments, Error>;
}

/// The changes of one call, made under the lock. Other calls see all of them or none. Fields that
/// other programs added to a record are kept.
pub(super) trait Writer: Reader {
    /// Adds a memory after all others of its type.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED` if the agent would exceed its limits.
    fn insert(&mut self, memory: &Memory) -> Result<(), Error>;

    /// Adds imported memories, each after all others of its type.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED` if the agent would exceed its limits.
    fn insert_all(&mut self, records: &[&Imported]) -> Result<(), Error>;

    /// Changes the fields in which `after` differs from `before`. `before` has to be read from this
    /// writer. If the type changes, the memory moves to the end of the new type.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED` if the agent would exceed its limits; errors of storage.
    fn update(&mut self, before: &Memory, after: &Memory) -> Result<(), Error>;

    /// Removes a memory that was read from this writer.
    fn remove(&mut self, memory: &Memory) -> Result<(), Error>;

    /// Whether the format has a backup, in which a removed memory stays until the next change.
    fn keeps_backup(&self) -> bool;
}

/// Why a change is made. In JSON, the purpose decides whether the file is backed up, and whether
/// the `updated_at` of the file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The caller asked for the change: the file before the change becomes the backup.
    Change,
    /// The change is a later page of a change. Its first page has made the backup.
    Continuation,
    /// The change records an access: backup and `updated_at` of the file stay as they are.
    Access,
}
