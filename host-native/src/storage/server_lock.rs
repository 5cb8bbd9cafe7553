//! Waiting for the lock of a place on a database server.

use super::lock_timeout::LockTimeout;
use crate::queue::{Queues, Turn};
use agent_memory_storage::{Error, Place};
use agent_memory_storage_postgres as postgres;
use std::sync::Arc;
use std::time::Instant;

/// The queues of this process, by place and scope. A scope is a part of a place.
pub(super) type ScopeQueues = Queues<(Place, Option<String>)>;

/// The lock of a place on a server, or of one of its scopes. A writer and a transaction of one call share
/// it.
#[derive(Debug)]
pub(super) struct ServerLock {
    pub lock: Arc<postgres::Lock>,
    // Dropped after `lock`, so that the lock's connection is free before the next writer of this
    // process asks for one.
    _turn: Turn,
}

/// Takes the lock of one place.
#[derive(Clone, Debug)]
pub(super) struct Locker {
    pub queues: Arc<ScopeQueues>,
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
        let scope = scope.map(str::to_owned);
        let turn = self.queues.join((self.place.clone(), scope.clone()));
        let tree = self.tree.clone();
        async move {
            timeout.within(turn.served()).await?;
            let wait = timeout.at_the_head().saturating_duration_since(Instant::now());
            Ok(ServerLock { lock: tree.lock(scope, wait).await?, _turn: turn })
        }
    }
}
