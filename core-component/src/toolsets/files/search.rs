//! The files as entries of a search. Files belong to no agent and have no date.

use super::error::Error;
use super::path::FilePath;
use super::place::{LABEL, collection};
use super::tree::{Files, Text};
use super::walk::{Walk, Which};
use crate::budget::{OF_DOCUMENT, OF_INDEXED};
use crate::error::ReadError;
use crate::index::{self, DocumentIndex, Facts, number_of};
use crate::ranking::cost;
use crate::source::{
    Collector, DocumentKey, Entry, OwnedCollection, Owner, ReadArguments, ReadCall, ReadDocuments,
    ReadEntries, read_paths,
};
use crate::storage::Place;
use crate::tool::{Call, Checked, Source};

pub(super) const SOURCE: Source =
    Source { toolset: "files", keeps_by_agent: false, collect, read, collections };

/// Returns the collections that a search of this caller uses.
fn collections(call: &Call<'_>) -> Checked<Vec<OwnedCollection>> {
    let collection = |(_, agent): (FilePath, Option<&str>)| OwnedCollection {
        owner: owner(),
        place: Place::named(LABEL),
        name: collection(agent),
    };
    Ok(Files::open(call)?.roots().into_iter().map(collection).collect())
}

/// Adds the files that the caller may use.
fn collect(call: &Call<'_>, collector: &mut Collector<'_>) -> Checked<()> {
    Ok(add(&Files::open(call)?, collector)?)
}

pub(super) fn owner() -> Owner {
    Owner::new("files")
}

fn add(files: &Files<'_>, collector: &mut Collector<'_>) -> Result<(), Error> {
    if !collector.request.is_for(&owner()) {
        return Ok(());
    }
    collector.begin(owner());
    let mut skipped = 0;
    for (root, agent) in files.roots() {
        skipped += add_below(files, &root, &collection(agent), collector)?;
    }
    collector.skip_some(owner(), skipped, "file", "files");
    Ok(())
}

/// Adds the files below a directory, which is one collection of the index. Returns how many files
/// were skipped because the budget was used up.
fn add_below(
    files: &Files<'_>,
    root: &FilePath,
    collection: &str,
    collector: &mut Collector<'_>,
) -> Result<u64, Error> {
    let request = collector.request;
    let work = &request.budget;
    let place = Place::named(LABEL);
    let mut index = DocumentIndex::open(files.call.storage, place, collection, request.for_index());
    let Walk { files: found, left, .. } = Walk::new(files, root, Which::Visible)?;
    let is_whole = left.is_empty();
    for error in left {
        collector.warn(format!("memory files: {}", error.message()));
    }
    let mut skipped = 0;
    for (path, status) in found {
        let key = files.at(&path)?;
        if let Some(known) = index.find(&key, &status) {
            if !work.take(OF_INDEXED) {
                skipped += 1;
                continue;
            }
            collector.begin_run();
            collector.add_known(path.to_string(), &index, known);
            continue;
        }
        // Searching a text takes at least as much work as the text has bytes.
        if OF_DOCUMENT + status.size > work.left() {
            skipped += 1;
            continue;
        }
        let text = match files.text(&path) {
            Ok(None) => continue,
            Ok(Some(text)) => text,
            Err(ReadError::Unusable(error)) => {
                collector.warn(format!("memory files: {}", error.message()));
                continue;
            }
            Err(ReadError::Other(error)) => return Err(error),
        };
        let entry = entry(files, &path, &text);
        let of_file = entry.texts().iter().map(|text| cost(text)).sum();
        if !work.take(OF_DOCUMENT + of_file) {
            skipped += 1;
            continue;
        }
        let document = index::Document {
            key: &key,
            stamp: &status.stamp,
            version: &text.version,
            facts: Facts::default(),
            work: of_file,
        };
        let texts = entry.texts().to_vec();
        index.add(&document, [index::Entry { texts, begins_run: true }].into_iter());
        collector.begin_run();
        collector.add_read(entry, &index);
    }
    index.update(is_whole);
    Ok(skipped)
}

/// Reads the files with these keys, for hits from an index.
fn read(call: &Call<'_>, _: &Owner, keys: &[&DocumentKey]) -> Checked<ReadDocuments> {
    let files = Files::open(call)?;
    let read = |path: &str| -> Result<Option<ReadEntries>, Error> {
        let Ok(path) = FilePath::parse(path, "path") else { return Ok(None) };
        Ok(files.text(&path)?.map(|text| ReadEntries {
            version: number_of(&text.version),
            entries: vec![entry(&files, &path, &text)],
        }))
    };
    Ok(read_paths(keys, read)?)
}

/// Makes a search entry of a file. Words of the path find it, too.
fn entry(files: &Files<'_>, path: &FilePath, text: &Text) -> Entry {
    let arguments = ReadArguments { path: Some(path.to_string()), ..ReadArguments::default() };
    let tool = files.call.listed("files", "view_memory_file");
    Entry {
        path: Some(path.to_string()),
        text: text.text.strip_prefix('\u{feff}').unwrap_or(&text.text).to_owned(),
        about: path.below_root().replace('/', " "),
        read: Some(ReadCall { tool, arguments }),
        ..Entry::default()
    }
}
