//! Places that are granted, with their documents and databases: the native side of `wit/storage`,
//! without WebAssembly. Here are grants, wait queues and timeouts; the crates below `storage/` do the
//! rest.
//!
//! A [`Storage`] holds what was granted. It [opens](Storage::open) a [`Place`] as a [`Tree`], which
//! can be read; only the [`Writer`] that [`Tree::lock`] gives can change it. A tree also opens the
//! [databases](Tree::open_database) of its place, which a [`Transaction`] changes. Everything but
//! `lock` and [`Database::begin`] blocks on the file system, so that an async caller runs it on a
//! thread for blocking work:
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

/// How a [`Storage`] works.
#[derive(Clone, Debug)]
pub struct StorageOptions {
    /// What an acknowledged commit survives.
    pub durability: Durability,
    /// How long a writer waits at the head of the queue while one other holds the lock; longer
    /// than [`MAX_LOCK_WAIT`] counts as that.
    pub lock_wait: Duration,
    /// How long one SQL statement runs before it is interrupted.
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

/// Which places a list names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// The granted repositories.
    Repository,
    /// The places with this label.
    Named(String),
}

/// What a host lends: the directories that were granted to it, and how to work in them.
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
    /// What a person is told where none is granted.
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

    /// How it works.
    pub fn options(&self) -> &StorageOptions {
        &self.0.options
    }

    /// Grants a directory and what is below it.
    ///
    /// Symbolic links in its name are followed now: where they lead later does not matter.
    ///
    /// # Errors
    ///
    /// `not-found`, `permission`, or `invalid-path` where it is no directory.
    pub fn grant(&self, directory: &Path) -> Result<(), Error> {
        let grant = Grant::new(directory)?;
        let mut grants = self.0.grants.write().unwrap_or_else(PoisonError::into_inner);
        grants.push(grant);
        Ok(())
    }

    /// Knows a label, and what a person is told where no place is granted under it.
    pub fn know_place(&self, label: impl Into<String>, missing: impl Into<String>) {
        self.places_mut().entry(label.into()).or_default().missing = missing.into();
    }

    /// Grants a named place and its databases, instead of any other with its label.
    ///
    /// Symbolic links in its path are followed now, as far as it exists.
    ///
    /// # Errors
    ///
    /// `invalid-path` where something of another kind stands there, where the place would lie inside
    /// one with another label or around it, and where the path is not UTF-8; `permission`.
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

    /// The directory that is granted under a label, or that of the file; canonical as far as it
    /// existed then.
    pub fn place_directory(&self, label: &str) -> Option<PathBuf> {
        Some(self.places().get(label)?.granted.as_ref()?.directory.clone())
    }

    /// Opens a place; makes nothing.
    ///
    /// `more_roots` are granted for this time only; those that are no directories are left out.
    ///
    /// # Errors
    ///
    /// `not-granted` where no grant covers it (the message says how to grant it), where it is not
    /// the top level of its repository (the message names that), and where the repository's `.git`
    /// is none whose lock can be trusted; `not-found`, `permission`, `invalid-path`.
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

    /// The names of the granted places of a kind, in byte order: of repositories, the granted
    /// directories that can be opened as one; of a label, the empty one.
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
