//! The memories of stores as entries of a search.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::error::Error;
use super::get_memory::DEFAULT_LIMIT;
use super::memory::{Memory, Metadata};
use super::path::{CategoryPath, MemoryPath};
use super::place::{COLLECTION, LABEL};
use super::store::{ReadError, Store, names, usable};
use super::walk::{Files, files};
use crate::budget::{Budget, OF_DOCUMENT, OF_INDEXED};
use crate::index::{self, DocumentIndex, Facts, number_of};
use crate::names::StoreName;
use crate::ranking::{MAX_COST, cost};
use crate::source::{
    Collector, Entry, OwnedCollection, Owner, ReadArguments, ReadCall, ReadEntries, read_paths,
};
use crate::storage::{Place, Status};
use crate::tool::{Call, Checked, Source};

/// The maximum number of bytes of a memory's path, tags, names and citations that are searched.
const MAX_ABOUT: usize = 4 << 10;

/// The work of parsing a byte of a category's index, as counted by [`Budget`].
const YAML: u64 = 1;

pub(super) const SOURCE: Source = Source {
    toolset: "stores",
    keeps_by_agent: false,
    collect,
    read: |call, owner, keys| Ok(read_paths(keys, |path| read(call, owner, path))?),
    collections,
};

/// Returns the collections of the stores that the caller may use, one for each store.
fn collections(call: &Call<'_>) -> Checked<Vec<OwnedCollection>> {
    let of_store = |store: String| OwnedCollection {
        owner: owner(&store),
        place: Place::in_group(LABEL, &store),
        name: COLLECTION.to_owned(),
    };
    let names = names(call)?.into_iter().filter(|name| StoreName::parse(name).is_some());
    Ok(names.map(of_store).collect())
}

/// Adds the memories of all stores that the caller may use. Memories belong to no agent.
fn collect(call: &Call<'_>, collector: &mut Collector<'_>) -> Checked<()> {
    let read = call.listed("stores", "get_memory");
    let mut names = names(call)?;
    names.retain(|name| collector.request.is_for(&owner(name)));
    let work = &collector.request.budget;
    let count = names.len();
    let whole = work.reserve();
    for (at, name) in names.iter().enumerate() {
        work.begin(whole, count - at);
        let Some(name) = StoreName::parse(name) else {
            let name = name.escape_debug();
            collector
                .warn(format!("store `{name}` was not searched: register it under a valid name"));
            continue;
        };
        let added = Store::open(call, &name).and_then(|store| {
            if work.take(OF_DOCUMENT) {
                return add(call, &store, &read, collector);
            }
            collector.skip(owner(store.name), "all memories");
            Ok(())
        });
        if let Err(error) = added {
            let name = name.as_str();
            collector.warn(format!("store `{name}` was not searched: {}", error.message()));
        }
    }
    Ok(())
}

pub(super) fn owner(store: &str) -> Owner {
    Owner::new("stores").with_store(store)
}

fn add(
    call: &Call<'_>,
    store: &Store<'_>,
    read: &str,
    collector: &mut Collector<'_>,
) -> Result<(), Error> {
    collector.begin(owner(store.name));
    let request = collector.request;
    let work = &request.budget;
    let place = Place::in_group(LABEL, store.name);
    let mut index = DocumentIndex::open(call.storage, place, COLLECTION, request.for_index());
    let mut to_read = Vec::new();
    let mut skipped = 0;
    let Files { files, warnings, .. } = files(store)?;
    let is_whole = warnings.is_empty();
    for warning in warnings {
        collector.warn(format!("store `{}`: {warning}", store.name));
    }
    for (path, status) in files {
        match index.find(&path.file(), &status) {
            Some(_) if !work.take(OF_INDEXED) => skipped += 1,
            Some(known) => {
                collector.begin_run();
                collector.add_known(path.to_string(), &index, known);
            }
            None => to_read.push((path, status)),
        }
    }
    for (path, status) in in_order(store, to_read, work)? {
        // Searching a text takes at least as much work as the text has bytes.
        if OF_DOCUMENT + status.size > work.left() {
            skipped += 1;
            continue;
        }
        let found = store.read_in_part(&path, |memory, text, damage| {
            let about = about(&path, &memory.metadata);
            let of_memory = cost(&text.text) + cost(&about);
            work.take(OF_DOCUMENT + of_memory).then(|| {
                let document = index::Document {
                    key: &path.file(),
                    stamp: &status.stamp,
                    version: &text.version,
                    facts: facts(&memory.metadata),
                    work: of_memory,
                };
                let entry = entry(store, &path, &memory, read);
                // A damaged memory is not added to the index, so that each search reads it again
                // and warns about it.
                if damage.is_none() {
                    let texts = entry.texts().to_vec();
                    index.add(&document, [index::Entry { texts, begins_run: true }].into_iter());
                }
                (entry, damage)
            })
        });
        match found {
            Ok(None) => {}
            Ok(Some(None)) => skipped += 1,
            Ok(Some(Some((entry, damage)))) => {
                if let Some(error) = damage {
                    collector.warn(format!("store `{}`: {}", store.name, error.message()));
                }
                collector.begin_run();
                collector.add_read(entry, &index);
            }
            Err(ReadError::Unusable(error)) => {
                collector.warn(format!("store `{}`: {}", store.name, error.message()));
            }
            Err(ReadError::Other(error)) => return Err(error),
        }
    }
    collector.skip_some(owner(store.name), skipped, "memory", "memories");
    index.update(is_whole);
    Ok(())
}

