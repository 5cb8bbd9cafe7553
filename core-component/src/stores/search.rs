//! The memories of the stores, as entries of a search.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::error::Error;
use super::get_memory::DEFAULT_LIMIT;
use super::memory::{Memory, Metadata, Written};
use super::path::{CategoryPath, MemoryPath};
use super::place::LABEL;
use super::store::{ReadError, Store, names, usable};
use super::walk::{Files, files};
use crate::document_index::{self, DocumentIndex, Part};
use crate::markdown::chunks;
use crate::names::StoreName;
use crate::page::count;
use crate::ranking::{MAX_COST, cost};
use crate::source::{Entries, Entry, Owner, ReadArguments, ReadCall, ReadEntries};
use crate::storage::{Place, Status};
use crate::time::{Date, Timestamp};
use crate::tool::{Call, Checked, Source};
use crate::work::{OF_DOCUMENT, OF_INDEXED, Work};

/// A longer memory is searched in parts of about so many bytes.
const PART: usize = 1_500;

/// The most bytes of a memory's path, tags and names that count for each part.
const MAX_ABOUT: usize = 4 << 10;

/// The work to read a byte of an index of a category.
const YAML: u64 = 1;

pub(super) const SOURCE: Source =
    Source { toolset: "stores", collect, read: |call, owner, path| Ok(read(call, owner, path)?) };

/// Adds the memories of all stores that the caller may use. They belong to no agent.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let read = call.listed("stores", "get_memory");
    let names = names(call)?;
    let (work, count) = (&entries.request.work, names.len());
    let whole = work.share();
    for (at, name) in names.iter().enumerate() {
        work.begin(whole, count - at);
        let Some(name) = StoreName::parse(name) else {
            let name = name.escape_debug();
            entries
                .warn(format!("store `{name}` was not searched: register it under a valid name"));
            continue;
        };
        let added = Store::open(call, &name).and_then(|store| {
            if work.take(OF_DOCUMENT) {
                return add(call, &store, &read, entries);
            }
            entries.skip(owner(&store), "all memories");
            Ok(())
        });
        if let Err(error) = added {
            let name = name.as_str();
            entries.warn(format!("store `{name}` was not searched: {}", error.message()));
        }
    }
    Ok(())
}

fn owner(store: &Store<'_>) -> Owner {
    Owner { toolset: "stores", store: Some(store.name.to_owned()), ..Owner::default() }
}

fn add(
    call: &Call<'_>,
    store: &Store<'_>,
    read: &str,
    entries: &mut Entries<'_>,
) -> Result<(), Error> {
    entries.begin(owner(store));
    let request = entries.request;
    let work = &request.work;
    let place = Place::of_family(LABEL, store.name);
    let mut index = DocumentIndex::open(call, place, request);
    let (mut to_read, mut skipped) = (Vec::new(), 0);
    let Files { files, warnings } = files(store)?;
    for warning in warnings {
        entries.warn(format!("store `{}`: {warning}", store.name));
    }
    for (path, status) in files {
        let indexed = index.find(&path.file(), &status);
        match indexed.and_then(|indexed| Some((Facts::parse(&indexed.facts)?, indexed))) {
            Some(_) if !work.take(OF_INDEXED) => skipped += 1,
            Some((facts, indexed)) => {
                let entry = |_| facts.entry(call);
                entries.add_indexed(path.to_string(), indexed, entry);
            }
            None => to_read.push((path, status)),
        }
    }
    for (path, status) in in_order(store, to_read, work)? {
        // A text has no less work than bytes.
        if OF_DOCUMENT + status.size > work.left() {
            skipped += 1;
            continue;
        }
        let found = store.read_in_part(&path, |memory, text, damage| {
            let number = 1 + 2 * memory.content.len() / PART;
            let about = number as u64 * cost(&about(&path, &memory.metadata));
            let of_parts = cost(&text.text) + about;
            work.take(OF_DOCUMENT + of_parts).then(|| {
                let parts = parts(store, &path, &memory, read);
                let document = document_index::Document {
                    path: &path.file(),
                    status: &status,
                    version: &text.version,
                    work: of_parts,
                    facts: Facts::of(&memory.metadata).text(),
                };
                // Each search reads a damaged memory again, so that each warns of it.
                if damage.is_none() {
                    index.add(document, parts.iter().enumerate().map(indexed_part));
                }
                (parts, damage)
            })
        });
        match found {
            Ok(None) => {}
            Ok(Some(None)) => skipped += 1,
            Ok(Some(Some((parts, damage)))) => {
                if let Some(error) = damage {
                    entries.warn(format!("store `{}`: {}", store.name, error.message()));
                }
                entries.begin_run();
                parts.into_iter().for_each(|part| entries.add(part));
            }
            Err(ReadError::Unusable(error)) => {
                entries.warn(format!("store `{}`: {}", store.name, error.message()));
            }
            Err(ReadError::Other(error)) => return Err(error),
        }
    }
    entries.skip_some(owner(store), skipped, "memory", "memories");
    index.update(|_| true);
    Ok(())
}

