//! Documents in memory. They follow all rules of `wit/storage` that the core can observe. A lock may be
//! limited to a scope, a part of the place, as on a database server for many agents. Storage that is
//! like a server also releases a lock at each commit, and takes it anew for the next one. Its commits
//! are atomic, rows and documents together.

mod commit;
mod lock;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};

use agent_memory_storage::database::{Connection, Kind};
use agent_memory_storage::{
    Area, Change, CommitError, Document, Documents, Entry, EntryKind, Error, ErrorCode, Place,
    Status, Storage, Tree, Writer, version_of,
};

use self::commit::{Contents, check_path, commit};
use self::lock::Locks;
use super::mutex::locked;

pub use self::lock::Lock;

/// Trees of documents in memory, for one call at a time.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    shared: Arc<Shared>,
    call: Mutex<Call>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Whether the storage behaves like a database server: see `like_a_server`.
    is_server: bool,
    places: Mutex<BTreeMap<Place, Contents>>,
    /// The labels of families.
    families: Mutex<BTreeSet<String>>,
    locks: Arc<Locks>,
}

/// The state of a call: its lock, its writer and its transaction.
#[derive(Debug, Default)]
struct Call {
    /// The place that the call locked first. It may lock no other.
    place: Option<Place>,
    lock: Weak<Lock>,
    has_writer: bool,
    /// Whether the call has a write transaction, in storage like a server.
    transacts: bool,
    /// The commits of documents that become part of that transaction.
    joined: Vec<Vec<Change>>,
}

impl MemoryStorage {
    /// Storage that grants nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Storage that grants nothing yet, and behaves like a database server. A commit releases the lock,
    /// and the next commit takes it anew. Each commit is atomic. Documents that a call commits during a
    /// transaction on rows become part of the transaction.
    pub fn like_a_server() -> Self {
        let shared = Shared { is_server: true, ..Shared::default() };
        Self { shared: Arc::new(shared), call: Mutex::default() }
    }

    pub(super) fn is_server(&self) -> bool {
        self.shared.is_server
    }

    /// The same storage, for a call that runs at the same time.
    pub fn another(&self) -> Self {
        Self { shared: self.shared.clone(), call: Mutex::default() }
    }

    /// Begins another call.
    pub fn begin_call(&self) {
        *locked(&self.call) = Call::default();
    }

    /// Grants a place. A new place is empty.
    pub fn grant(&self, place: Place) {
        locked(&self.shared.places).entry(place).or_default();
    }

    /// Grants a family, which is a group of named places: existing places, and places that calls
    /// create.
    pub fn grant_family(&self, label: impl Into<String>) {
        locked(&self.shared.families).insert(label.into());
    }

    /// Puts a document without any check, like a person with an editor. Grants the place too.
    pub fn put(&self, place: &Place, area: Area, path: &str, contents: impl Into<Vec<u8>>) {
        let mut places = locked(&self.shared.places);
        places.entry(place.clone()).or_default().insert((area, path.into()), contents.into());
    }

    /// Removes a document without any check, like [`put`](Self::put).
    pub fn remove(&self, place: &Place, area: Area, path: &str) {
        let mut places = locked(&self.shared.places);
        places.entry(place.clone()).or_default().remove(&(area, path.into()));
    }

    /// The documents of one area of a place, by path.
    pub fn documents(&self, place: &Place, area: Area) -> BTreeMap<String, Vec<u8>> {
        let places = locked(&self.shared.places);
        let documents = places.get(place).into_iter().flatten();
        documents
            .filter(|((of, _), _)| *of == area)
            .map(|((_, path), contents)| (path.clone(), contents.clone()))
            .collect()
    }

    /// The lock for a write transaction in a place. If the call has a writer, this is the writer's
    /// lock.
    ///
    /// # Errors
    ///
    /// `nested` if the call holds the lock of another place; `busy`.
    pub fn lock_for_transaction(
        &self,
        place: &Place,
        scope: Option<&str>,
    ) -> Result<Arc<Lock>, Error> {
        let mut call = locked(&self.call);
        check_place(&call, place)?;
        let lock = match call.lock.upgrade() {
            Some(lock) => {
                lock.ensure()?;
                lock
            }
            None => self.acquire(&mut call, place, scope)?,
        };
        call.transacts = self.is_server();
        Ok(lock)
    }

