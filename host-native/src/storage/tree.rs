//! An open place on any medium, and the trait that each medium implements.

use super::database::Database;
use super::lock_key::LockKey;
use super::lock_timeout::LockTimeout;
use super::writer::Writer;
use agent_memory_storage::database::Kind;
use agent_memory_storage::{Area, Document, Documents, Entry, Error, Status};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

/// The future of a wait for the lock of a place.
pub(super) type Locking = Pin<Box<dyn Future<Output = Result<Writer, Error>> + Send>>;

/// The documents, the lock and the databases of a place on one medium.
pub(super) trait TreeBackend: Debug + Send + Sync {
    fn documents(&self) -> &dyn Documents;

    fn location(&self) -> &str;

    fn lock_key(&self) -> &LockKey;

    fn has_atomic_commits(&self) -> bool;

    /// Joins the queue for the lock now. A medium without scopes, which are parts of a place, locks the
    /// whole place.
    fn lock(&self, scope: Option<&str>, timeout: LockTimeout) -> Locking;

    fn open_database(&self, name: &str, kind: Kind, create: bool) -> Result<Database, Error>;
}

/// The documents and databases of a granted place. A clone is the same tree.
#[derive(Clone, Debug)]
pub struct Tree(Arc<dyn TreeBackend>);

impl Tree {
    pub(super) fn new(backend: impl TreeBackend + 'static) -> Self {
        Tree(Arc::new(backend))
    }

    /// The name or path of the place, for messages and answers.
    pub fn location(&self) -> &str {
        self.0.location()
    }

    /// The key of the lock. Trees with the same key share one lock.
    pub fn lock_key(&self) -> &LockKey {
        self.0.lock_key()
    }

    /// Whether a commit makes all of its changes or none, even if the host crashes.
    pub fn has_atomic_commits(&self) -> bool {
        self.0.has_atomic_commits()
    }

    /// Joins the queue for the lock of the place now. The future waits for the lock. Dropping the
    /// future ends the wait.
    ///
    /// The queue is first come, first served within this storage and its clones. Between processes,
    /// every writer gets the lock in time, but the order is not fixed.
    ///
    /// # Errors
    ///
    /// `busy` after the timeout; `read-only` if the lock cannot be written; `no-space`; `invalid-path`
    /// if something else exists at the path of a lock file; `io`.
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub fn lock(
        &self,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Writer, Error>> + Send + use<> {
        self.0.lock(None, timeout)
    }

    /// Waits for the lock as [`lock`](Tree::lock) does. On a medium that can lock a part of a place (a
    /// scope), it locks only `scope`; without `scope`, it locks the whole place.
    ///
    /// # Errors
    ///
    /// Those of [`lock`](Tree::lock).
    ///
    /// # Panics
    ///
    /// As for [`lock`](Tree::lock).
    pub fn lock_scope(
        &self,
        scope: Option<&str>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Writer, Error>> + Send + use<> {
        self.0.lock(scope, timeout)
    }

    /// Opens a database of the tree's place. With `create`, creates a missing one.
    ///
    /// # Errors
    ///
    /// `not-granted` if the place has no kept database of this name; those of
    /// [`Database::open`](agent_memory_storage_sqlite::Database::open).
    pub fn open_database(&self, name: &str, kind: Kind, create: bool) -> Result<Database, Error> {
        self.0.open_database(name, kind, create)
    }
}

impl Documents for Tree {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.0.documents().stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.0.documents().read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.0.documents().list(area, directory)
    }
}
