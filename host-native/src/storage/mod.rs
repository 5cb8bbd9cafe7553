//! Granted places with their documents and databases: the native implementation of `wit/storage`,
//! without WebAssembly. This module has the grants, wait queues and timeouts. The crates in
//! `storage/` have the rest.
//!
//! A [`Storage`] holds the grants. It [opens](Storage::open) a [`Place`] as a [`Tree`] to read.
//! [`Tree::lock`] returns a [`Writer`], which changes the tree. A tree also opens the
//! [databases](Tree::open_database) of its place, which a [`Transaction`] changes.
//!
//! The functions that wait for a lock are async. Between their waits they block on the file system,
//! like all other functions. So an async caller runs them on a thread for blocking work:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use agent_memory_host::storage::api::{Documents, Writer};
//! use agent_memory_host::storage::{Area, Change, LockTimeout, Place, Storage, StorageOptions};
//!
//! # let repository = tempfile::tempdir()?;
//! let storage = Storage::new(StorageOptions::default());
//! storage.grant(repository.path())?;
//! let tree = storage.open(&Place::repository(repository.path().to_str().unwrap()), &[])?;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! let writer = runtime.block_on(tree.lock(LockTimeout::new(storage.options().lock_wait)))?;
//! let versions = writer.commit(&[Change::Put {
//!     area: Area::Documents,
//!     path: "aristotle/notes.md".into(),
//!     contents: b"so far\n".to_vec(),
//!     expects: None,
//! }])?;
//! drop(writer);
//!
//! let document = tree.read(Area::Documents, "aristotle/notes.md", 1024)?.unwrap();
//! assert_eq!((document.contents.as_slice(), &document.version), (&b"so far\n"[..], versions[0].as_ref().unwrap()));
//! # Ok(())
//! # }
//! ```

#[cfg(test)]
mod commit_tests;
mod database;
#[cfg(test)]
mod database_tests;
mod family;
#[cfg(test)]
mod family_tests;
#[cfg(test)]
mod file_tests;
#[cfg(any(feature = "cli", feature = "http"))]
mod layout_lock;
#[cfg(test)]
mod layout_tests;
mod lock;
#[cfg(test)]
mod lock_tests;
mod named;
mod registry;
mod registry_writer;
mod timeout;
mod tree;

pub use agent_memory_storage as api;
pub use agent_memory_storage::database::{
    Effect, Kind as DatabaseKind, Mode, Rows, Statement, Value,
};
pub use agent_memory_storage::{
    Area, Change, CommitError, Document, Documents, Entry, EntryKind, Error, ErrorCode,
    MAX_CHANGES, MAX_DOCUMENT_BYTES, MAX_ENTRIES, Place, Splice, Status, version_of,
};
pub use agent_memory_storage_files::Durability;
pub use agent_memory_storage_files::Registered;
pub use agent_memory_storage_sqlite::{MAX_ROWS_BYTES, Transaction};
pub use database::Database;
pub use family::{FamilyGrant, FamilyMembers};
#[cfg(any(feature = "cli", feature = "http"))]
pub(crate) use layout_lock::lock_layout;
pub use lock::Writer;
pub use named::{NamedPlace, NamedPlaceKind};
pub use registry::RegistryFormat;
pub use registry_writer::RegistryWriter;
pub use timeout::{LockTimeout, MAX_LOCK_WAIT};
pub use tree::Tree;

use agent_memory_storage_files::{Directories, Grant, Layout, Repository};
use agent_memory_storage_sqlite::Options;
use database::Databases;
use family::Family;
use lock::Locks;
use named::{GrantedPlace, may_pass};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use tree::Engine;

/// The options of a [`Storage`].
#[derive(Clone, Debug)]
pub struct StorageOptions {
    /// The durability of commits.
    pub durability: Durability,
    /// The maximum time that a writer waits at the head of the queue while another holds the lock.
    /// A longer time than [`MAX_LOCK_WAIT`] is shortened to it.
    pub lock_wait: Duration,
    /// The maximum run time of one SQL statement. It is then interrupted.
    pub statement_time: Duration,
    /// Whether reading leaves everything as it is: what a killed program left in a write-ahead log
    /// stays there, and no derived database is used.
    pub looks_only: bool,
}

impl Default for StorageOptions {
    fn default() -> Self {
        StorageOptions {
            durability: Durability::default(),
            lock_wait: Duration::from_secs(5),
            statement_time: Duration::from_secs(30),
            looks_only: false,
        }
    }
}

/// The kind of the places in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// The granted repositories.
    Repository,
    /// The places with this label.
    Named(String),
}

