//! The operations on a whole store, page by page: deleting expired memories, and rebuilding the
//! indexes.

use crate::time::Timestamp;
use crate::toolsets::stores::change::{CommitMode, Planned, change};
use crate::toolsets::stores::error::Error;
use crate::toolsets::stores::index::indexed;
use crate::toolsets::stores::path::{CategoryPath, MemoryPath};
use crate::toolsets::stores::store::{Store, usable};
use crate::toolsets::stores::walk::{Item, Items, Others, Warnings, items, shortened};

/// The maximum number of items that one call of `prune_memories` or `reindex_store` handles.
const MAX_FILES: usize = 500;

/// The result of one call of a long operation.
pub(crate) struct Page<T> {
    pub done: T,
    pub warnings: Warnings,
    /// The number of files that were not handled yet.
    pub remaining: usize,
    /// The cursor for the next call. `None` if this was the last one.
    pub cursor: Option<String>,
}

/// A memory that has expired.
pub(crate) struct Pruned {
    pub path: MemoryPath,
    pub expires_at: Timestamp,
    /// The version of the memory's file.
    version: String,
}

/// Deletes the expired memories on the next page of files.
///
/// # Errors
///
/// `INVALID_INPUT` for a cursor that no earlier call returned.
pub(crate) fn prune_memories(
    store: &Store<'_>,
    cursor: Option<&str>,
    dry_run: bool,
) -> Result<Page<Vec<Pruned>>, Error> {
    if dry_run {
        return expired(store, cursor);
    }
    let (page, warnings) = change(store, CommitMode::WithIntent("prune_memories"), |plan| {
        let page = expired(store, cursor)?;
        for pruned in &page.done {
            plan.delete(&pruned.path, pruned.version.clone());
        }
        Ok(Planned::Done(page))
    })?;
    Ok(page.after(warnings))
}

/// Finds the expired memories on the next page of files.
fn expired(store: &Store<'_>, cursor: Option<&str>) -> Result<Page<Vec<Pruned>>, Error> {
    let mut page = page(items(store)?.items, |item| item.slug.is_some(), cursor)?;
    let mut expired = Vec::new();
    let mut warnings = Vec::new();
    for item in std::mem::take(&mut page.done) {
        let path = item.category.memory(item.slug.as_deref().unwrap_or_default());
        let read = store.read(&path, |memory, text| {
            let expires_at = memory.metadata.expires_at;
            let expired = expires_at.filter(|_| memory.metadata.is_expired(store.now()));
            expired.map(|expires_at| (expires_at, text.version.clone()))
        });
        if let Some((expires_at, version)) = usable(read, &mut warnings)?.flatten().flatten() {
            expired.push(Pruned { path, expires_at, version });
        }
    }
    Ok(page.with(expired).after(warnings))
}

/// Updates the indexes from the next page of files. Keeps descriptions and empty categories in the
/// indexes.
///
/// # Errors
///
/// `INVALID_INPUT` for a cursor that no earlier call returned.
pub(crate) fn reindex(store: &Store<'_>, cursor: Option<&str>) -> Result<Page<()>, Error> {
    let (page, warnings) = change(store, CommitMode::WithIntent("reindex_store"), |plan| {
        plan.rebuild();
        let Items { items, others } = items(store)?;
        let mut page = self::page(items, |_| true, cursor)?;
        for item in std::mem::take(&mut page.done) {
            plan.mend(&item.category);
            let Some(slug) = &item.slug else {
                if let Some(Others { names, misplaced }) = others.get(&item.category) {
                    let names = names.iter().map(|name| not_a_memory(&item.category, name));
                    let links = misplaced.iter().map(|of| of.warning(&item.category, "indexed"));
                    page.warnings.extend(names.chain(links));
                }
                continue;
            };
            let path = item.category.memory(slug);
            let read = store.read(&path, |memory, _| indexed(&memory));
            if let Some(indexed) = usable(read, &mut page.warnings)?.flatten() {
                plan.index(&path, indexed);
            }
        }
        Ok(Planned::Done(page))
    })?;
    Ok(page.with(()).after(warnings))
}

impl<T> Page<T> {
    fn with<U>(self, done: U) -> Page<U> {
        let Self { warnings, remaining, cursor, .. } = self;
        Page { done, warnings, remaining, cursor }
    }

    /// Returns the page with `warnings` put before the page's own warnings.
    fn after(mut self, mut warnings: Warnings) -> Self {
        warnings.append(&mut self.warnings);
        Self { warnings: shortened(warnings), ..self }
    }
}

/// Returns the next page of the items that `is_wanted` accepts, after the item of the cursor.
fn page(
    items: Vec<Item>,
    is_wanted: fn(&Item) -> bool,
    cursor: Option<&str>,
) -> Result<Page<Vec<Item>>, Error> {
    // A cursor is valid if its category exists. Its memory need not exist: the previous call may
    // have deleted it.
    let was_given =
        |item: &Item| is_wanted(item) && items.iter().any(|other| other.category == item.category);
    let after = match cursor {
        Some(cursor) => {
            let item = Some(Item::from_cursor(cursor)?).filter(was_given);
            Some(item.ok_or_else(|| Error::invalid_cursor(cursor))?)
        }
        None => None,
    };
    let items = items.into_iter().filter(is_wanted);
    let mut items: Vec<_> = items.filter(|item| Some(item) > after.as_ref()).collect();
    let later = items.split_off(items.len().min(MAX_FILES));
    let remaining = later.iter().filter(|item| item.slug.is_some()).count();
    let cursor = items.last().filter(|_| !later.is_empty()).map(Item::cursor);
    Ok(Page { done: items, warnings: Vec::new(), remaining, cursor })
}

fn not_a_memory(category: &CategoryPath, name: &str) -> String {
    let slash = if category.is_root() { "" } else { "/" };
    let shown = name.escape_debug();
    format!(
        "`{category}{slash}{shown}` is no memory: a name is lower-case words joined by `-`, and `.md`"
    )
}
