//! The writer of a place, on any medium.

use super::lock_key::LockKey;
use super::lock_wait::Lock;
#[cfg(feature = "postgres")]
use super::server_lock::ServerLock;
use agent_memory_storage::{Area, Change, CommitError, Document, Documents, Entry, Error, Status};
use std::fmt::Debug;
use std::sync::Arc;

/// The right to change a place on one medium.
pub(super) trait WriterBackend: Debug + Send + Sync {
    /// The documents, read under the lock.
    fn documents(&self) -> &dyn Documents;

    fn lock_key(&self) -> &LockKey;

    /// The writer's lock, which a transaction of a kept (not derived) database may share.
    fn lock(&self) -> WriterLock;

    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError>;

    fn commit_and_cache(&self, changes: Vec<Change>) -> Result<Vec<Option<String>>, CommitError>;
}

/// The lock of a writer.
#[derive(Debug)]
pub(super) enum WriterLock {
    Files(Arc<Lock>),
    #[cfg(feature = "postgres")]
    Server(Arc<ServerLock>),
}

impl WriterLock {
    /// The lock if the place is on this machine.
    pub fn as_files(&self) -> Option<&Arc<Lock>> {
        match self {
            WriterLock::Files(lock) => Some(lock),
            #[cfg(feature = "postgres")]
            WriterLock::Server(_) => None,
        }
    }

    /// The lock if the place is on a server.
    #[cfg(feature = "postgres")]
    pub fn as_server(&self) -> Option<&Arc<ServerLock>> {
        match self {
            WriterLock::Files(_) => None,
            WriterLock::Server(lock) => Some(lock),
        }
    }
}

/// Changes one tree. It holds the lock of the tree's place, or of one scope of the place, until it is
/// dropped or the process ends. On a database server, a commit releases the lock, and the next commit
/// takes it again. A transaction [begun](super::Database::begin) under the writer keeps the lock until
/// the transaction ends, too.
///
/// Share it (`Arc`) with the thread that runs a commit. The lock is then held until the commit has
/// returned, even if the call has ended.
#[derive(Debug)]
pub struct Writer(Box<dyn WriterBackend>);

impl Writer {
    pub(super) fn new(backend: impl WriterBackend + 'static) -> Self {
        Writer(Box::new(backend))
    }

    /// The key of the writer's lock, as in [`Tree::lock_key`](super::Tree::lock_key).
    pub fn lock_key(&self) -> &LockKey {
        self.0.lock_key()
    }

    pub(super) fn lock(&self) -> WriterLock {
        self.0.lock()
    }

    /// Commits as `commit` does. If documents are files, the last long document of `changes` is cached.
    pub(crate) fn commit_and_cache(
        &self,
        changes: Vec<Change>,
    ) -> Result<Vec<Option<String>>, CommitError> {
        self.0.commit_and_cache(changes)
    }
}

impl agent_memory_storage::Writer for Writer {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.0.commit(changes)
    }
}

/// Reads under the lock. In files, a list also removes the temporary files that killed writers have left.
impl Documents for Writer {
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