    /// Makes the changes of documents that are committed with a transaction.
    pub(super) fn commit_joined(&self) {
        let mut call = locked(&self.call);
        let joined = std::mem::take(&mut call.joined);
        let lock = call.lock.upgrade();
        for (changes, lock) in joined.iter().zip(lock.iter().cycle()) {
            let mut places = locked(&self.shared.places);
            let documents = places.get_mut(&lock.wanted.0).expect("granted when opened");
            commit(documents, changes).expect("they were checked under the lock");
            lock.note(changes);
        }
    }

    /// Ends the transaction of the call, and drops the changes of documents that were not committed
    /// with it.
    pub(super) fn drop_joined(&self) {
        let mut call = locked(&self.call);
        call.transacts = false;
        call.joined.clear();
    }

    fn lock_for_writer(&self, place: &Place, scope: Option<&str>) -> Result<Arc<Lock>, Error> {
        let mut call = locked(&self.call);
        check_place(&call, place)?;
        if call.lock.upgrade().is_some() {
            let message = if call.has_writer {
                "the call holds a writer already: a call takes at most one"
            } else {
                "the call has a write transaction: it takes its writer before"
            };
            return Err(Error::new(ErrorCode::Nested, message));
        }
        let lock = self.acquire(&mut call, place, scope)?;
        call.has_writer = true;
        Ok(lock)
    }

    fn acquire(
        &self,
        call: &mut Call,
        place: &Place,
        scope: Option<&str>,
    ) -> Result<Arc<Lock>, Error> {
        let wanted = (place.clone(), scope.map(str::to_owned));
        self.shared.locks.take(&wanted)?;
        let lock =
            Arc::new(Lock { locks: self.shared.locks.clone(), wanted, is_held: Mutex::new(true) });
        (call.place, call.lock) = (Some(place.clone()), Arc::downgrade(&lock));
        Ok(lock)
    }
}

fn check_place(call: &Call, place: &Place) -> Result<(), Error> {
    match &call.place {
        Some(locked) if locked != place && call.lock.strong_count() > 0 => {
            let message = "the call holds the lock of another place: a call holds one at a time";
            Err(Error::new(ErrorCode::Nested, message))
        }
        _ => Ok(()),
    }
}

impl Storage for MemoryStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        if locked(&self.shared.places).contains_key(place) {
            return Ok(Box::new(MemoryTree { storage: self, place: place.clone() }));
        }
        Err(match place {
            Place::Named { label, name } if locked(&self.shared.families).contains(label) => {
                Error::new(ErrorCode::NotFound, format!("there is no place `{name}`"))
            }
            Place::Repository(name) | Place::Named { label: name, .. } => not_granted(name),
        })
    }

    fn list_repositories(&self) -> Result<Vec<String>, Error> {
        let places = locked(&self.shared.places);
        let top_level = |place: &Place| match place {
            Place::Repository(top_level) => Some(top_level.clone()),
            Place::Named { .. } => None,
        };
        Ok(places.keys().filter_map(top_level).collect())
    }

    fn list_places(&self, label: &str) -> Result<Vec<String>, Error> {
        if !locked(&self.shared.families).contains(label) {
            return Err(not_granted(label));
        }
        let places = locked(&self.shared.places);
        let name = |place: &Place| match place {
            Place::Named { label: of, name } if of == label => Some(name.clone()),
            _ => None,
        };
        Ok(places.keys().filter_map(name).collect())
    }

    fn create_place(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        let Place::Named { label, name } = place else {
            return Err(not_granted("a repository"));
        };
        if self.list_places(label)?.contains(name) {
            let message = format!("the place `{name}` is registered already");
            return Err(Error::new(ErrorCode::AlreadyExists, message));
        }
        self.grant(place.clone());
        self.open(place)
    }

    fn open_database(
        &self,
        _: &Place,
        name: &str,
        _: Kind,
        _: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        let message = format!("the database `{name}` is not granted: this storage keeps none");
        Err(Error::new(ErrorCode::NotGranted, message))
    }
}

fn not_granted(name: &str) -> Error {
    Error::new(ErrorCode::NotGranted, format!("`{name}` is not granted"))
}

