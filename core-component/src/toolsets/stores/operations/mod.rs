//! The operations on stores, one for each tool. A tool parses its input, opens its store, calls one
//! of these functions and makes the answer.

mod lists;
mod maintenance;

pub(super) use lists::{List, Recent, RecentMemories, list_memories, recent_memories};
pub(super) use maintenance::{Pruned, prune_memories, reindex};

use super::change::{CommitMode, Planned, change};
use super::error::Error;
use super::index::indexed;
use super::memory::{Memory, Metadata, Update, edited_text, new_text, text_of_person, updated};
use super::path::MemoryPath;
use super::plan::Plan;
use super::store::{Store, Text};
use super::walk::Warnings;
use crate::storage::Splice;
use crate::version::is_current;

/// Creates a memory, and its category if it is missing.
///
/// # Errors
///
/// `MEMORY_EXISTS` if the path has a memory already.
pub(super) fn create_memory(
    store: &Store<'_>,
    path: &MemoryPath,
    content: &str,
    metadata: &Metadata,
    update_tool: &str,
) -> Result<Warnings, Error> {
    let ((), warnings) = change(store, CommitMode::Once, |plan| {
        if let Some(before) = store.memory(path)? {
            mend(plan, path, &before);
            return Ok(Planned::Refused(Error::memory_exists(path, update_tool)));
        }
        let memory = Memory { content, metadata: metadata.clone() };
        plan.create(path, new_text(content, metadata), indexed(&memory));
        Ok(Planned::Done(()))
    })?;
    Ok(warnings)
}

/// Reads a memory and calls `read` with it.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`, or `MEMORY_EXPIRED` if expired memories are not included.
pub(super) fn get_memory<T>(
    store: &Store<'_>,
    path: &MemoryPath,
    include_expired: bool,
    read: impl FnOnce(Memory<'_>, &Text) -> T,
) -> Result<T, Error> {
    let text = store.memory(path)?.ok_or_else(|| store.with_others(Error::no_memory_at(path)))?;
    let memory = Memory::read(path, &text.text)?;
    match memory.metadata.expires_at {
        Some(at) if !include_expired && memory.metadata.is_expired(store.now()) => {
            Err(Error::expired(path, at))
        }
        _ => Ok(read(memory, &text)),
    }
}

/// Changes a memory. Keeps all bytes that the update does not change. Also returns whether the
/// memory has expired.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`; `CONFLICT` if the memory has another version; `INVALID_INPUT` for a passage
/// that does not occur exactly once, or whose replacement leaves no valid content.
pub(super) fn update_memory(
    store: &Store<'_>,
    path: &MemoryPath,
    update: &Update,
    version: Option<&str>,
    source: &str,
) -> Result<(bool, Warnings), Error> {
    change(store, CommitMode::Once, |plan| {
        let Some(before) = store.memory(path)? else {
            plan.mend(&path.category());
            return Ok(Planned::Refused(store.with_others(Error::no_memory_at(path))));
        };
        if !is_current(version, &before.text) {
            mend(plan, path, &before);
            let tool = store.call.listed("stores", "get_memory");
            return Ok(Planned::Refused(Error::conflict(&format!("the memory `{path}`"), &tool)));
        }
        let update = match update.with_content(store.call, path, &before.text) {
            Ok(update) => update,
            Err(error) => {
                mend(plan, path, &before);
                return Ok(Planned::Refused(error));
            }
        };
        let is_expired = |memory: &Memory<'_>| memory.metadata.is_expired(store.now());
        Ok(Planned::Done(match updated(path, &before.text, &update, store.now(), source)? {
            Some(splices) => {
                let text = Splice::all_of_text(&splices, &before.text);
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
/// `MEMORY_EXISTS` if the path has a memory already; `CORRUPTED_DATA` if the text has front matter
/// that cannot be read.
pub(super) fn create_file(
    store: &Store<'_>,
    path: &MemoryPath,
    text: &str,
) -> Result<Warnings, Error> {
    let text = text_of_person(path, text, store.now())?;
    let indexed = indexed(&Memory::read(path, &text)?);
    let ((), warnings) = change(store, CommitMode::Once, |plan| {
        if let Some(before) = store.memory(path)? {
            mend(plan, path, &before);
            return Ok(Planned::Refused(Error::file_exists(path)));
        }
        plan.create(path, text.clone(), indexed);
        Ok(Planned::Done(()))
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
    let ((), warnings) = change(store, CommitMode::Once, |plan| {
        let Some(before) = store.memory(path)? else {
            plan.mend(&path.category());
            return Ok(Planned::Refused(store.with_others(Error::no_memory_at(path))));
        };
        if before.version != version {
            mend(plan, path, &before);
            return Ok(Planned::Refused(Error::changed_since(path)));
        }
        let text = edited_text(path, &before.text, text, store.now())?;
        let indexed = indexed(&Memory::read(path, &text)?);
        if text == before.text {
            plan.index(path, indexed);
        } else {
            let splice = Splice { range: 0..before.text.len(), inserts: text.into_bytes() };
            plan.edit(path, &before, vec![splice], indexed);
        }
        Ok(Planned::Done(()))
    })?;
    Ok(warnings)
}

/// Deletes a memory. Its category stays, even if it becomes empty.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`.
pub(super) fn remove_memory(store: &Store<'_>, path: &MemoryPath) -> Result<Warnings, Error> {
    let ((), warnings) = change(store, CommitMode::Once, |plan| {
        let Some(before) = store.memory(path)? else {
            plan.mend(&path.category());
            return Ok(Planned::Refused(store.with_others(Error::no_memory_at(path))));
        };
        plan.delete(path, before.version);
        Ok(Planned::Done(()))
    })?;
    Ok(warnings)
}

/// Moves a memory to another path, even if it has expired. Its file keeps every byte.
///
/// # Errors
///
/// `MEMORY_NOT_FOUND`, or `DESTINATION_EXISTS` if the new path has a memory already.
pub(super) fn move_memory(
    store: &Store<'_>,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<Warnings, Error> {
    let ((), warnings) = change(store, CommitMode::WithIntent("move_memory"), |plan| {
        let Some(before) = store.memory(from)? else {
            return Ok(Planned::Refused(store.with_others(Error::no_memory_at(from))));
        };
        if from == to || store.memory(to)?.is_some() {
            return Ok(Planned::Refused(Error::destination_exists(to)));
        }
        let memory = Memory::read(from, &before.text)?;
        plan.rename(from, to, before.version, indexed(&memory))?;
        Ok(Planned::Done(()))
    })?;
    Ok(warnings)
}

/// Plans a correction of the index of a memory's category. The index may be out of date, because an
/// earlier call stopped before it changed the index.
fn mend(plan: &mut Plan<'_>, path: &MemoryPath, text: &Text) {
    match Memory::read(path, &text.text) {
        Ok(memory) => plan.index(path, indexed(&memory)),
        Err(_) => plan.mend(&path.category()),
    }
}