/// The storage of a host: its granted directories and its options.
///
/// A clone is the same storage.
#[derive(Clone, Debug)]
pub struct Storage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: StorageOptions,
    grants: RwLock<Vec<Grant>>,
    places: RwLock<BTreeMap<String, KnownPlace>>,
    engine: Arc<Engine>,
}

/// A label that the component may ask for.
#[derive(Debug, Default)]
struct KnownPlace {
    granted: Option<Granted>,
    /// A grant that the file system refused. Each call that needs the place tries it again.
    wanted: Option<Wanted>,
    /// The error message if no place is granted under the label.
    missing: String,
}

/// What is to be granted under a label.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Place(NamedPlace),
    Family(FamilyGrant),
}

/// What is granted under a label.
#[derive(Clone, Debug)]
enum Granted {
    Place(Arc<GrantedPlace>),
    Family(Arc<Family>),
}

impl KnownPlace {
    fn still_wanted(&self) -> Option<Wanted> {
        self.wanted.clone().filter(|_| self.granted.is_none())
    }
}

impl Granted {
    /// The paths in which and around which no other place may be.
    fn paths(&self) -> Vec<PathBuf> {
        match self {
            Granted::Place(place) => vec![place.path()],
            Granted::Family(family) => family.paths(),
        }
    }
}

impl Storage {
    /// A storage that grants nothing yet.
    pub fn new(options: StorageOptions) -> Self {
        let locks = Arc::new(Locks::new(options.durability));
        let databases = Options {
            durability: options.durability,
            statement_time: options.statement_time,
            busy_wait: options.lock_wait.min(MAX_LOCK_WAIT),
            looks_only: options.looks_only,
        };
        let engine = Engine {
            durability: options.durability,
            databases: Databases::new(databases, locks.clone()),
            locks,
            cache: Arc::default(),
        };
        Storage(Arc::new(Shared {
            options,
            grants: RwLock::default(),
            places: RwLock::default(),
            engine: Arc::new(engine),
        }))
    }

    /// The options of the storage.
    pub fn options(&self) -> &StorageOptions {
        &self.0.options
    }

    /// Grants a directory and everything below it.
    ///
    /// Symbolic links in its path are followed now, and not again later.
    ///
    /// # Errors
    ///
    /// `not-found`; `permission`; `invalid-path` if it is not a directory.
    pub fn grant(&self, directory: &Path) -> Result<(), Error> {
        let grant = Grant::new(directory)?;
        let mut grants = self.0.grants.write().unwrap_or_else(PoisonError::into_inner);
        grants.push(grant);
        Ok(())
    }

    /// Declares a label, with the error message for calls while no place is granted under it.
    pub fn know_place(&self, label: impl Into<String>, missing: impl Into<String>) {
        self.places_mut().entry(label.into()).or_default().missing = missing.into();
    }

    /// Grants a named place and its databases. Replaces any earlier grant for its label.
    ///
    /// Symbolic links in the existing part of its path are followed now.
    ///
    /// # Errors
    ///
    /// `invalid-path` if something of another kind is at the path, if the place would contain or lie
    /// within another named place, or if the path is not UTF-8; `permission`.
    pub fn grant_place(&self, place: NamedPlace) -> Result<(), Error> {
        let (label, path) = (place.label.clone(), place.path.clone());
        let granted = Granted::Place(Arc::new(GrantedPlace::new(place)?));
        self.grant_under(label, granted, &path)
    }

    /// Grants a family of places. Replaces any earlier grant for its label.
    ///
    /// # Errors
    ///
    /// `invalid-path` if the registry's path or a fixed name is not possible, or if it overlaps with
    /// another named place; `not-granted` if a fixed path is refused; `permission`.
    pub fn grant_family(&self, family: FamilyGrant) -> Result<(), Error> {
        let label = family.label.clone();
        let granted = Granted::Family(Arc::new(Family::new(family)?));
        let path = granted.paths().into_iter().next().unwrap_or_default();
        self.grant_under(label, granted, &path)
    }

    /// Grants a place or a family. If the file system refuses it as it is now, the grant is kept: each
    /// call that needs the place tries it again, and fails with the error if it is still refused.
    /// Returns that error.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::grant_place`] and [`Storage::grant_family`] that come from the path itself.
    pub(crate) fn grant_once_possible(&self, wanted: Wanted) -> Result<Option<Error>, Error> {
        let label = match &wanted {
            Wanted::Place(place) => place.label.clone(),
            Wanted::Family(family) => family.label.clone(),
        };
        match self.grant_wanted(wanted.clone()) {
            Ok(()) => Ok(None),
            Err(error) if may_pass(&error) => {
                self.places_mut().entry(label).or_default().wanted = Some(wanted);
                Ok(Some(error))
            }
            Err(error) => Err(error),
        }
    }

