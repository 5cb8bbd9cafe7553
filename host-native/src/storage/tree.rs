//! An open place: its documents, its lock and its databases.

use super::database::{Database, Databases};
use super::lock::{Locks, Writer};
use super::timeout::LockTimeout;
use agent_memory_storage::database::Kind;
use agent_memory_storage::{Area, Document, Documents, Entry, Error, ErrorCode, Status};
use agent_memory_storage_files::places::GrantedPlace;
use agent_memory_storage_files::{self as files, Cache, Durability, Layout};
use std::path::Path;
use std::sync::Arc;

/// The documents and databases of a granted place. A clone is the same tree.
#[derive(Clone, Debug)]
pub struct Tree {
    files: files::Tree,
    /// The named place. `None` for a repository.
    named: Option<Arc<GrantedPlace>>,
    engine: Arc<Engine>,
}

/// The parts that all places of a storage share.
#[derive(Debug)]
pub(super) struct Engine {
    pub durability: Durability,
    pub locks: Arc<Locks>,
    pub databases: Databases,
    pub cache: Arc<Cache>,
}

impl Tree {
    pub(super) fn new(
        engine: &Arc<Engine>,
        layout: Layout,
        named: Option<Arc<GrantedPlace>>,
    ) -> Self {
        let files = files::Tree::with_cache(layout, engine.durability, engine.cache.clone());
        Tree { files, named, engine: engine.clone() }
    }

    /// The place as its caller named it, for messages and answers.
    pub fn location(&self) -> &str {
        self.files.layout().location()
    }

    /// The canonical path of the lock directory. Trees with the same path share one lock.
    pub fn lock_key(&self) -> &Path {
        self.files.layout().lock_path()
    }

    /// Whether a commit makes all of its changes or none, even if the host crashes.
    pub fn has_atomic_commits(&self) -> bool {
        false
    }

    /// Joins the queue for the lock of the place now. The future waits for the lock. Dropping the
    /// future ends the wait.
    ///
    /// The queue is first come, first served within this storage and its clones. Between processes,
    /// every writer gets the lock in time, but the order is not fixed.
    ///
    /// # Errors
    ///
    /// `busy` after the timeout; `read-only` if the lock cannot be written; `no-space`;
    /// `invalid-path` if something else exists in place of its files; `io`.
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub fn lock(
        &self,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Writer, Error>> + Send + use<> {
        Writer::acquire(self.files.clone(), self.engine.cache.clone(), &self.engine.locks, timeout)
    }

    /// Opens a database of the tree's place. With `create`, creates a missing one.
    ///
    /// # Errors
    ///
    /// `not-granted` if the place has no kept database of this name; those of
    /// [`Database::open`](agent_memory_storage_sqlite::Database::open).
    pub fn open_database(&self, name: &str, kind: Kind, create: bool) -> Result<Database, Error> {
        let file = match kind {
            Kind::Kept => self.named.as_ref().and_then(|place| place.file_of(name)),
            Kind::Derived => Some(name),
        };
        let Some(file) = file else {
            let message = format!(
                "the database `{}` is not granted: none of this name is kept in `{}`",
                name.escape_debug(),
                self.location().trim_end_matches('/')
            );
            return Err(Error::new(ErrorCode::NotGranted, message));
        };
        self.engine.databases.open(self.files.layout(), file, kind, create)
    }
}

impl Documents for Tree {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.files.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.files.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.files.list(area, directory)
    }
}