/// Reads the memory at a path, for a hit from an index.
fn read(call: &Call<'_>, owner: &Owner, path: &str) -> Result<Option<ReadEntries>, Error> {
    let name = owner.store.as_deref().and_then(StoreName::parse);
    let (Some(name), Ok(path)) = (name, MemoryPath::parse(path)) else { return Ok(None) };
    let store = Store::open(call, &name)?;
    let tool = call.listed("stores", "get_memory");
    Ok(store.read(&path, |memory, text| ReadEntries {
        version: number_of(&text.version),
        entries: vec![entry(&store, &path, &memory, &tool)],
    })?)
}

fn facts(metadata: &Metadata) -> Facts {
    let Metadata { written, created_at, updated_at, expires_at, .. } = metadata;
    let updated_at = updated_at.filter(|updated_at| created_at.is_some_and(|at| at < *updated_at));
    Facts { written: *written, updated_at, expires_at: *expires_at, ..Facts::default() }
}

/// Sorts the files into the order in which a search reads them. If the budget may be too small for
/// all files, the last changed come first, by the dates in the indexes.
fn in_order(
    store: &Store<'_>,
    mut files: Vec<(MemoryPath, Status)>,
    work: &Budget,
) -> Result<Vec<(MemoryPath, Status)>, Error> {
    let most = |(_, status): &(MemoryPath, Status)| OF_DOCUMENT + MAX_COST * status.size;
    if files.iter().map(most).sum::<u64>() <= work.left() {
        return Ok(files);
    }
    let mut changed = BTreeMap::new();
    let categories: BTreeSet<CategoryPath> =
        files.iter().map(|(path, _)| path.category()).collect();
    for category in &categories {
        // An index that cannot be read is ignored: it only affects the order.
        let Some((index, text)) = usable(store.index(category), &mut Vec::new())?.flatten() else {
            continue;
        };
        if !work.take(OF_DOCUMENT + YAML * text.text.len() as u64) {
            break;
        }
        let memories = index.memories();
        changed.extend(memories.map(|(slug, of)| (category.memory(slug), of.updated_at)));
    }
    files.sort_by_cached_key(|(path, _)| Reverse(changed.get(path).copied().flatten()));
    Ok(files)
}

/// Returns further words that find a memory: from its path, tags, title, aliases and citations.
fn about(path: &MemoryPath, metadata: &Metadata) -> String {
    let words = [&metadata.tags, &metadata.names, &metadata.citations].map(|of| of.join(" "));
    let words = words.join(" ");
    let mut about = format!("{} {words}", path.to_string().replace('/', " "));
    about.truncate(about.floor_char_boundary(MAX_ABOUT));
    about
}

/// Makes a search entry of a memory. For a memory longer than a page, the hit names a call that
/// reads from the found passage.
fn entry(store: &Store<'_>, path: &MemoryPath, memory: &Memory<'_>, read: &str) -> Entry {
    let context = store.call.context;
    let of_facts = Entry::from_facts(facts(&memory.metadata), &context.zone, context.now);
    let arguments = ReadArguments {
        store: Some(store.name.to_owned()),
        path: Some(path.to_string()),
        include_expired: Some(of_facts.is_archived),
        ..ReadArguments::default()
    };
    Entry {
        path: Some(path.to_string()),
        text: memory.content.to_owned(),
        about: about(path, &memory.metadata),
        is_read_from_passage: memory.content.chars().nth(DEFAULT_LIMIT as usize).is_some(),
        read: Some(ReadCall { tool: read.to_owned(), arguments }),
        ..of_facts
    }
}
