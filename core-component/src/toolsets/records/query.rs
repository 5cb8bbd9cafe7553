//! Queries: the filters, the order and one page of matches.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Deserialize;

use super::memory::{Importance, Kind, Memory};
use crate::words::fold;

/// A query. A memory matches if it passes all filters and has all terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// If not empty, the memory must have one of these ids.
    pub ids: Vec<String>,
    pub kind: Option<Kind>,
    /// The memory must have all of these tags, compared exactly.
    pub tags: Vec<String>,
    /// Folded terms (see [`fold`](crate::words::fold)). Each must occur in content, category or a tag.
    pub terms: Vec<String>,
    pub importance: Option<Importance>,
    /// The memory must have exactly this category.
    pub category: Option<String>,
    /// Whether archived memories are included.
    pub archived: bool,
    pub limit: u32,
    pub offset: u64,
    pub sort: Sort,
    pub descending: bool,
    /// Whether all matches are counted. Counting takes time in proportion to their number.
    pub counts_all: bool,
}

impl Query {
    /// The unarchived memories that were accessed most recently.
    pub fn recent(limit: u32) -> Self {
        Self {
            ids: Vec::new(),
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
            counts_all: false,
        }
    }

    /// Filters and sorts the memories and returns the page that the query asks for.
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
        self.passes_filters(memory) && self.matches_terms(memory)
    }

    /// Whether a memory passes all filters except the terms.
    fn passes_filters(&self, memory: &Memory) -> bool {
        (self.archived || !memory.archived)
            && (self.ids.is_empty() || self.ids.contains(&memory.id))
            && self.kind.is_none_or(|kind| memory.kind == kind)
            && self.importance.is_none_or(|importance| memory.importance == importance)
            && (self.category.is_none() || memory.category == self.category)
            && self.tags.iter().all(|tag| memory.tags.contains(tag))
    }

    fn matches_terms(&self, memory: &Memory) -> bool {
        if self.terms.is_empty() {
            return true;
        }
        let texts: Vec<String> = memory.searched_texts().map(fold).collect();
        self.terms.iter().all(|term| texts.iter().any(|text| text.contains(term.as_str())))
    }

    /// Whether a memory passes all filters and has at least one of the terms.
    pub fn matches_any_term(&self, memory: &Memory) -> bool {
        let texts: Vec<String> = memory.searched_texts().map(fold).collect();
        let has = |term: &String| texts.iter().any(|text| text.contains(term.as_str()));
        self.passes_filters(memory) && self.terms.iter().any(has)
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

// The field that memories are sorted by. In either order, ties are sorted by creation, newest first,
// and then by id, ascending.
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
    /// The number of matches on all pages. It may be 0 if the query does not count all matches.
    pub total: u64,
}
