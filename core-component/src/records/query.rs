//! What `query_memories` asks for, and what it gets.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Deserialize;

use super::memory::{Importance, Kind, Memory};
use crate::words::fold;

/// Which memories, in which order. All filters combine with AND.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub kind: Option<Kind>,
    /// All must be there, exactly.
    pub tags: Vec<String>,
    /// Terms, folded by [`fold`](crate::words::fold): each must occur in content, category or a tag.
    pub terms: Vec<String>,
    pub importance: Option<Importance>,
    /// Exactly.
    pub category: Option<String>,
    /// Whether archived ones are included.
    pub archived: bool,
    pub limit: u32,
    pub offset: u64,
    pub sort: Sort,
    pub descending: bool,
    /// Whether somebody asks how many match on all pages, which takes as long as there are many.
    pub is_counted: bool,
}

impl Query {
    /// The unarchived memories that were accessed most recently.
    pub fn recent(limit: u32) -> Self {
        Self {
            kind: None,
            tags: Vec::new(),
            terms: Vec::new(),
            importance: None,
            category: None,
            archived: false,
            limit,
            offset: 0,
            sort: Sort::AccessedAt,
            descending: true,
            is_counted: false,
        }
    }
}

impl Query {
    /// The page of these memories.
    pub fn page(&self, memories: Vec<Memory>) -> Page {
        let mut memories: Vec<Memory> =
            memories.into_iter().filter(|memory| self.matches(memory)).collect();
        memories.sort_by(|a, b| self.order(a, b));
        let total = memories.len() as u64;
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let memories = memories.into_iter().skip(offset).take(self.limit as usize).collect();
        Page { memories, total }
    }

    fn matches(&self, memory: &Memory) -> bool {
        (self.archived || !memory.archived)
            && self.kind.is_none_or(|kind| memory.kind == kind)
            && self.importance.is_none_or(|importance| memory.importance == importance)
            && (self.category.is_none() || memory.category == self.category)
            && self.tags.iter().all(|tag| memory.tags.contains(tag))
            && self.finds(memory)
    }

    fn finds(&self, memory: &Memory) -> bool {
        if self.terms.is_empty() {
            return true;
        }
        let parts: Vec<String> = memory.searched().map(fold).collect();
        self.terms.iter().all(|term| parts.iter().any(|part| part.contains(term.as_str())))
    }

    fn order(&self, a: &Memory, b: &Memory) -> Ordering {
        let order = match self.sort {
            Sort::CreatedAt => a.created_at.cmp(&b.created_at),
            Sort::UpdatedAt => a.updated_at.cmp(&b.updated_at),
            Sort::AccessedAt => a.accessed_at.cmp(&b.accessed_at),
            Sort::Importance => a.importance.cmp(&b.importance),
            Sort::AccessCount => a.access_count.cmp(&b.access_count),
        };
        let order = if self.descending { order.reverse() } else { order };
        order.then_with(|| b.created_at.cmp(&a.created_at)).then_with(|| a.id.cmp(&b.id))
    }
}

// What memories are sorted by. Ties: the newest first, then by id ascending, whatever the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sort {
    CreatedAt,
    UpdatedAt,
    #[default]
    AccessedAt,
    Importance,
    AccessCount,
}

/// One page of matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub memories: Vec<Memory>,
    /// How many match, on all pages, where it was asked for.
    pub total: u64,
}
