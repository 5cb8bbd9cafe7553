//! Granted places with their documents and databases: the native implementation of `wit/storage`,
//! without WebAssembly. This module has the wait queues and timeouts. The crates in
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
#[cfg(test)]
mod family_tests;
#[cfg(test)]
mod file_tests;
mod files_tree;
mod files_writer;
#[cfg(any(feature = "cli", feature = "http"))]
mod layout_lock;
#[cfg(test)]
mod layout_tests;
mod lock_key;
#[cfg(test)]
mod lock_tests;
mod lock_timeout;
mod lock_wait;
#[cfg(feature = "http")]
mod probe;
mod registry_writer;
#[cfg(feature = "postgres")]
mod server;
#[cfg(feature = "postgres")]
mod server_database;
#[cfg(feature = "postgres")]
mod server_documents;
#[cfg(feature = "postgres")]
mod server_lock;
#[cfg(feature = "postgres")]
mod server_tree;
#[cfg(feature = "postgres")]
mod server_writer;
mod sqlite_database;
#[cfg(feature = "postgres")]
mod tenants;
mod tree;
mod writer;

pub use agent_memory_storage as api;
pub use agent_memory_storage::database::{
    Dialect, Effect, Kind as DatabaseKind, Mode, Rows, Statement, Value,
};
pub use agent_memory_storage::{
    Area, CallKey, Change, CommitError, Document, Documents, Entry, EntryKind, Error, ErrorCode,
    MAX_CHANGES, MAX_DOCUMENT_BYTES, MAX_ENTRIES, Place, Splice, Status, version_of,
};
pub use agent_memory_storage_files::Durability;
pub use agent_memory_storage_files::Registered;
pub use agent_memory_storage_files::places::{
    FamilyGrant, FamilyMembers, NamedPlace, NamedPlaceKind, RegistryFormat,
};
pub use agent_memory_storage_sqlite::MAX_ROWS_BYTES;
pub use database::{Database, Transaction};
#[cfg(any(feature = "cli", feature = "http"))]
pub(crate) use layout_lock::lock_layout;
pub use lock_key::LockKey;
pub use lock_timeout::{DEFAULT_LOCK_WAIT, LockTimeout, MAX_LOCK_WAIT};
pub use registry_writer::RegistryWriter;
pub use tree::Tree;
pub use writer::Writer;

pub(crate) use agent_memory_storage_files::places::Wanted;
use agent_memory_storage_files::places::{Opened, Places};
use agent_memory_storage_sqlite::Options;
use files_tree::{FilesTree, Local};
use lock_wait::Locks;
#[cfg(feature = "postgres")]
pub(crate) use server::{DatabaseServer, ServerLabel};
#[cfg(feature = "postgres")]
use server_tree::ServerTree;
use sqlite_database::Databases;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "postgres")]
use std::sync::OnceLock;
use std::time::Duration;

/// The options of a [`Storage`].
#[derive(Clone, Debug)]
pub struct StorageOptions {
    /// The durability of commits.
    pub durability: Durability,
    /// The maximum time that a writer waits at the head of the queue while another holds the lock.
    /// A longer time than [`MAX_LOCK_WAIT`] is shortened to it.
    pub lock_wait: Duration,
    /// The maximum run time of one SQL statement. A statement that runs longer is interrupted.
    pub statement_time: Duration,
    /// Whether reads change no file. A write-ahead log that a killed program left then stays as it is,
    /// and derived databases are not used.
    pub looks_only: bool,
}

