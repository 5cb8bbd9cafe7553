//! Statistics about an agent's memories.

use std::collections::{BTreeMap, BTreeSet};

use super::memory::{Importance, Kind, Memory};
use crate::time::Timestamp;

/// Statistics of one agent. Only `archived` and `bytes` include archived memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stats {
    pub by_kind: BTreeMap<Kind, u64>,
    pub by_importance: BTreeMap<Importance, u64>,
    pub archived: u64,
    /// The size of all memories as compact JSON.
    pub bytes: u64,
    /// When the oldest memory was created.
    pub oldest: Option<Timestamp>,
    /// When the newest memory was created.
    pub newest: Option<Timestamp>,
    /// The memory with the highest access count. Of several, the one with the latest access, then
    /// with the lowest id.
    pub most_accessed: Option<Memory>,
    /// The most frequent tags with their counts, at most [`TOP_TAGS`]. Tags with equal counts are
    /// in alphabetical order.
    pub top_tags: Vec<(String, u64)>,
}

pub(super) const TOP_TAGS: usize = 10;

impl Stats {
    pub fn from_memories(memories: &[Memory]) -> Self {
        let mut stats = Self::default();
        let mut tags: BTreeMap<&str, u64> = BTreeMap::new();
        for memory in memories {
            stats.bytes += memory.bytes();
            if memory.archived {
                stats.archived += 1;
                continue;
            }
            *stats.by_kind.entry(memory.kind).or_default() += 1;
            *stats.by_importance.entry(memory.importance).or_default() += 1;
            let created_at = Some(memory.created_at);
            stats.oldest = stats.oldest.or(created_at).min(created_at);
            stats.newest = stats.newest.max(created_at);
            // Another program may have written a tag twice.
            for tag in memory.tags.iter().collect::<BTreeSet<_>>() {
                *tags.entry(tag).or_default() += 1;
            }
        }
        let unarchived = memories.iter().filter(|memory| !memory.archived);
        let rank = |memory: &&Memory| {
            (memory.access_count, memory.accessed_at, std::cmp::Reverse(memory.id.clone()))
        };
        stats.most_accessed = unarchived.max_by_key(rank).cloned();
        let mut tags: Vec<_> =
            tags.into_iter().map(|(tag, count)| (tag.to_owned(), count)).collect();
        // The sort is stable, so tags with equal counts stay in alphabetical order.
        tags.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        tags.truncate(TOP_TAGS);
        stats.top_tags = tags;
        stats
    }
}
