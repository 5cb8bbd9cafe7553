//! Documents on a file system and databases, without WebAssembly: the native side of
//! `wit/storage.wit`.
//!
//! A [`Storage`] holds what was granted. It [opens](Storage::open) a [`Place`] as a [`Tree`], which
//! can be read; only the [`Writer`] that [`Tree::acquire`] gives can change it. It also opens a
//! [`Database`](Storage::open_database), which a [`Transaction`] changes. Everything but
//! `acquire` and [`Database::begin`] blocks on the file system, so that an async caller runs it on a
//! thread for blocking work:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use agent_memory_host::storage::{Change, Patience, Place, Side, Storage, StorageOptions};
//!
//! # let repository = tempfile::tempdir()?;
//! let storage = Storage::new(StorageOptions::default());
//! storage.grant(repository.path())?;
//! let tree = storage.open(&Place::repository(repository.path().to_str().unwrap()), &[])?;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! let writer = runtime.block_on(tree.lock(Patience::new(storage.options().lock_wait)))?;
//! let versions = writer.commit(&[Change::Put {
//!     side: Side::Documents,
//!     path: "aristotle/notes.md".into(),
//!     contents: b"so far\n".to_vec(),
//!     expects: None,
//! }])?;
//! drop(writer);
//!
//! let document = tree.read(Side::Documents, "aristotle/notes.md", 1024)?.unwrap();
//! assert_eq!((document.contents.as_slice(), &document.version), (&b"so far\n"[..], &versions[0]));
//! # Ok(())
//! # }
//! ```

mod change;
mod commit;
#[cfg(test)]
mod commit_tests;
mod database;
mod directory;
mod error;
mod git_config;
mod kept;
#[cfg(test)]
mod layout_tests;
mod lock;
mod lock_file;
mod lock_queue;
#[cfg(test)]
mod lock_tests;
mod path;
mod patience;
mod records;
mod repository;
mod tree;

pub use change::{Change, CommitError, Splice};
pub use database::{Database, Effect, MAX_ROWS_BYTES, Mode, Rows, Statement, Transaction, Value};
pub use error::{Error, ErrorCode};
pub use lock::Writer;
pub use patience::Patience;
pub use tree::{Document, Entry, EntryKind, Side, Tree};

use kept::Kept;
use lock_file::Connections;
use lock_queue::LockQueue;
use records::Records;
use repository::{Grant, Repository};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The longest document, in bytes: 16 MiB.
pub const MAX_DOCUMENT_BYTES: u64 = 16 * 1024 * 1024;

/// The most changes that one commit makes.
pub const MAX_CHANGES: usize = 1_000;

/// The most entries that a listing gives.
pub const MAX_ENTRIES: usize = 100_000;

/// The longest that a writer waits at the head of the queue: 1 h.
pub const MAX_LOCK_WAIT: Duration = Duration::from_secs(60 * 60);

/// What a commit survives once it was acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: every file and every directory that a commit touches is synced.
    #[default]
    Full,
    /// The end of the process. A loss of power may take the last moments.
    Relaxed,
}

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

/// What kind of place is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// The agent memory of a source repository.
    Repository,
    /// The directory of typed records.
    Records,
    /// A categorised store.
    Store,
    /// The host's own data directory.
    Data,
}

/// What is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its kind.
    pub kind: PlaceKind,
    /// Its name: of a repository, the absolute path of its top level; of the records, empty.
    pub name: String,
}

impl Place {
    /// The repository with this top level.
    pub fn repository(top_level: impl Into<String>) -> Self {
        Place { kind: PlaceKind::Repository, name: top_level.into() }
    }

    /// The directory of records.
    pub fn records() -> Self {
        Place { kind: PlaceKind::Records, name: String::new() }
    }
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
    records: RwLock<Option<Records>>,
    connections: Connections,
    databases: database::Idle,
    kept: Kept,
    lock_queue: LockQueue,
}

impl Storage {
    /// A storage that grants nothing yet.
    pub fn new(options: StorageOptions) -> Self {
        Storage(Arc::new(Shared {
            options,
            grants: RwLock::default(),
            records: RwLock::default(),
            connections: Connections::default(),
            databases: database::Idle::default(),
            kept: Kept::default(),
            lock_queue: LockQueue::default(),
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

    /// Grants a directory of records, instead of any other, and the database in it. It need not
    /// exist: what is missing is made, for its owner alone, when something is kept.
    ///
    /// Symbolic links in its name are followed now, as far as it exists.
    ///
    /// # Errors
    ///
    /// `invalid-path` where something other than a directory stands there, or the path is not
    /// UTF-8; `permission`.
    pub fn grant_records(&self, directory: &Path) -> Result<(), Error> {
        let records = Records::new(directory)?;
        *self.0.records.write().unwrap_or_else(PoisonError::into_inner) = Some(records);
        Ok(())
    }

    /// The directory of records that is granted, canonical as far as it existed then.
    pub fn records_directory(&self) -> Option<PathBuf> {
        self.records().map(|records| records.path().to_owned())
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
        match place.kind {
            PlaceKind::Repository => {}
            PlaceKind::Records => return self.open_records(&place.name),
            kind => return Err(not_granted_kind(kind)),
        }
        let mut grants = self.grants();
        grants.extend(more_roots.iter().filter_map(|root| Grant::new(root).ok()));
        Tree::of_repository(self, Repository::resolve(&place.name, &grants)?)
    }

    /// The names of the granted places of a kind, in byte order: of repositories, the granted
    /// directories that can be opened as one; of the records, the empty one.
    ///
    /// # Errors
    ///
    /// `not-granted` for a kind of which this host has none.
    pub fn list_places(&self, kind: PlaceKind) -> Result<Vec<String>, Error> {
        match kind {
            PlaceKind::Repository => {}
            PlaceKind::Records if self.records().is_some() => return Ok(vec![String::new()]),
            kind => return Err(not_granted_kind(kind)),
        }
        let grants = self.grants();
        let mut names: Vec<String> = grants
            .iter()
            .filter_map(|grant| grant.canonical.to_str())
            .filter(|name| Repository::resolve(name, &grants).is_ok())
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Creates a place below the host's data directory.
    ///
    /// # Errors
    ///
    /// `not-granted`: this host has no data directory.
    pub fn create_place(&self, place: &Place) -> Result<Tree, Error> {
        Err(not_granted_kind(place.kind))
    }

    fn open_records(&self, name: &str) -> Result<Tree, Error> {
        let records = self.records().ok_or_else(|| not_granted_kind(PlaceKind::Records))?;
        if !name.is_empty() {
            let message = "the directory of records has no name: leave it empty";
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        records.tree(&self.0)
    }

    fn records(&self) -> Option<Records> {
        self.0.records.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn grants(&self) -> Vec<Grant> {
        let grants = self.0.grants.read().unwrap_or_else(PoisonError::into_inner);
        grants.clone()
    }
}

fn not_granted_kind(kind: PlaceKind) -> Error {
    let places = match kind {
        PlaceKind::Repository => "a repository is not created here: create it with Git",
        PlaceKind::Records => {
            "this host has no directory for records: set one (`memory_dir`), or mount the toolset \
             `records`, which has one below `HOME`, an absolute path"
        }
        PlaceKind::Store => "this host keeps no stores",
        PlaceKind::Data => "this host has no data directory",
    };
    Error::new(ErrorCode::NotGranted, places)
}

/// The version of a document with these contents: their SHA-256 in lower-case hexadecimal.
pub fn version_of(contents: &[u8]) -> String {
    hexadecimal(Sha256::digest(contents))
}

fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    digest.as_ref().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