struct MemoryTree<'a> {
    storage: &'a MemoryStorage,
    place: Place,
}

impl MemoryTree<'_> {
    /// Calls `act` with the documents, including the changes of the call's open transaction.
    fn with<T>(&self, act: impl FnOnce(&Contents) -> T) -> T {
        let call = locked(&self.storage.call);
        let places = locked(&self.storage.shared.places);
        let documents = places.get(&self.place).expect("granted when opened");
        if call.joined.is_empty() || call.place.as_ref() != Some(&self.place) {
            return act(documents);
        }
        let mut documents = documents.clone();
        for changes in &call.joined {
            commit(&mut documents, changes).expect("they were checked under the lock");
        }
        act(&documents)
    }
}

impl Documents for MemoryTree<'_> {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        check_path(path)?;
        self.with(|documents| {
            if let Some(contents) = documents.get(&(area, path.into())) {
                return Ok(Some(status_of(contents)));
            }
            let below = format!("{path}/");
            let mut paths = documents.keys();
            let is_directory = paths.any(|(of, path)| *of == area && path.starts_with(&below));
            Ok(is_directory.then_some(DIRECTORY))
        })
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        check_path(path)?;
        self.with(|documents| {
            let Some(contents) = documents.get(&(area, path.into())) else {
                return Ok(None);
            };
            if contents.len() as u64 > max_bytes {
                let size = contents.len();
                let message = format!(
                    "`{path}` is longer than {max_bytes} bytes (it has {size}): shorten it, or split it"
                );
                return Err(Error::new(ErrorCode::TooLarge, message));
            }
            Ok(Some(Document { contents: contents.clone(), version: version_of(contents) }))
        })
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        self.with(|documents| {
            let mut names = BTreeSet::new();
            let mut entries = Vec::new();
            for ((of, path), contents) in documents.iter() {
                let Some(rest) = path.strip_prefix(&prefix).filter(|_| *of == area) else {
                    continue;
                };
                let (name, status) = match rest.split_once('/') {
                    Some((name, _)) => (name, DIRECTORY),
                    None => (rest, status_of(contents)),
                };
                if names.insert(name.to_owned()) {
                    entries.push(Entry { name: name.into(), status });
                }
            }
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            Ok((!entries.is_empty()).then_some(entries))
        })
    }
}

impl Tree for MemoryTree<'_> {
    fn location(&self) -> String {
        match &self.place {
            Place::Repository(top_level) => format!("{top_level}/.github/agent-memory"),
            Place::Named { label, name } if name.is_empty() => format!("/{label}"),
            Place::Named { label, name } => format!("/{label}/{name}"),
        }
    }

    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error> {
        let lock = self.storage.lock_for_writer(&self.place, scope)?;
        Ok(Box::new(MemoryWriter { tree: self, lock }))
    }

    fn has_atomic_commits(&self) -> bool {
        self.storage.is_server()
    }
}

const DIRECTORY: Status = Status { kind: EntryKind::Directory, size: 0, stamp: String::new() };

fn status_of(contents: &[u8]) -> Status {
    Status { kind: EntryKind::File, size: contents.len() as u64, stamp: version_of(contents) }
}

struct MemoryWriter<'a> {
    tree: &'a MemoryTree<'a>,
    lock: Arc<Lock>,
}

impl Drop for MemoryWriter<'_> {
    fn drop(&mut self) {
        locked(&self.tree.storage.call).has_writer = false;
    }
}

impl Writer for MemoryWriter<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        let storage = self.tree.storage;
        let none = |error| CommitError { error, change: None, applied: 0 };
        self.lock.ensure().map_err(none)?;
        if locked(&storage.call).transacts {
            let versions = self.tree.with(|documents| commit(&mut documents.clone(), changes))?;
            locked(&storage.call).joined.push(changes.to_vec());
            return Ok(versions);
        }
        let mut places = locked(&storage.shared.places);
        let documents = places.get_mut(&self.tree.place).expect("granted when opened");
        let versions = commit(documents, changes);
        if storage.is_server() {
            if versions.is_ok() {
                self.lock.note(changes);
            }
            drop(places);
            self.lock.release();
        }
        versions
    }
}

#[cfg(test)]
mod tests;
