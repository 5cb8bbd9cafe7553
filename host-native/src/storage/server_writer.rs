//! The right to change a place on a database server.

use super::lock_key::LockKey;
use super::server_documents::ServerDocuments;
use super::server_lock::ServerLock;
use super::writer::{WriterBackend, WriterLock};
use agent_memory_storage::{Change, CommitError, Documents};
use std::sync::Arc;

/// The right to change a place on a server, or one of its scopes.
#[derive(Debug)]
pub(super) struct ServerWriter {
    lock: Arc<ServerLock>,
    documents: ServerDocuments,
    key: LockKey,
}

impl ServerWriter {
    /// `documents` are the documents of the place. The writer reads them under its lock.
    pub fn new(lock: Arc<ServerLock>, key: LockKey, documents: &ServerDocuments) -> Self {
        let documents = documents.with_reader(lock.lock.reader());
        ServerWriter { lock, documents, key }
    }
}

impl WriterBackend for ServerWriter {
    fn documents(&self) -> &dyn Documents {
        &self.documents
    }

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
        self.documents.check_changes(&changes)?;
        self.lock.lock.commit(changes)
    }
}
