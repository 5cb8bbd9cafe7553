//! Lists of memories: the memories of a category, and the memories that were updated last.

use crate::answer::MAX_LIST_BYTES;
use crate::listing::listed;
use crate::page::{count, page_end_in};
use crate::toolsets::stores::error::Error;
use crate::toolsets::stores::memory::Metadata;
use crate::toolsets::stores::path::CategoryPath;
use crate::toolsets::stores::store::{Store, usable};
use crate::toolsets::stores::walk::{
    Contents, Found, Item, Warnings, all_contents, contents, metadata, shortened,
};

/// The number of characters to which a long content is cut. A character has at most four bytes, so
/// the cut content fits in [`MAX_LIST_BYTES`].
const MAX_CUT: usize = MAX_LIST_BYTES / 4;

/// The maximum number of memories that a warning names.
const MAX_NAMED: usize = 10;

/// One page of a list.
pub(crate) struct List {
    pub memories: Vec<(Found, Metadata)>,
    pub contents: Contents,
    /// How many memories were left out because they have expired.
    pub expired: usize,
    /// Whether further memories follow this page.
    pub has_more: bool,
}

/// Lists a category, or everything below it: first the subcategories, then the memories. With a
/// `cursor`, the page begins after the item that the cursor names.
///
/// # Errors
///
/// `CATEGORY_NOT_FOUND`, or `INVALID_INPUT` for a cursor that no earlier call returned.
pub(crate) fn list_memories(
    store: &Store<'_>,
    category: &CategoryPath,
    recursive: bool,
    include_expired: bool,
    limit: usize,
    cursor: Option<&str>,
) -> Result<List, Error> {
    let after = cursor.map(Item::from_cursor).transpose()?;
    let mut contents = existing_contents(store, category, recursive)?;
    if let Some(after) = after {
        let is_there = check_cursor(&after, &contents, category, recursive)?;
        // The first page had the warnings already.
        let warnings = std::mem::take(&mut contents.warnings);
        match after.slug {
            None => contents.subcategories.retain(|found| found.path > after.category),
            Some(slug) => {
                contents.subcategories.clear();
                let after = after.category.memory(&slug);
                contents.memories.retain(|found| found.path > after);
            }
        }
        // The item of a cursor may have been deleted since. The cursor is invalid only if no item
        // follows either.
        if !is_there && contents.memories.is_empty() && contents.subcategories.is_empty() {
            if warnings.is_empty() {
                return Err(Error::invalid_cursor(cursor.unwrap_or_default()));
            }
            // The item may be in a part that could not be read.
            contents.warnings = warnings;
        }
    }
    let mut list =
        List { memories: Vec::new(), contents: Contents::default(), expired: 0, has_more: false };
    for found in std::mem::take(&mut contents.memories) {
        // The file may have been deleted since the index was written.
        let warnings = &mut contents.warnings;
        let Some(metadata) = metadata(store, &found.path, warnings)? else { continue };
        if !include_expired && metadata.is_expired(store.now()) {
            list.expired += 1;
            continue;
        }
        if list.memories.len() == limit {
            list.has_more = true;
            break;
        }
        list.memories.push((found, metadata));
    }
    contents.warnings = shortened(contents.warnings);
    list.contents = contents;
    Ok(list)
}

/// Checks that the item of a cursor belongs to this list. Returns whether the item exists now.
///
/// # Errors
///
/// `INVALID_INPUT` for an item of another category.
fn check_cursor(
    item: &Item,
    contents: &Contents,
    category: &CategoryPath,
    recursive: bool,
) -> Result<bool, Error> {
    let parent = match &item.slug {
        Some(_) => Some(item.category.clone()),
        None => item.category.parent(),
    };
    let is_in_list = parent.is_some_and(|parent| {
        parent == *category || (recursive && parent.as_str().starts_with(&below(category)))
    });
    if !is_in_list {
        return Err(Error::invalid_cursor(&item.cursor()));
    }
    Ok(match &item.slug {
        Some(slug) => {
            let path = item.category.memory(slug);
            contents.memories.iter().any(|found| found.path == path)
        }
        None => contents.subcategories.iter().any(|found| found.path == item.category),
    })
}

/// The prefix of the paths of all categories below a category.
fn below(category: &CategoryPath) -> String {
    if category.is_root() { String::new() } else { format!("{category}/") }
}

/// A memory with its content.
pub(crate) struct Recent {
    pub found: Found,
    pub content: String,
    /// The number of characters to pass to `get_memory` as `from` to read the rest. `None` if the
    /// content is whole.
    pub next: Option<usize>,
    pub tags: Vec<String>,
}

/// The memories of a category that were updated last.
pub(crate) struct RecentMemories {
    pub memories: Vec<Recent>,
    /// The number of memories in the category and below it. Memories that were read and are expired
    /// or damaged are not counted.
    pub total: u64,
    pub warnings: Warnings,
}

/// Returns the memories below a category that were updated last, the newest first. Memories without
/// a date come last, and memories of the same date are sorted by path. The contents have at most
/// [`MAX_LIST_BYTES`] in all; a warning names memories that do not fit. If the first memory is
/// longer by itself, its content is cut.
///
/// # Errors
///
/// `CATEGORY_NOT_FOUND`.
pub(crate) fn recent_memories(
    store: &Store<'_>,
    category: &CategoryPath,
    include_expired: bool,
    limit: usize,
) -> Result<RecentMemories, Error> {
    let Contents { memories: mut found, mut warnings, .. } =
        existing_contents(store, category, true)?;
    found.sort_by(|a, b| {
        b.indexed.updated_at.cmp(&a.indexed.updated_at).then_with(|| a.path.cmp(&b.path))
    });
    let mut recent: Vec<Recent> = Vec::new();
    let mut total = found.len() as u64;
    let mut left_out = Vec::new();
    let mut bytes = 0;
    for found in found {
        if recent.len() + left_out.len() == limit || left_out.len() == MAX_NAMED {
            break;
        }
        let read = store.read(&found.path, |memory, _| {
            let is_wanted = include_expired || !memory.metadata.is_expired(store.now());
            is_wanted.then(|| (memory.content.to_owned(), memory.metadata.tags))
        });
        let read = usable(read, &mut warnings)?.flatten().flatten();
        let Some((content, tags)) = read else {
            total -= 1;
            continue;
        };
        let is_too_long = bytes + content.len() > MAX_LIST_BYTES;
        if is_too_long && !recent.is_empty() {
            left_out.push(found.path.to_string());
            continue;
        }
        let (content, next) = if is_too_long { beginning(content) } else { (content, None) };
        bytes += content.len();
        recent.push(Recent { found, content, next, tags });
    }
    let mut warnings = shortened(warnings);
    if !left_out.is_empty() {
        warnings.push(format!(
            "the contents are long, so some are left out: read {} with `{}`",
            listed(&left_out, MAX_NAMED),
            store.call.listed("stores", "get_memory")
        ));
    }
    Ok(RecentMemories { memories: recent, total, warnings })
}

/// Returns the beginning of a content that is too long for an answer, and the number of characters
/// after which the rest begins.
fn beginning(mut content: String) -> (String, Option<usize>) {
    let end = page_end_in(&content, 0, MAX_CUT);
    content.truncate(end);
    let next = count(&content);
    (content, Some(next))
}

fn existing_contents(
    store: &Store<'_>,
    category: &CategoryPath,
    recursive: bool,
) -> Result<Contents, Error> {
    if !store.has_category(category)? {
        return Err(store.with_others(Error::no_category(category)));
    }
    if recursive { all_contents(store, category) } else { contents(store, category) }
}
