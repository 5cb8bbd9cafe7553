//! The memories of the stores, as entries of a search.

use super::error::Error;
use super::memory::Memory;
use super::path::MemoryPath;
use super::store::{ReadError, Store, names};
use super::walk::items;
use crate::markdown::chunks;
use crate::names::StoreName;
use crate::source::{Entries, Entry, Owner, ReadArguments, ReadCall};
use crate::time::Timestamp;
use crate::tool::{Call, Checked, Source};

/// A longer memory is searched in parts of about so many bytes.
const PART: usize = 1_500;

pub(super) const SOURCE: Source = Source { toolset: "stores", collect, read: |_, _, _| Ok(None) };

/// Adds the memories of all stores that the caller may use. They belong to no agent.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let read = call.listed("stores", "get_memory");
    for name in names(call)? {
        let Some(name) = StoreName::parse(&name) else { continue };
        match Store::open(call, &name) {
            Ok(store) => add(call, &store, &read, entries)?,
            Err(error) => entries.warn(format!("store `{}`: {}", name.as_str(), error.message())),
        }
    }
    Ok(())
}

fn add(
    call: &Call<'_>,
    store: &Store<'_>,
    read: &str,
    entries: &mut Entries<'_>,
) -> Result<(), Error> {
    entries.begin(Owner {
        toolset: "stores",
        store: Some(store.name.to_owned()),
        ..Owner::default()
    });
    let now = call.context.now;
    for item in items(store)?.items {
        let Some(slug) = &item.slug else { continue };
        let path = item.category.memory(slug);
        let found = store.read(&path, |memory, _| parts(store, &path, &memory, now, read));
        match found {
            Ok(parts) => {
                entries.begin_run();
                parts.into_iter().flatten().for_each(|part| entries.add(part));
            }
            Err(ReadError::Unusable(error)) => {
                entries.warn(format!("store `{}`: {}", store.name, error.message()));
            }
            Err(ReadError::Other(error)) => return Err(error),
        }
    }
    Ok(())
}

/// The parts of a memory.
fn parts(
    store: &Store<'_>,
    path: &MemoryPath,
    memory: &Memory<'_>,
    now: Timestamp,
    read: &str,
) -> Vec<Entry> {
    let metadata = &memory.metadata;
    let about = format!("{} {}", path.to_string().replace('/', " "), metadata.tags.join(" "));
    let arguments = ReadArguments {
        store: Some(store.name.to_owned()),
        path: Some(path.to_string()),
        include_expired: Some(metadata.is_expired(now)),
        ..ReadArguments::default()
    };
    let part = |text: &str| Entry {
        id: None,
        path: Some(path.to_string()),
        section: None,
        created_at: metadata.created_at,
        day: None,
        text: text.to_owned(),
        about: about.clone(),
        importance: 0,
        is_archived: metadata.is_expired(now),
        read: Some(ReadCall { tool: read.to_owned(), arguments: arguments.clone() }),
        similarity: None,
        unread: None,
    };
    chunks(memory.content, PART).into_iter().map(part).collect()
}
