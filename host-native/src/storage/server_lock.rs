//! Waiting for the lock of a place on a database server.

use super::server::DatabaseServer;
use super::timeout::LockTimeout;
use crate::queue;
use agent_memory_storage::{Error, Place};
use agent_memory_storage_postgres as postgres;
use std::sync::Arc;
use std::time::Instant;

/// The lock of a place on a server, or of one of its scopes. A writer and a transaction of one call share
/// it.
#[derive(Debug)]
pub(super) struct ServerLock {
    pub lock: Arc<postgres::Lock>,
    // The connection is free before the next writer of this process asks for one.
    _place: queue::Place,
}

/// Takes the lock of a place. A clone is of the same place.
#[derive(Clone, Debug)]
pub(super) struct Locker {
    pub server: Arc<DatabaseServer>,
    pub place: Place,
    pub tree: postgres::Tree,
}

impl Locker {
    /// Joins the queue for the lock now. The writers of a scope wait in this process, so that one of them
    /// at a time takes a connection.
    pub fn lock(
        &self,
        scope: Option<&str>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<ServerLock, Error>> + Send + use<> {
        let place = self.server.join(&self.place, scope);
        let tree = self.tree.clone();
        let scope = scope.map(str::to_owned);
        async move {
            timeout.within(place.served()).await?;
            let wait = timeout.at_the_head().saturating_duration_since(Instant::now());
            Ok(ServerLock { lock: tree.lock(scope, wait).await?, _place: place })
        }
    }
}
