//! The operations of the domain, one for each tool (spec 003). A tool parses its input, opens its
//! store, calls one of these and shapes the answer.

use super::change::{Order, change};
use super::error::Error;
use super::index::indexed;
use super::memory::{Memory, Metadata, Update, edited_text, new_text, text_of_person, updated};
use super::path::{CategoryPath, MemoryPath};
use super::plan::Plan;
use super::store::{Store, Text, usable};
use super::walk::{
    Contents, Found, Item, Items, MAX_WARNINGS, Others, all_contents, contents, items, metadata,
};
use crate::answer::MAX_LIST_BYTES;
use crate::names::listed;
use crate::page::{count, page_end_in};
use crate::storage::Splice;
use crate::time::Timestamp;
use crate::version::is_current;

/// How many files one call of `prune_memories` or `reindex_store` takes.
const MAX_FILES: usize = 500;

/// The most characters of a content that is too long for an answer: no character has more bytes
/// than four.
const MAX_CUT: usize = MAX_LIST_BYTES / 4;

/// How many memories a warning names.
const MAX_NAMED: usize = 10;

/// The warnings of a change.
pub(super) type Warnings = Vec<String>;

/// Creates a memory, with its category.
///
/// # Errors
///
/// `MEMORY_EXISTS`.
pub(super) fn create_memory(
    store: &Store<'_>,
    path: &MemoryPath,
    content: &str,
    metadata: &Metadata,
    update_tool: &str,
) -> Result<Warnings, Error> {
    let ((), warnings) = change(store, Order::MemoryFirst, |plan| {
        if let Some(before) = store.memory(path)? {
            mend(plan, path, &before);
            return Ok(Err(Error::memory_exists(path, update_tool)));
        }
        let memory = Memory { content, metadata: metadata.clone() };
        plan.create(path, new_text(content, metadata), indexed(&memory));
        Ok(Ok(()))
    })?;
    Ok(warnings)
}

