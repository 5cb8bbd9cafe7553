//! The right to change a place on a database server.

use super::lock_key::LockKey;
use super::reserved::Reserved;
use super::server_lock::ServerLock;
use super::writer::{WriterBackend, WriterLock};
use agent_memory_storage::{Area, Change, CommitError, Document, Documents, Entry, Error, Status};
use agent_memory_storage_postgres as postgres;
use std::sync::Arc;

/// The right to change a place on a server, or one of its scopes.
#[derive(Debug)]
pub(super) struct ServerWriter {
    lock: Arc<ServerLock>,
    reader: postgres::Reader,
    key: LockKey,
    reserved: Arc<Reserved>,
}

impl ServerWriter {
    pub fn new(lock: Arc<ServerLock>, key: LockKey, reserved: Arc<Reserved>) -> Self {
        let reader = lock.lock.reader();
        ServerWriter { lock, reader, key, reserved }
    }
}

impl WriterBackend for ServerWriter {
    fn lock_key(&self) -> &LockKey {
        &self.key
    }

    fn lock(&self) -> WriterLock {
        WriterLock::Server(self.lock.clone())
    }

    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.commit_and_cache(changes.to_vec())
    }

    fn commit_and_cache(&self, changes: Vec<Change>) -> Result<Vec<Option<String>>, CommitError> {
        for (index, change) in changes.iter().enumerate() {
            let own = [change.path(), change.checked_path()];
            let own = own.iter().try_for_each(|path| self.reserved.check(change.area(), path));
            if let Err(error) = own {
                return Err(CommitError { error, change: Some(index as u32), applied: 0 });
            }
        }
        self.lock.lock.commit(changes)
    }
}

impl Documents for ServerWriter {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.reserved.check(area, path)?;
        self.reader.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.reserved.check(area, path)?;
        self.reader.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.reserved.check(area, directory)?;
        self.reader.list(area, directory)
    }
}
