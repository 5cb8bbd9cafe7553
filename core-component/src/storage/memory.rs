//! Storage in memory: for the tests of the core and for the fastest runner of the conformance
//! suite. It keeps the rules of `wit/storage.wit` that the core can observe.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::{
    Change, CommitError, Document, Entry, EntryKind, Error, ErrorCode, Place, Side, Storage, Tree,
    Writer,
};

const MAX_DOCUMENT_BYTES: usize = 16 << 20;

type Documents = BTreeMap<(Side, String), Vec<u8>>;

/// Trees of documents that live as long as the value.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    places: RefCell<BTreeMap<Place, Documents>>,
    writing: Cell<bool>,
}

impl MemoryStorage {
    /// Storage that grants nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Grants a place, empty where it was not granted before.
    pub fn grant(&self, place: Place) {
        self.places.borrow_mut().entry(place).or_default();
    }

    /// Puts a document without any check, as a person with an editor would; grants the place.
    pub fn put(&self, place: &Place, side: Side, path: &str, contents: impl Into<Vec<u8>>) {
        let mut places = self.places.borrow_mut();
        places.entry(place.clone()).or_default().insert((side, path.into()), contents.into());
    }

    /// The documents of one side of a place, by path.
    pub fn documents(&self, place: &Place, side: Side) -> BTreeMap<String, Vec<u8>> {
        let places = self.places.borrow();
        let documents = places.get(place).into_iter().flatten();
        documents
            .filter(|((of, _), _)| *of == side)
            .map(|((_, path), contents)| (path.clone(), contents.clone()))
            .collect()
    }
}

/// The version of a document: the lower-case hexadecimal SHA-256 of its contents, as every host
/// with a file system computes it.
pub fn version_of(contents: &[u8]) -> String {
    Sha256::digest(contents).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Storage for MemoryStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        if !self.places.borrow().contains_key(place) {
            let message = format!("`{}` is not granted", place.name);
            return Err(Error::new(ErrorCode::NotGranted, message));
        }
        Ok(Box::new(MemoryTree { storage: self, place: place.clone() }))
    }
}

struct MemoryTree<'a> {
    storage: &'a MemoryStorage,
    place: Place,
}

impl MemoryTree<'_> {
    fn with<T>(&self, act: impl FnOnce(&mut Documents) -> T) -> T {
        act(self.storage.places.borrow_mut().get_mut(&self.place).expect("granted when opened"))
    }
}

impl Tree for MemoryTree<'_> {
    fn read(&self, side: Side, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        check_path(path)?;
        self.with(|documents| {
            let Some(contents) = documents.get(&(side, path.into())) else {
                return Ok(None);
            };
            if contents.len() as u64 > max_bytes {
                let message = format!("`{path}` is longer than {max_bytes} bytes");
                return Err(Error::new(ErrorCode::TooLarge, message));
            }
            Ok(Some(Document { contents: contents.clone(), version: version_of(contents) }))
        })
    }

    fn list(&self, side: Side, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        self.with(|documents| {
            let mut names = BTreeSet::new();
            let mut entries = Vec::new();
            for ((of, path), contents) in documents.iter() {
                let Some(rest) = path.strip_prefix(&prefix).filter(|_| *of == side) else {
                    continue;
                };
                let (name, kind, size) = match rest.split_once('/') {
                    Some((name, _)) => (name, EntryKind::Directory, 0),
                    None => (rest, EntryKind::File, contents.len() as u64),
                };
                if names.insert(name.to_owned()) {
                    entries.push(Entry { name: name.into(), kind, size });
                }
            }
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            Ok((!entries.is_empty()).then_some(entries))
        })
    }

    fn location(&self) -> String {
        self.place.name.clone()
    }

    fn lock(&self) -> Result<Box<dyn Writer + '_>, Error> {
        if self.storage.writing.replace(true) {
            return Err(Error::new(ErrorCode::Nested, "the call holds a writer already"));
        }
        Ok(Box::new(MemoryWriter { tree: self }))
    }
}

struct MemoryWriter<'a> {
    tree: &'a MemoryTree<'a>,
}

impl Drop for MemoryWriter<'_> {
    fn drop(&mut self) {
        self.tree.storage.writing.set(false);
    }
}

impl Writer for MemoryWriter<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<String>, CommitError> {
        self.tree.with(|documents| {
            for (index, change) in changes.iter().enumerate() {
                check(documents, change).map_err(|error| CommitError {
                    error,
                    change: Some(index as u32),
                    applied: 0,
                })?;
            }
            Ok(changes.iter().map(|change| apply(documents, change)).collect())
        })
    }
}

fn check(documents: &Documents, change: &Change) -> Result<(), Error> {
    let (side, path, expects) = match change {
        Change::Put { side, path, contents, expects } => {
            if contents.len() > MAX_DOCUMENT_BYTES {
                let message = format!("`{path}` would be longer than {MAX_DOCUMENT_BYTES} bytes");
                return Err(Error::new(ErrorCode::TooLarge, message));
            }
            (side, path, expects.as_ref())
        }
        Change::Delete { side, path, expects } => (side, path, Some(expects)),
    };
    check_path(path)?;
    let version = documents.get(&(*side, path.clone())).map(|contents| version_of(contents));
    if version.as_ref() != expects {
        let message = format!("`{path}` is not at the version that was read");
        return Err(Error::new(ErrorCode::VersionMismatch, message));
    }
    Ok(())
}

fn apply(documents: &mut Documents, change: &Change) -> String {
    match change {
        Change::Put { side, path, contents, .. } => {
            documents.insert((*side, path.clone()), contents.clone());
            version_of(contents)
        }
        Change::Delete { side, path, .. } => {
            documents.remove(&(*side, path.clone()));
            String::new()
        }
    }
}

fn check_path(path: &str) -> Result<(), Error> {
    let sound = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains('\\');
    if path.split('/').all(sound) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidPath, format!("`{path}` is not a path of a document")))
}