/// Reads a memory and calls `read` with it.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`; `MEMORY_EXPIRED` if expired ones are not included.
pub(super) fn get_memory<T>(
    store: &Store<'_>,
    path: &MemoryPath,
    include_expired: bool,
    read: impl FnOnce(Memory<'_>, &Text) -> T,
) -> Result<T, Error> {
    let text = store.memory(path)?.ok_or_else(|| store.with_others(Error::no_memory_at(path)))?;
    let memory = Memory::read(path, &text.text)?;
    match memory.metadata.expires_at {
        Some(at) if !include_expired && memory.metadata.is_expired(now(store)) => {
            Err(Error::expired(path, at))
        }
        _ => Ok(read(memory, &text)),
    }
}

/// Changes a memory. What the update does not name stays byte for byte. Returns whether the memory
/// has expired, too.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`; `CONFLICT` if the memory has another version; `INVALID_INPUT` for a passage
/// that does not occur once, or whose replacement leaves no valid content.
pub(super) fn update_memory(
    store: &Store<'_>,
    path: &MemoryPath,
    update: &Update,
    version: Option<&str>,
    source: &str,
) -> Result<(bool, Warnings), Error> {
    change(store, Order::MemoryFirst, |plan| {
        let Some(before) = store.memory(path)? else {
            plan.mend(&path.category());
            return Ok(Err(store.with_others(Error::no_memory_at(path))));
        };
        if !is_current(version, &before.text) {
            mend(plan, path, &before);
            let tool = store.call.listed("stores", "get_memory");
            return Ok(Err(Error::conflict(&format!("the memory `{path}`"), &tool)));
        }
        let update = match update.with_content(store.call, path, &before.text) {
            Ok(update) => update,
            Err(error) => {
                mend(plan, path, &before);
                return Ok(Err(error));
            }
        };
        let is_expired = |memory: &Memory<'_>| memory.metadata.is_expired(now(store));
        Ok(Ok(match updated(path, &before.text, &update, now(store), source)? {
            Some(splices) => {
                let text = spliced(&before, &splices);
                let memory = Memory::read(path, &text)?;
                plan.edit(path, &before, splices, indexed(&memory));
                is_expired(&memory)
            }
            None => {
                let memory = Memory::read(path, &before.text)?;
                plan.index(path, indexed(&memory));
                is_expired(&memory)
            }
        }))
    })
}

/// Creates a memory from the text of a file that a person wrote.
///
/// # Errors
///
/// `MEMORY_EXISTS`; `CORRUPTED_DATA` if the text has front matter that cannot be read.
pub(super) fn create_file(
    store: &Store<'_>,
    path: &MemoryPath,
    text: &str,
) -> Result<Warnings, Error> {
    let text = text_of_person(path, text, now(store))?;
    let indexed = indexed(&Memory::read(path, &text)?);
    let ((), warnings) = change(store, Order::MemoryFirst, |plan| {
        if let Some(before) = store.memory(path)? {
            mend(plan, path, &before);
            return Ok(Err(Error::file_exists(path)));
        }
        plan.create(path, text.clone(), indexed);
        Ok(Ok(()))
    })?;
    Ok(warnings)
}

/// Replaces the file of a memory by a text that a person edited.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`; `CONFLICT` if the memory has another version now; `CORRUPTED_DATA` if the
/// text has front matter that cannot be read.
pub(super) fn replace_file(
    store: &Store<'_>,
    path: &MemoryPath,
    text: &str,
    version: &str,
) -> Result<Warnings, Error> {
    let ((), warnings) = change(store, Order::MemoryFirst, |plan| {
        let Some(before) = store.memory(path)? else {
            plan.mend(&path.category());
            return Ok(Err(store.with_others(Error::no_memory_at(path))));
        };
        if before.version != version {
            mend(plan, path, &before);
            return Ok(Err(Error::changed_since(path)));
        }
        let text = edited_text(path, &before.text, text, now(store))?;
        let indexed = indexed(&Memory::read(path, &text)?);
        if text == before.text {
            plan.index(path, indexed);
        } else {
            let splice = Splice { range: 0..before.text.len(), inserts: text.into_bytes() };
            plan.edit(path, &before, vec![splice], indexed);
        }
        Ok(Ok(()))
    })?;
    Ok(warnings)
}

/// Deletes a memory. Its category stays.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`.
pub(super) fn remove_memory(store: &Store<'_>, path: &MemoryPath) -> Result<Warnings, Error> {
    let ((), warnings) = change(store, Order::MemoryFirst, |plan| {
        let Some(before) = store.memory(path)? else {
            plan.mend(&path.category());
            return Ok(Err(store.with_others(Error::no_memory_at(path))));
        };
        plan.delete(path, before.version);
        Ok(Ok(()))
    })?;
    Ok(warnings)
}

/// Moves a memory to another path, expired or not. Its file keeps every byte.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`, `DESTINATION_EXISTS`.
pub(super) fn move_memory(
    store: &Store<'_>,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<Warnings, Error> {
    let ((), warnings) = change(store, Order::Intent("move_memory"), |plan| {
        let Some(before) = store.memory(from)? else {
            return Ok(Err(store.with_others(Error::no_memory_at(from))));
        };
        if from == to || store.memory(to)?.is_some() {
            return Ok(Err(Error::destination_exists(to)));
        }
        let memory = Memory::read(from, &before.text)?;
        plan.rename(from, to, before.version, indexed(&memory))?;
        Ok(Ok(()))
    })?;
    Ok(warnings)
}

/// One page of a list.
pub(super) struct List {
    pub memories: Vec<(Found, Metadata)>,
    pub contents: Contents,
    /// How many memories were left out since they have expired.
    pub expired: usize,
    /// Whether there are memories after the page.
    pub has_more: bool,
}

/// Lists a category, or everything below it: the subcategories, then the memories. It goes on after the
/// item of `cursor`, if there is one.
///
/// # Errors
///
/// `CATEGORY_NOT_FOUND`; `INVALID_INPUT` for a cursor that no earlier call gave.
pub(super) fn list_memories(
    store: &Store<'_>,
    category: &CategoryPath,
    recursive: bool,
    include_expired: bool,
    limit: usize,
    cursor: Option<&str>,
) -> Result<List, Error> {
    let after = cursor.map(item).transpose()?;
    let mut contents = existing_contents(store, category, recursive)?;
    if let Some(after) = after {
        let is_there = check_cursor(&after, &contents, category, recursive)?;
        // The first page has the warnings.
        let warnings = std::mem::take(&mut contents.warnings);
        match after.slug {
            None => contents.subcategories.retain(|found| found.path > after.category),
            Some(slug) => {
                contents.subcategories.clear();
                let after = after.category.memory(&slug);
                contents.memories.retain(|found| found.path > after);
            }
        }
        // The item of a cursor may be deleted before the next page is asked for.
        if !is_there && contents.memories.is_empty() && contents.subcategories.is_empty() {
            if warnings.is_empty() {
                return Err(Error::invalid_cursor(cursor.unwrap_or_default()));
            }
            // Something was not read: the item may be there.
            contents.warnings = warnings;
        }
    }
    let mut list =
        List { memories: Vec::new(), contents: Contents::default(), expired: 0, has_more: false };
    for found in std::mem::take(&mut contents.memories) {
        // The file may be gone since the index was written.
        let warnings = &mut contents.warnings;
        let Some(metadata) = metadata(store, &found.path, warnings)? else { continue };
        if !include_expired && metadata.is_expired(now(store)) {
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

/// Checks that the item of a cursor can be in the list. Returns whether it is there now.
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

/// The beginning of the paths of the categories below a category.
fn below(category: &CategoryPath) -> String {
    if category.is_root() { String::new() } else { format!("{category}/") }
}

/// A memory with its content.
pub(super) struct Recent {
    pub found: Found,
    pub content: String,
    /// The character at which `get_memory` reads on, if the content is cut.
    pub next: Option<usize>,
    pub tags: Vec<String>,
}

/// The memories of a category that were updated last.
pub(super) struct RecentMemories {
    pub memories: Vec<Recent>,
    /// How many there are in all. Expired ones that were not read count, too.
    pub total: u64,
    pub warnings: Warnings,
}

/// The memories below a category that were updated last, the newest first. Those without a date come
/// last, and memories of the same date in the order of their paths. The contents have at most
/// [`MAX_LIST_BYTES`]: a warning names the memories that do not fit. The first one is cut if it is
/// longer.
///
/// # Errors
///
/// `CATEGORY_NOT_FOUND`.
pub(super) fn recent_memories(
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
            let is_wanted = include_expired || !memory.metadata.is_expired(now(store));
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

/// The beginning of a content that is too long for an answer, and where to read on.
fn beginning(mut content: String) -> (String, Option<usize>) {
    let end = page_end_in(&content, 0, MAX_CUT);
    content.truncate(end);
    let next = count(&content);
    (content, Some(next))
}

/// The work that one call of a long operation did.
pub(super) struct Page<T> {
    pub done: T,
    pub warnings: Warnings,
    /// How many files are left.
    pub remaining: usize,
    /// Where the next call goes on; none after the last one.
    pub cursor: Option<String>,
}

/// An expired memory.
pub(super) struct Pruned {
    pub path: MemoryPath,
    pub expires_at: Timestamp,
    /// The version of its file.
    version: String,
}

/// Deletes the expired memories among the next files.
///
/// # Errors
///
/// `INVALID_INPUT` for a cursor that no earlier call gave.
pub(super) fn prune_memories(
    store: &Store<'_>,
    cursor: Option<&str>,
    dry_run: bool,
) -> Result<Page<Vec<Pruned>>, Error> {
    if dry_run {
        return expired(store, cursor);
    }
    let (page, warnings) = change(store, Order::Intent("prune_memories"), |plan| {
        let page = expired(store, cursor)?;
        for pruned in &page.done {
            plan.delete(&pruned.path, pruned.version.clone());
        }
        Ok(Ok(page))
    })?;
    Ok(page.after(warnings))
}

/// The expired memories among the next files.
fn expired(store: &Store<'_>, cursor: Option<&str>) -> Result<Page<Vec<Pruned>>, Error> {
    let mut page = page(items(store)?.items, |item| item.slug.is_some(), cursor)?;
    let mut expired = Vec::new();
    let mut warnings = Vec::new();
    for item in std::mem::take(&mut page.done) {
        let path = item.category.memory(item.slug.as_deref().unwrap_or_default());
        let read = store.read(&path, |memory, text| {
            let expires_at = memory.metadata.expires_at;
            let expired = expires_at.filter(|_| memory.metadata.is_expired(now(store)));
            expired.map(|expires_at| (expires_at, text.version.clone()))
        });
        if let Some((expires_at, version)) = usable(read, &mut warnings)?.flatten().flatten() {
            expired.push(Pruned { path, expires_at, version });
        }
    }
    Ok(page.with(expired).after(warnings))
}

/// Rebuilds the indexes from the next files. Descriptions and empty categories stay.
///
/// # Errors
///
/// `INVALID_INPUT` for a cursor that no earlier call gave.
pub(super) fn reindex(store: &Store<'_>, cursor: Option<&str>) -> Result<Page<()>, Error> {
    let (page, warnings) = change(store, Order::Intent("reindex_store"), |plan| {
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
        Ok(Ok(page))
    })?;
    Ok(page.with(()).after(warnings))
}

impl<T> Page<T> {
    fn with<U>(self, done: U) -> Page<U> {
        let Self { warnings, remaining, cursor, .. } = self;
        Page { done, warnings, remaining, cursor }
    }

    /// The page with warnings before its own.
    fn after(mut self, mut warnings: Warnings) -> Self {
        warnings.append(&mut self.warnings);
        Self { warnings: shortened(warnings), ..self }
    }
}

/// The item of a cursor.
fn item(cursor: &str) -> Result<Item, Error> {
    Item::parse(cursor).ok_or_else(|| Error::invalid_cursor(cursor))
}

/// The items of one call that are wanted, from the cursor on.
fn page(
    items: Vec<Item>,
    is_wanted: fn(&Item) -> bool,
    cursor: Option<&str>,
) -> Result<Page<Vec<Item>>, Error> {
    // The page before may have deleted its last memory, but not the category.
    let was_given =
        |item: &Item| is_wanted(item) && items.iter().any(|other| other.category == item.category);
    let after = match cursor {
        Some(cursor) => {
            let item = Some(item(cursor)?).filter(was_given);
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

/// Has the index of a memory's category agree with its directory, and with this memory. An earlier
/// call may have stopped before its indexes.
fn mend(plan: &mut Plan<'_>, path: &MemoryPath, text: &Text) {
    match Memory::read(path, &text.text) {
        Ok(memory) => plan.index(path, indexed(&memory)),
        Err(_) => plan.mend(&path.category()),
    }
}

fn not_a_memory(category: &CategoryPath, name: &str) -> String {
    let slash = if category.is_root() { "" } else { "/" };
    let shown = name.escape_debug();
    format!(
        "`{category}{slash}{shown}` is no memory: a name is lower-case words joined by `-`, and `.md`"
    )
}

fn shortened(mut warnings: Warnings) -> Warnings {
    let more = warnings.len().saturating_sub(MAX_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_WARNINGS);
        warnings.push(format!("and {more} more"));
    }
    warnings
}

pub(super) fn spliced(before: &Text, splices: &[Splice]) -> String {
    let bytes = Splice::all(splices, before.text.clone().into_bytes()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn now(store: &Store<'_>) -> Timestamp {
    store.call.context.now
}
