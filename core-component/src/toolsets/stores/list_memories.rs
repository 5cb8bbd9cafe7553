use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::input::{category, category_name};
use super::operations::{List, list_memories};
use super::path::CategoryPath;
use super::store::Store;
use crate::answer::cut_list;
use crate::names::StoreName;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

/// The number of memories in a list if a call gives no limit.
pub(super) const DEFAULT_LIMIT: u32 = 200;

pub(super) struct ListMemories;

/// Lists the memories and subcategories of a category, without their content.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "List memories")]
pub(super) struct Input {
    /// Name of the store.
    store: StoreName,
    /// Left out: the root.
    #[schemars(length(min = 1, max = 2100))]
    category: Option<String>,
    /// List all categories below it, too.
    #[serde(default)]
    recursive: bool,
    /// List expired ones, too.
    #[serde(default)]
    include_expired: bool,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
    /// From the last call, while it gives one.
    #[schemars(length(min = 1, max = 2100))]
    cursor: Option<String>,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// `all` for the root.
    category: String,
    count: usize,
    memories: Vec<Listed>,
    subcategories: Vec<Subcategory>,
    has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    warnings: Vec<String>,
    /// Where to look instead, if there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listed {
    path: String,
    token_estimate: Option<u64>,
    updated_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Subcategory {
    path: String,
    memory_count: Option<u64>,
    description: Option<String>,
}

impl Tool for ListMemories {
    const NAME: &'static str = "list_memories";
    const HINTS: Hints = Hints::READS;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let category = category(input.category.as_deref())?;
        let store = Store::open(call, &input.store)?;
        let list = list_memories(
            &store,
            &category,
            input.recursive,
            input.include_expired,
            input.limit as usize,
            input.cursor.as_deref(),
        )?;
        let is_first = input.cursor.is_none();
        let mut output = output(&store, &category, list)?;
        output.note = output.note.filter(|_| is_first);
        Ok(output)
    }
}

/// Returns a list in the form of this tool and of the resource.
pub(super) fn output(
    store: &Store<'_>,
    category: &CategoryPath,
    list: List,
) -> Result<Output, Error> {
    let listed = |(found, metadata): (super::walk::Found, super::memory::Metadata)| Listed {
        path: found.path.to_string(),
        token_estimate: found.indexed.token_estimate,
        updated_at: found.indexed.updated_at,
        expires_at: metadata.expires_at,
    };
    let subcategory = |found: super::walk::FoundCategory| Subcategory {
        path: found.path.to_string(),
        memory_count: found.indexed.memory_count,
        description: found.indexed.description,
    };
    let is_empty = list.memories.is_empty() && list.contents.subcategories.is_empty();
    let note = match (is_empty, list.expired) {
        (false, _) => None,
        (true, 0) => store.empty_note(category)?,
        (true, expired) => Some(store.expired_note(category, expired)),
    };
    let mut memories: Vec<_> = list.memories.into_iter().map(listed).collect();
    let mut subcategories: Vec<_> =
        list.contents.subcategories.into_iter().map(subcategory).collect();
    let mut has_more = cut_list(&mut memories) > 0 || list.has_more;
    if cut_list(&mut subcategories) > 0 {
        // Some subcategories do not fit. Memories come after all subcategories, so this page has
        // none.
        has_more = true;
        memories.clear();
    }
    let last_memory = memories.last().map(|last| last.path.clone());
    let last = last_memory.or_else(|| Some(format!("{}/", subcategories.last()?.path)));
    Ok(Output {
        category: category_name(category),
        count: memories.len(),
        has_more,
        cursor: last.filter(|_| has_more),
        memories,
        subcategories,
        warnings: list.contents.warnings,
        note,
    })
}