impl Default for StorageOptions {
    fn default() -> Self {
        StorageOptions {
            durability: Durability::default(),
            lock_wait: DEFAULT_LOCK_WAIT,
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
    places: Places,
    local: Arc<Local>,
    /// The database server that has some of the places. Empty if there is none.
    #[cfg(feature = "postgres")]
    server: OnceLock<Arc<DatabaseServer>>,
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
        let local = Local {
            durability: options.durability,
            databases: Databases::new(databases, locks.clone()),
            locks,
            cache: Arc::default(),
        };
        Storage(Arc::new(Shared {
            options,
            places: Places::default(),
            local: Arc::new(local),
            #[cfg(feature = "postgres")]
            server: OnceLock::new(),
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
        self.0.places.grant(directory)
    }

    /// Declares a label. A call that needs its place gets the message `missing` as long as no place is
    /// granted under the label.
    pub fn know_place(&self, label: impl Into<String>, missing: impl Into<String>) {
        self.0.places.know(label, missing);
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
        self.0.places.grant_place(place)
    }

    /// Grants a family of places. Replaces any earlier grant for its label.
    ///
    /// # Errors
    ///
    /// `invalid-path` if the path of the registry or the name of a fixed place is not valid, or if a
    /// path of the family overlaps with another named place; `not-granted` if the path of a fixed place
    /// is refused; `permission`.
    pub fn grant_family(&self, family: FamilyGrant) -> Result<(), Error> {
        self.0.places.grant_family(family)
    }

    /// Grants a place or a family. If the file system refuses the grant now, each call that needs the
    /// place tries the grant again, and fails if it is still refused. Returns the error of the first
    /// attempt, if any.
    ///
    /// # Errors
    ///
    /// Those of [`Storage::grant_place`] and [`Storage::grant_family`] that come from the path itself.
    pub(crate) fn grant_once_possible(&self, wanted: Wanted) -> Result<Option<Error>, Error> {
        self.0.places.grant_once_possible(wanted)
    }

    /// Sets the database server, which has the places of some labels. A storage has at most one server.
    #[cfg(feature = "postgres")]
    pub(crate) fn set_server(&self, server: DatabaseServer) {
        let set = self.0.server.set(Arc::new(server));
        assert!(set.is_ok(), "a storage has one server");
    }

    /// The server that has the places of a label, with the entry of this label. `None` if the places of
    /// the label are not on a server.
    #[cfg(feature = "postgres")]
    fn on_server(&self, label: &str) -> Option<(&Arc<DatabaseServer>, &ServerLabel)> {
        let server = self.0.server.get()?;
        Some((server, server.label(label)?))
    }

    /// The directory of the place that is granted under a label; if the place is a file, the directory of
    /// that file. The part of the path that existed at the grant is canonical. `None` if no place is
    /// granted, for a family, and for a place on a server.
    pub fn place_directory(&self, label: &str) -> Option<PathBuf> {
        self.0.places.directory(label)
    }

    /// Checks that a file can be created in the directory of each named place. The file is removed again.
    ///
    /// # Errors
    ///
    /// `permission`, `read-only`, `no-space`, `io`; the error of a grant that the file system refuses.
    #[cfg(feature = "http")]
    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        #[cfg(feature = "postgres")]
        if let Some(server) = self.0.server.get() {
            server.check_writable()?;
        }
        self.0.places.directories()?.iter().try_for_each(|directory| probe::try_to_write(directory))
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
        self.open_within(place, more_roots, None, None)
    }

    /// Opens a place as [`open`](Storage::open) does. Repositories outside the directories `only` are
    /// treated as not granted. A database server stores `key`, the idempotency key of the call, with
    /// the call's first commit.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Storage::open).
    pub(crate) fn open_within(
        &self,
        place: &Place,
        more_roots: &[PathBuf],
        only: Option<&[PathBuf]>,
        key: Option<&Arc<CallKey>>,
    ) -> Result<Tree, Error> {
        #[cfg(not(feature = "postgres"))]
        let _ = key;
        #[cfg(feature = "postgres")]
        if let Place::Named { label, name } = place
            && let Some((server, of)) = self.on_server(label)
        {
            return ServerTree::open(server, &self.0.local, of, name, key);
        }
        let Opened { layout, named } = self.0.places.open(place, more_roots, only)?;
        Ok(FilesTree::open(&self.0.local, layout, named))
    }

    /// Whether the database server has the idempotency key of a call, which means that the call was
    /// made. A repetition asks before it runs: the commit would find the key, too, but the repetition
    /// may end without a commit.
    ///
    /// # Errors
    ///
    /// `busy` if the server cannot be reached now; `permission`, `io`.
    #[cfg_attr(not(feature = "postgres"), expect(clippy::unused_self))]
    pub(crate) fn has_call_key(&self, key: &str) -> Result<bool, Error> {
        #[cfg(feature = "postgres")]
        if let Some(server) = self.0.server.get() {
            return server.server().has_call_key(key);
        }
        let _ = key;
        Ok(false)
    }

    /// The names of the granted places of a kind, in byte order. A granted directory is listed as a
    /// repository if it has a `.git`: without one it may hold several repositories. Places that cannot
    /// be opened are listed, too: opening such a place tells why. A label of a single place lists one
    /// empty name.
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

    /// Lists places as [`list_places`](Storage::list_places) does, but only repositories in the
    /// directories `only`.
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
        match kind {
            #[cfg(feature = "postgres")]
            PlaceKind::Named(label) if let Some((server, of)) = self.on_server(label) => {
                server.names(of)
            }
            PlaceKind::Named(label) => self.0.places.names(label),
            PlaceKind::Repository => Ok(self.0.places.repositories(more_roots, only)),
        }
    }

    /// The places that the registry of a family lists, by name, also those that cannot be opened.
    ///
    /// # Errors
    ///
    /// `not-granted` if no family is granted under the label; `io` if the registry is broken.
    pub fn registered(&self, label: &str) -> Result<BTreeMap<String, Registered>, Error> {
        #[cfg(feature = "postgres")]
        if let Some((server, of)) = self.on_server(label) {
            let names = server.names(of)?.into_iter();
            let registered = names.map(|name| {
                let path = server.location(of, &name);
                (name, Registered { path, ..Registered::default() })
            });
            return Ok(registered.collect());
        }
        Ok(self.0.places.family(label)?.members()?.registered().clone())
    }

    /// Waits for the lock of a family's registry. This lock is not the lock of a place. Release it before
    /// locking a place.
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
        #[cfg(feature = "postgres")]
        if self.on_server(label).is_some() {
            let message = format!(
                "the places of `{label}` are on the database server, which has no directories: a \
                 tool creates them"
            );
            return Err(Error::new(ErrorCode::NotGranted, message));
        }
        let Shared { places, .. } = &*self.0;
        let family = places.family(label)?;
        let others = places.others(label);
        let Local { locks, durability, .. } = &*self.0.local;
        RegistryWriter::acquire(family, others, locks, *durability, timeout).await
    }

    /// Creates a place of a family below the data directory, registers it, and opens it. Holds the lock
    /// of the registry meanwhile.
    ///
    /// # Errors
    ///
    /// `already-exists` if the name is registered; `not-granted` if the place does not belong to a
    /// family with a registry; those of [`Storage::lock_registry`], [`RegistryWriter::create`] and
    /// [`Storage::open`]. If the registry cannot be written, the new directory stays.
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub async fn create_place(&self, place: &Place, timeout: LockTimeout) -> Result<Tree, Error> {
        self.create_place_with(place, timeout, None).await
    }

    /// Creates a place as [`create_place`](Storage::create_place) does, for a call that may have an
    /// idempotency key.
    pub(crate) async fn create_place_with(
        &self,
        place: &Place,
        timeout: LockTimeout,
        key: Option<&Arc<CallKey>>,
    ) -> Result<Tree, Error> {
        let Place::Named { label, name } = place else {
            let message = "a repository is not created here: create it with Git";
            return Err(Error::new(ErrorCode::NotGranted, message));
        };
        #[cfg(feature = "postgres")]
        if let Some((server, of)) = self.on_server(label) {
            server.create(of, name)?;
            return self.open_within(place, &[], None, key);
        }
        self.lock_registry(label, timeout).await?.create(name)?;
        self.open_within(place, &[], None, key)
    }
}
