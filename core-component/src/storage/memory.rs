//! Storage in memory: for the tests of the core and for the fastest runner of the conformance
//! suite. It keeps the rules of `wit/storage.wit` that the core can observe.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::database::Connection;
use super::{
    Change, CommitError, Document, Entry, EntryKind, Error, ErrorCode, MAX_DOCUMENT_BYTES, Place,
    Side, Splice, Storage, Tree, Writer,
};

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

    fn open_database(&self, name: &str, _create: bool) -> Result<Box<dyn Connection + '_>, Error> {
        let message = format!("the database `{name}` is not granted: this storage keeps none");
        Err(Error::new(ErrorCode::NotGranted, message))
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
            let mut effects = Vec::new();
            for (index, change) in changes.iter().enumerate() {
                let checked = check_consistent(changes, index);
                let effect = checked.and_then(|()| effect(documents, change));
                effects.push(effect.map_err(|error| CommitError {
                    error,
                    change: Some(index as u32),
                    applied: 0,
                })?);
            }
            Ok(effects.into_iter().map(|effect| apply(documents, effect)).collect())
        })
    }
}

/// Refuses a change of a path that another one writes too, or below one that another writes.
fn check_consistent(changes: &[Change], index: usize) -> Result<(), Error> {
    let (side, path, _) = target(&changes[index]);
    for (other, change) in changes.iter().enumerate() {
        let (of, at, is_written) = target(change);
        let is_twice = other < index && at == path;
        let is_below =
            is_written && path.strip_prefix(at).is_some_and(|rest| rest.starts_with('/'));
        if of == side && (is_twice || is_below) {
            let message = format!("`{path}` and `{at}` cannot both be changed in one commit");
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
    }
    Ok(())
}

/// The path that a change writes or deletes, and whether it writes.
fn target(change: &Change) -> (Side, &str, bool) {
    match change {
        Change::Put { side, path, .. } | Change::Edit { side, path, .. } => (*side, path, true),
        Change::Delete { side, path, .. } => (*side, path, false),
        Change::Copy { side, to, .. } => (*side, to, true),
    }
}

/// What a change leaves at a path: contents, or none.
type Effect = ((Side, String), Option<Vec<u8>>);

/// Checks a change against the documents before the commit.
fn effect(documents: &Documents, change: &Change) -> Result<Effect, Error> {
    let (side, path, checked, expects) = match change {
        Change::Put { side, path, expects, .. } => (side, path, path, expects.as_ref()),
        Change::Edit { side, path, expects, .. } | Change::Delete { side, path, expects } => {
            (side, path, path, Some(expects))
        }
        Change::Copy { side, from, to, expects } => (side, to, from, Some(expects)),
    };
    check_path(path)?;
    check_path(checked)?;
    let before = documents.get(&(*side, checked.clone()));
    let mismatch = || {
        let message = format!("`{checked}` is not at the version that was read");
        Error::new(ErrorCode::VersionMismatch, message)
    };
    let fits = |contents: Option<&Vec<u8>>| match contents {
        Some(contents) if contents.len() as u64 > MAX_DOCUMENT_BYTES => {
            let message = format!("`{path}` would be longer than {MAX_DOCUMENT_BYTES} bytes");
            Err(Error::new(ErrorCode::TooLarge, message))
        }
        _ => Ok(()),
    };
    match change {
        Change::Put { contents, .. } => fits(Some(contents))?,
        Change::Edit { .. } | Change::Copy { .. } => fits(before)?,
        Change::Delete { .. } => {}
    }
    if before.map(|contents| version_of(contents)).as_ref() != expects {
        return Err(mismatch());
    }
    let contents = match change {
        Change::Put { contents, .. } => Some(contents.clone()),
        Change::Edit { splices, .. } => {
            let before = before.ok_or_else(mismatch)?;
            Some(Splice::all(splices, before).ok_or_else(mismatch)?)
        }
        Change::Delete { .. } => None,
        Change::Copy { .. } => before.cloned(),
    };
    fits(contents.as_ref())?;
    Ok(((*side, path.clone()), contents))
}

fn apply(documents: &mut Documents, (document, contents): Effect) -> String {
    let Some(contents) = contents else {
        documents.remove(&document);
        return String::new();
    };
    let version = version_of(&contents);
    documents.insert(document, contents);
    version
}

fn check_path(path: &str) -> Result<(), Error> {
    let sound = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains('\\');
    if path.split('/').all(sound) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidPath, format!("`{path}` is not a path of a document")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    #[test]
    fn a_path_that_is_changed_twice_or_below_a_written_one_is_refused() {
        let put = |path: &str| Change::Put {
            side: Side::Documents,
            path: path.into(),
            contents: b"new".to_vec(),
            expects: None,
        };
        let place = Place::repository("/repo");
        let storage = MemoryStorage::new();
        storage.grant(place.clone());
        let tree = storage.open(&place).unwrap();
        let writer = tree.lock().unwrap();
        for (changes, refused) in
            [([put("a"), put("a")], 1), ([put("a"), put("a/b")], 1), ([put("a/b/c"), put("a")], 0)]
        {
            let failed = writer.commit(&changes).unwrap_err();
            assert_eq!(failed.error.code, ErrorCode::InvalidPath);
            assert_eq!((failed.change, failed.applied), (Some(refused), 0));
            assert!(storage.documents(&place, Side::Documents).is_empty());
        }
        writer.commit(&[put("a/b"), put("a/bc")]).unwrap();
    }

    #[test]
    fn an_edit_changes_what_its_splices_say_and_refuses_those_that_do_not_fit() {
        let place = Place::repository("/repo");
        let edited = |splices: &[(Range<usize>, &str)]| {
            let storage = MemoryStorage::new();
            storage.put(&place, Side::Documents, "a", "0123456789");
            let splice = |(range, text): &(Range<usize>, &str)| Splice {
                range: range.clone(),
                inserts: text.as_bytes().to_vec(),
            };
            let edit = Change::Edit {
                side: Side::Documents,
                path: "a".into(),
                splices: splices.iter().map(splice).collect(),
                expects: version_of(b"0123456789"),
            };
            let committed = storage.open(&place).unwrap().lock().unwrap().commit(&[edit]);
            let after = storage.documents(&place, Side::Documents).remove("a").unwrap();
            committed.map(|_| String::from_utf8(after).unwrap()).map_err(|failed| failed.error.code)
        };
        assert_eq!(edited(&[]).as_deref(), Ok("0123456789"));
        assert_eq!(
            edited(&[(0..0, "a"), (0..3, ""), (4..5, "bc"), (10..10, "d")]).as_deref(),
            Ok("a3bc56789d")
        );
        #[allow(clippy::reversed_empty_ranges, reason = "they have to be refused")]
        for unfit in [
            vec![(5..11, "")],
            vec![(2..4, ""), (3..5, "")],
            vec![(4..4, ""), (3..3, "")],
            vec![(4..3, "")],
        ] {
            assert_eq!(edited(&unfit), Err(ErrorCode::VersionMismatch));
        }
    }

    #[test]
    fn a_backup_is_what_stood_there_before_the_commit_wherever_in_it_the_copy_stands() {
        let place = Place::repository("/repo");
        let copy = || Change::Copy {
            side: Side::Documents,
            from: "a.json".into(),
            to: "a.json.backup".into(),
            expects: version_of(b"old"),
        };
        let put = || Change::Put {
            side: Side::Documents,
            path: "a.json".into(),
            contents: b"new".to_vec(),
            expects: Some(version_of(b"old")),
        };
        for changes in [[copy(), put()], [put(), copy()]] {
            let storage = MemoryStorage::new();
            storage.put(&place, Side::Documents, "a.json", "old");
            storage.put(&place, Side::Documents, "a.json.backup", "older");
            let tree = storage.open(&place).unwrap();
            let writer = tree.lock().unwrap();
            writer.commit(&changes).unwrap();
            let documents = storage.documents(&place, Side::Documents);
            assert_eq!(documents["a.json"], b"new");
            assert_eq!(documents["a.json.backup"], b"old");
            let failed = writer.commit(&changes).unwrap_err();
            assert_eq!(failed.error.code, ErrorCode::VersionMismatch);
        }
    }
}