    fn grant_wanted(&self, wanted: Wanted) -> Result<(), Error> {
        match wanted {
            Wanted::Place(place) => self.grant_place(place),
            Wanted::Family(family) => self.grant_family(family),
        }
    }

    fn grant_under(&self, label: String, granted: Granted, path: &Path) -> Result<(), Error> {
        let mut places = self.places_mut();
        let others = directories_but(&places, &label);
        let meets = |path: PathBuf| others.meeting(&path, "").map(|reason| (path, reason));
        if let Some((met, reason)) = granted.paths().into_iter().find_map(meets) {
            let shown = if met.ends_with(path) { path } else { met.as_path() };
            let message = format!("cannot keep {label} in `{}`: {reason}", shown.display());
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        places.entry(label).or_default().granted = Some(granted);
        Ok(())
    }

    /// The directory of the place that is granted under a label: itself, or the directory of its
    /// file. The part that existed at the grant is canonical. A family has none.
    pub fn place_directory(&self, label: &str) -> Option<PathBuf> {
        match self.places().get(label)?.granted.as_ref()? {
            Granted::Place(place) => Some(place.directory.clone()),
            Granted::Family(_) => None,
        }
    }

    /// Opens a place. Creates nothing.
    ///
    /// `more_roots` are granted for this call only. Roots that are not directories are ignored.
    ///
    /// # Errors
    ///
    /// `not-granted` if no grant covers it (the message says how to grant it), if it is not the top
    /// level of its repository (the message names the top level), or if its `.git` cannot be
    /// trusted with the lock; `not-found`, `permission`, `invalid-path`.
    pub fn open(&self, place: &Place, more_roots: &[PathBuf]) -> Result<Tree, Error> {
        self.open_within(place, more_roots, None)
    }

    /// The same, but of the repositories only those in the directories `only`: others are as if they
    /// were not granted.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Storage::open).
    pub(crate) fn open_within(
        &self,
        place: &Place,
        more_roots: &[PathBuf],
        only: Option<&[PathBuf]>,
    ) -> Result<Tree, Error> {
        match place {
            Place::Repository(name) => {
                let grants = self.grants_within(more_roots, only);
                let resolved = Repository::resolve(name, &grants);
                let resolved = match only {
                    Some(_) => resolved.map_err(|error| out_of_reach(name, error)),
                    None => resolved,
                };
                let layout = Layout::of_repository(resolved?)?;
                Ok(Tree::new(&self.0.engine, layout, None))
            }
            Place::Named { label, name } => {
                let granted = match self.granted(label)? {
                    Granted::Place(place) if name.is_empty() => place,
                    Granted::Place(_) => {
                        let message = format!("the place `{label}` has no name: leave it empty");
                        return Err(Error::new(ErrorCode::InvalidPath, message));
                    }
                    Granted::Family(family) => {
                        Arc::new(family.place(name, &self.other_directories(label))?)
                    }
                };
                let layout = granted.layout()?;
                Ok(Tree::new(&self.0.engine, layout, Some(granted)))
            }
        }
    }

    /// The names of the granted places of a kind, in byte order. Repositories are the granted
    /// directories that have a `.git`: one without it may hold several repositories. Those that
    /// cannot be opened are among them: opening one tells why. A label has one place, with an empty name.
    ///
    /// `more_roots` are granted for this call only.
    ///
    /// # Errors
    ///
    /// `not-granted` for a label under which nothing is granted.
    pub fn list_places(
        &self,
        kind: &PlaceKind,
        more_roots: &[PathBuf],
    ) -> Result<Vec<String>, Error> {
        self.list_places_within(kind, more_roots, None)
    }

    /// The same, but of the repositories only those in the directories `only`.
    ///
    /// # Errors
    ///
    /// Those of [`list_places`](Storage::list_places).
    pub(crate) fn list_places_within(
        &self,
        kind: &PlaceKind,
        more_roots: &[PathBuf],
        only: Option<&[PathBuf]>,
    ) -> Result<Vec<String>, Error> {
        if let PlaceKind::Named(label) = kind {
            return match self.granted(label)? {
                Granted::Place(_) => Ok(vec![String::new()]),
                Granted::Family(family) => family.names(),
            };
        }
        let grants = self.grants_within(more_roots, only);
        let mut names: Vec<String> = grants
            .iter()
            .filter(|grant| grant.path().join(".git").symlink_metadata().is_ok())
            .filter_map(|grant| grant.path().to_str())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The places that a registry lists, by name, also those that are refused.
    ///
    /// # Errors
    ///
    /// `not-granted` if no family is granted under the label; `io` if the registry is broken.
    pub fn registered(&self, label: &str) -> Result<BTreeMap<String, Registered>, Error> {
        Ok(self.family(label)?.members()?.registered().clone())
    }

    /// Waits for the lock of a family's registry. It is no lock of a place. Release it before a place
    /// is locked.
    ///
    /// # Errors
    ///
    /// `not-granted` if no family with a registry is granted under the label; those of [`Tree::lock`].
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub async fn lock_registry(
        &self,
        label: &str,
        timeout: LockTimeout,
    ) -> Result<RegistryWriter, Error> {
        let (family, others) = (self.family(label)?, self.other_directories(label));
        let Engine { locks, durability, .. } = &*self.0.engine;
        RegistryWriter::acquire(family, others, locks, *durability, timeout).await
    }

    /// Creates a place of a family below the data directory, registers it, and opens it. It waits for
    /// the lock of the registry and releases it.
    ///
    /// # Errors
    ///
    /// `already-exists` if the name is registered; `not-granted` if the place is of no family with a
    /// registry; those of [`Storage::lock_registry`], [`RegistryWriter::create`] and
    /// [`Storage::open`]. If the registry cannot be written, the new directory stays.
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub async fn create_place(&self, place: &Place, timeout: LockTimeout) -> Result<Tree, Error> {
        let Place::Named { label, name } = place else {
            let message = "a repository is not created here: create it with Git";
            return Err(Error::new(ErrorCode::NotGranted, message));
        };
        self.lock_registry(label, timeout).await?.create(name)?;
        self.open(place, &[])
    }

    fn family(&self, label: &str) -> Result<Arc<Family>, Error> {
        match self.granted(label)? {
            Granted::Family(family) => Ok(family),
            Granted::Place(_) => Err(Error::new(
                ErrorCode::NotGranted,
                format!("the place `{label}` is not created here: it is no family of places"),
            )),
        }
    }

    /// The directories and files of the places with other labels, and the registry of this one.
    fn other_directories(&self, label: &str) -> Directories {
        let places = self.places();
        let mut others = directories_but(&places, label);
        let own = places.get(label).and_then(|known| known.granted.as_ref());
        if let Some(Granted::Family(family)) = own
            && let Ok(registry) = family.registry()
        {
            others.add(registry.path(), registry.location());
        }
        others
    }

    fn granted(&self, label: &str) -> Result<Granted, Error> {
        let wanted = self.places().get(label).and_then(KnownPlace::still_wanted);
        if let Some(wanted) = wanted {
            self.grant_wanted(wanted)?;
        }
        let places = self.places();
        let known = places.get(label);
        if let Some(granted) = known.and_then(|known| known.granted.clone()) {
            return Ok(granted);
        }
        let message = known.map_or_else(
            || format!("this host knows no place `{label}`"),
            |known| known.missing.clone(),
        );
        Err(Error::new(ErrorCode::NotGranted, message))
    }

    fn places(&self) -> RwLockReadGuard<'_, BTreeMap<String, KnownPlace>> {
        self.0.places.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn places_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, KnownPlace>> {
        self.0.places.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The granted directories: those that lie in one of `only`, and of a larger one the part that is
    /// one of `only`.
    fn grants_within(&self, more_roots: &[PathBuf], only: Option<&[PathBuf]>) -> Vec<Grant> {
        let grants = self.0.grants.read().unwrap_or_else(PoisonError::into_inner);
        let more = more_roots.iter().filter_map(|root| Grant::new(root).ok());
        let grants: Vec<Grant> = grants.iter().cloned().chain(more).collect();
        let Some(only) = only else { return grants };
        let part = |grant: &Grant| -> Vec<Grant> {
            let within = only.iter().any(|only| grant.path().starts_with(only));
            let parts = only.iter().filter(|only| only.starts_with(grant.path()));
            let parts = parts.filter_map(|part| Grant::new(part).ok());
            // A link may have come in the place of the part.
            let parts = parts.filter(|part| only.iter().any(|only| part.path() == only));
            if within { vec![grant.clone()] } else { parts.collect() }
        };
        grants.iter().flat_map(part).collect()
    }
}

/// The error of a repository, for somebody who reaches only some: it names nothing else, and does not
/// tell whether the repository exists.
fn out_of_reach(name: &str, error: Error) -> Error {
    match error.code {
        ErrorCode::NotGranted | ErrorCode::NotFound => {
            let message = format!("`{name}` is not a repository that you reach");
            Error::new(ErrorCode::NotGranted, message)
        }
        _ => error,
    }
}

/// The directories and files of all granted places but that of a label.
fn directories_but(places: &BTreeMap<String, KnownPlace>, label: &str) -> Directories {
    let mut others = Directories::default();
    for (other, known) in places.iter().filter(|(other, _)| *other != label) {
        for path in known.granted.iter().flat_map(Granted::paths) {
            others.add(path, other);
        }
    }
    others
}