/// Reads the parts of a memory again.
fn read(call: &Call<'_>, owner: &Owner, path: &str) -> Result<Option<ReadEntries>, Error> {
    let name = owner.store.as_deref().and_then(StoreName::parse);
    let (Some(name), Ok(path)) = (name, MemoryPath::parse(path)) else { return Ok(None) };
    let store = Store::open(call, &name)?;
    let tool = call.listed("stores", "get_memory");
    Ok(store.read(&path, |memory, text| ReadEntries {
        version: text.version.clone(),
        entries: parts(&store, &path, &memory, &tool),
    })?)
}

/// A part as the index of documents knows it.
fn indexed_part((at, part): (usize, &Entry)) -> Part {
    Part { texts: [part.text.clone(), part.about.clone()], begins_run: at == 0 }
}

/// The moments of a memory, which the index of documents keeps: when it was written, and from when on
/// it has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    written: Option<Written>,
    expires_at: Option<Timestamp>,
}

impl Facts {
    fn of(metadata: &Metadata) -> Self {
        Self { written: metadata.written, expires_at: metadata.expires_at }
    }

    /// As text: both in milliseconds, or the day, with a comma between them.
    fn text(self) -> String {
        let text = |moment: Timestamp| moment.milliseconds().to_string();
        let written = match self.written {
            Some(Written::At(moment)) => text(moment),
            Some(Written::On(day)) => day.to_string(),
            None => String::new(),
        };
        format!("{written},{}", self.expires_at.map(text).unwrap_or_default())
    }

    fn parse(text: &str) -> Option<Self> {
        let moment = |text: &str| match text {
            "" => Some(None),
            _ => Timestamp::from_milliseconds(text.parse().ok()?).map(Some),
        };
        let (written, expires_at) = text.split_once(',')?;
        let written = match Date::parse(written) {
            Some(day) => Some(Written::On(day)),
            None => moment(written)?.map(Written::At),
        };
        Some(Self { written, expires_at: moment(expires_at)? })
    }

    /// What the ranking needs of each part.
    fn entry(self, call: &Call<'_>) -> Entry {
        let (created_at, day) = match self.written {
            Some(Written::At(moment)) => (Some(moment), None),
            Some(Written::On(day)) => (Some(call.context.zone.start_of(day)), Some(day)),
            None => (None, None),
        };
        let is_archived = self.expires_at.is_some_and(|expires_at| expires_at <= call.context.now);
        Entry { created_at, day, is_archived, ..Entry::default() }
    }
}

/// The order in which files are read. If there may be too little work left for all of them, those
/// that were changed last come first, as far as the indexes of the categories say.
fn in_order(
    store: &Store<'_>,
    mut files: Vec<(MemoryPath, Status)>,
    work: &Work,
) -> Result<Vec<(MemoryPath, Status)>, Error> {
    let most = |(_, status): &(MemoryPath, Status)| OF_DOCUMENT + MAX_COST * status.size;
    if files.iter().map(most).sum::<u64>() <= work.left() {
        return Ok(files);
    }
    let mut changed = BTreeMap::new();
    let categories: BTreeSet<CategoryPath> =
        files.iter().map(|(path, _)| path.category()).collect();
    for category in &categories {
        // An index that cannot be read says nothing.
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

/// The words of its path, its tags, its title and its aliases, by which each part of a memory is found,
/// too.
fn about(path: &MemoryPath, metadata: &Metadata) -> String {
    let words = [metadata.tags.join(" "), metadata.names.join(" ")].join(" ");
    let mut about = format!("{} {words}", path.to_string().replace('/', " "));
    about.truncate(about.floor_char_boundary(MAX_ABOUT));
    about
}

/// A place in the content of a memory.
struct Position {
    at: usize,
    characters: usize,
}

impl Position {
    /// Moves past the next part of the content. Returns how many characters are before the part.
    fn move_past(&mut self, content: &str, part: &str) -> usize {
        let rest = &content[self.at..];
        let skipped = &rest[..rest.find(part).unwrap_or_default()];
        let begin = self.characters + count(skipped);
        self.at += skipped.len() + part.len();
        self.characters = begin + count(part);
        begin
    }
}

/// The parts of a memory. If it is longer than a page, each is read from its beginning on.
fn parts(store: &Store<'_>, path: &MemoryPath, memory: &Memory<'_>, read: &str) -> Vec<Entry> {
    let metadata = &memory.metadata;
    let entry = Facts::of(metadata).entry(store.call);
    let arguments = ReadArguments {
        store: Some(store.name.to_owned()),
        path: Some(path.to_string()),
        include_expired: Some(entry.is_archived),
        ..ReadArguments::default()
    };
    let about = about(path, metadata);
    let content = memory.content;
    let is_long = content.chars().nth(DEFAULT_LIMIT as usize).is_some();
    let mut position = Position { at: 0, characters: 0 };
    let mut read_call = |text: &str| {
        let from = Some(position.move_past(content, text)).filter(|from| is_long && *from > 0);
        ReadCall { tool: read.to_owned(), arguments: ReadArguments { from, ..arguments.clone() } }
    };
    let part = |text: &str| Entry {
        path: Some(path.to_string()),
        text: text.to_owned(),
        about: about.clone(),
        read: Some(read_call(text)),
        ..entry.clone()
    };
    chunks(memory.content, PART).into_iter().map(part).collect()
}
