//! Waiting for the lock of a place on a database server.

use super::lock_timeout::LockTimeout;
use crate::queue::{self, Queue};
use agent_memory_storage::{Error, Place};
use agent_memory_storage_postgres as postgres;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The queues of this process, one for each scope that has writers.
#[derive(Debug, Default)]
pub(super) struct Queues(Mutex<BTreeMap<(Place, Option<String>), Queue>>);

impl Queues {
    fn join(&self, place: &Place, scope: Option<&str>) -> queue::Place {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| !queue.is_empty());
        let key = (place.clone(), scope.map(str::to_owned));
        queues.entry(key).or_insert_with(|| Queue::new(1)).join()
    }
}

/// The lock of a place on a server, or of one of its scopes. A writer and a transaction of one call share
/// it.
#[derive(Debug)]
pub(super) struct ServerLock {
    pub lock: Arc<postgres::Lock>,
    // Dropped after `lock`, so that its connection is free before the next writer of this process asks
    // for one.
    _place: queue::Place,
}

/// Takes the lock of one place.
#[derive(Clone, Debug)]
pub(super) struct Locker {
    pub queues: Arc<Queues>,
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
        let place = self.queues.join(&self.place, scope);
        let tree = self.tree.clone();
        let scope = scope.map(str::to_owned);
        async move {
            timeout.within(place.served()).await?;
            let wait = timeout.at_the_head().saturating_duration_since(Instant::now());
            Ok(ServerLock { lock: tree.lock(scope, wait).await?, _place: place })
        }
    }
}
