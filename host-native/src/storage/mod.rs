//! Granted places with their documents and databases: the native implementation of `wit/storage`,
//! without WebAssembly. This module has the grants, wait queues and timeouts. The crates in
//! `storage/` have the rest.
//!
//! A [`Storage`] holds the grants. It [opens](Storage::open) a [`Place`] as a [`Tree`] to read.
//! [`Tree::lock`] returns a [`Writer`], which changes the tree. A tree also opens the
//! [databases](Tree::open_database) of its place, which a [`Transaction`] changes.
//!
//! `lock` and [`Database::begin`] are async. All other functions block on the file system, so an
//! async caller runs them on a thread for blocking work:
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
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod layout_tests;
mod lock;
#[cfg(test)]
mod lock_tests;
mod named;
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
pub use agent_memory_storage_sqlite::{MAX_ROWS_BYTES, Transaction};
pub use database::Database;
pub use lock::Writer;
pub use named::{NamedPlace, NamedPlaceKind};
pub use timeout::{LockTimeout, MAX_LOCK_WAIT};
pub use tree::Tree;

use agent_memory_storage_files::{Grant, Layout, Repository};
use agent_memory_storage_sqlite::Options;
use database::Databases;
use lock::Locks;
use named::GrantedPlace;
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
    /// It is at most [`MAX_LOCK_WAIT`].
    pub lock_wait: Duration,
    /// The maximum run time of one SQL statement. It is then interrupted.
    pub statement_time: Duration,
}

impl Default for StorageOptions {
    fn default() -> Self {
        StorageOptions {
            durability: Durability::default(),
            lock_wait: Duration::from_secs(5),
            statement_time: Duration::from_secs(30),
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
    granted: Option<Arc<GrantedPlace>>,
    /// The error message if no place is granted under the label.
    missing: String,
}

impl Storage {
    /// A storage that grants nothing yet.
    pub fn new(options: StorageOptions) -> Self {
        let locks = Arc::new(Locks::new(options.durability));
        let databases = Options {
            durability: options.durability,
            statement_time: options.statement_time,
            busy_wait: options.lock_wait.min(MAX_LOCK_WAIT),
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
        let granted = GrantedPlace::new(place)?;
        let mut places = self.places_mut();
        let overlaps = |known: &KnownPlace| {
            known.granted.as_ref().is_some_and(|other| granted.overlaps(other))
        };
        if let Some((other, _)) =
            places.iter().find(|(other, known)| **other != label && overlaps(known))
        {
            let message = format!(
                "cannot keep {label} in `{}`: it overlaps with the place `{other}`: use another path",
                path.display()
            );
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        places.entry(label).or_default().granted = Some(Arc::new(granted));
        Ok(())
    }

    /// The directory of the place that is granted under a label: itself, or the directory of its
    /// file. The part that existed at the grant is canonical.
    pub fn place_directory(&self, label: &str) -> Option<PathBuf> {
        Some(self.places().get(label)?.granted.as_ref()?.directory.clone())
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
        match place {
            Place::Repository(name) => {
                let mut grants = self.grants();
                grants.extend(more_roots.iter().filter_map(|root| Grant::new(root).ok()));
                let layout = Layout::of_repository(Repository::resolve(name, &grants)?)?;
                Ok(Tree::new(&self.0.engine, layout, None))
            }
            Place::Named { label, name } => {
                let granted = self.granted(label)?;
                if !name.is_empty() {
                    let message = format!("the place `{label}` has no name: leave it empty");
                    return Err(Error::new(ErrorCode::InvalidPath, message));
                }
                let layout = granted.layout()?;
                Ok(Tree::new(&self.0.engine, layout, Some(granted)))
            }
        }
    }

    /// The names of the granted places of a kind, in byte order. Repositories are the granted
    /// directories that can be opened as one. A label has one place, with an empty name.
    ///
    /// # Errors
    ///
    /// `not-granted` for a label under which nothing is granted.
    pub fn list_places(&self, kind: &PlaceKind) -> Result<Vec<String>, Error> {
        if let PlaceKind::Named(label) = kind {
            return self.granted(label).map(|_| vec![String::new()]);
        }
        let grants = self.grants();
        let mut names: Vec<String> = grants
            .iter()
            .filter_map(|grant| grant.path().to_str())
            .filter(|name| Repository::resolve(name, &grants).is_ok())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Creates a place of a family.
    ///
    /// # Errors
    ///
    /// `not-granted`: this host has no family of places.
    pub fn create_place(&self, place: &Place) -> Result<Tree, Error> {
        let message = match place {
            Place::Repository(_) => {
                "a repository is not created here: create it with Git".to_owned()
            }
            Place::Named { label, .. } => {
                format!("the place `{label}` is not created here: it is no family of places")
            }
        };
        Err(Error::new(ErrorCode::NotGranted, message))
    }

    fn granted(&self, label: &str) -> Result<Arc<GrantedPlace>, Error> {
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

    fn grants(&self) -> Vec<Grant> {
        let grants = self.0.grants.read().unwrap_or_else(PoisonError::into_inner);
        grants.clone()
    }
}
