//! The writer of a place on this machine.

use super::lock_key::LockKey;
use super::lock_timeout::LockTimeout;
use super::lock_wait::{Lock, Locks};
use super::writer::{WriterBackend, WriterLock};
use agent_memory_storage::{Area, Change, CommitError, Document, Documents, Entry, Error, Status};
use agent_memory_storage_files::{Cache, Tree as Files};
use std::sync::Arc;

/// Changes the documents of a place on this machine.
#[derive(Debug)]
pub(super) struct FilesWriter {
    files: Files,
    cache: Arc<Cache>,
    lock: Arc<Lock>,
    key: LockKey,
}

impl FilesWriter {
    pub fn acquire(
        files: Files,
        cache: Arc<Cache>,
        locks: &Arc<Locks>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Self, Error>> + Send + use<> {
        let locked = Lock::acquire(files.layout(), locks, timeout);
        let key = LockKey::Directory(files.layout().lock_path().to_owned());
        async move { Ok(FilesWriter { files, cache, lock: Arc::new(locked.await?), key }) }
    }
}

impl WriterBackend for FilesWriter {
    fn documents(&self) -> &dyn Documents {
        self
    }

    fn lock_key(&self) -> &LockKey {
        &self.key
    }

    fn lock(&self) -> WriterLock {
        WriterLock::Files(self.lock.clone())
    }

    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.files.commit(changes, &|| self.lock.is_in_place())
    }

    fn commit_and_cache(&self, changes: Vec<Change>) -> Result<Vec<Option<String>>, CommitError> {
        let versions = self.commit(&changes)?;
        self.cache.put_all(changes, &versions);
        Ok(versions)
    }
}

impl Documents for FilesWriter {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.files.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.files.read(area, path, max_bytes)
    }

    /// Lists a directory, and removes the temporary files that killed writers have left.
    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        let is_locked = || self.lock.is_in_place();
        self.files.list_and_clean(area, directory, &is_locked)
    }
}
