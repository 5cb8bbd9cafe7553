//! The state that the host keeps for one call.

mod guest_time;
mod limits;
mod lock_rules;

pub use limits::Limits;
pub(crate) use limits::StopError;

use crate::Audience;
use crate::queue;
use crate::roots::Roots;
use crate::storage::{self, Database, Storage};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use wasmtime::Result;
use wasmtime::component::ResourceTable;

use guest_time::GuestTime;
use limits::Size;
use lock_rules::LockRules;

/// Identifies a database that a call has open.
pub(crate) type DatabaseKey = (storage::Place, String, storage::DatabaseKind);

/// The state of one call: its grants, its limits and everything that it has opened.
///
/// It lives on the thread that runs the call. It is dropped when the call ends in any way, and with
/// it everything that the call holds.
pub(crate) struct Call {
    pub(crate) storage: Storage,
    /// The component's trees, writers, connections and transactions.
    pub(crate) opened: ResourceTable,
    pub(crate) lock_rules: LockRules,
    pub(crate) databases: Databases,
    /// The call's turn among the writers, until it has asked for a lock.
    pub(crate) writer_turn: Option<queue::Turn>,
    /// The source of further granted directories. `None` once it was asked, or if the caller has none.
    pub(crate) roots: Option<Arc<dyn Roots>>,
    /// The directories that `roots` returned.
    pub(crate) granted: Vec<PathBuf>,
    /// The caller reaches only repositories in these directories. `None`: all that are granted.
    pub(crate) only: Option<Vec<PathBuf>>,
    /// The idempotency key of the call, if it has one.
    pub(crate) key: Option<Arc<storage::CallKey>>,
    pub(crate) size: Size,
    printed: Vec<u8>,
    cancellation: Option<Cancellation>,
    time: GuestTime,
    time_limit: Duration,
    storage_calls: u32,
    storage_calls_limit: u32,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.databases.close();
    }
}

/// Lets a call wait for a lock or for its client, and stop when its caller has cancelled it.
pub(crate) struct Cancellation {
    runtime: Handle,
    /// Cancelled when the caller has dropped the call's future.
    token: CancellationToken,
    databases: Databases,
}

impl Cancellation {
    /// Returns the part that the call holds and the part that its caller holds. Needs a tokio runtime.
    pub(crate) fn new() -> (Cancellation, CancelOnDrop) {
        let token = CancellationToken::new();
        let databases = Databases::default();
        let on_drop = CancelOnDrop { token: token.clone(), databases: databases.clone() };
        (Cancellation { runtime: Handle::current(), token, databases }, on_drop)
    }
}

/// The caller's part of a [`Cancellation`]: dropping it cancels the call.
pub(crate) struct CancelOnDrop {
    token: CancellationToken,
    databases: Databases,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.token.cancel();
        self.databases.give_up();
    }
}

/// The databases that a call has open.
#[derive(Clone, Default)]
pub(crate) struct Databases(Arc<Mutex<BTreeMap<DatabaseKey, Database>>>);

impl Databases {
    pub(crate) fn get(&self, key: &DatabaseKey) -> Option<Database> {
        self.with(|open| open.get(key).cloned())
    }

    pub(crate) fn put(&self, key: DatabaseKey, database: Database) {
        self.with(|open| open.insert(key, database));
    }

    fn give_up(&self) {
        self.with(|open| open.values().for_each(Database::give_up));
    }

    fn close(&self) {
        self.with(BTreeMap::clear);
    }

    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<DatabaseKey, Database>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Call {
    pub(crate) fn new(
        storage: Storage,
        limits: &Limits,
        audience: Audience,
        writer_turn: Option<queue::Turn>,
        roots: Option<Arc<dyn Roots>>,
        cancellation: Option<Cancellation>,
    ) -> Call {
        let mut opened = ResourceTable::new();
        opened.set_max_capacity(Limits::RESOURCES);
        Call {
            storage,
            opened,
            lock_rules: LockRules::default(),
            databases: cancellation
                .as_ref()
                .map(|cancellation| cancellation.databases.clone())
                .unwrap_or_default(),
            writer_turn,
            roots,
            granted: Vec::new(),
            only: None,
            key: None,
            size: Size { memory: limits.memory },
            printed: Vec::new(),
            cancellation,
            time: GuestTime::new(),
            time_limit: limits.guest_time_for(audience),
            storage_calls: 0,
            storage_calls_limit: limits.storage_calls,
        }
    }

    /// Runs one storage call of the component. Ends the call instead if it is cancelled or has made too
    /// many storage calls. The time of the storage call does not count as the component's own.
    pub(crate) fn asked<T>(&mut self, work: impl FnOnce(&mut Call) -> Result<T>) -> Result<T> {
        self.storage_calls += 1;
        if self.storage_calls > self.storage_calls_limit {
            return Err(StopError::StorageCalls(self.storage_calls_limit).into());
        }
        if self.is_cancelled() {
            return Err(StopError::Cancelled.into());
        }
        self.time.stop();
        let done = work(self);
        self.time.go_on();
        done
    }

    /// Waits for a future, or until the call is cancelled.
    pub(crate) fn wait<T>(&self, until: impl Future<Output = T>) -> Result<T> {
        let cancellation = self.cancellation.as_ref().expect("calls without storage do not wait");
        let waited = cancellation.runtime.block_on(cancellation.token.run_until_cancelled(until));
        waited.ok_or_else(|| StopError::Cancelled.into())
    }

    /// Checks that the component may go on: the call is not cancelled and has time left.
    pub(crate) fn check(&mut self) -> Result<()> {
        if self.is_cancelled() {
            return Err(StopError::Cancelled.into());
        }
        if self.time.total() > self.time_limit {
            return Err(StopError::GuestTime(self.time_limit).into());
        }
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(|cancellation| cancellation.token.is_cancelled())
    }

    /// Keeps the beginning of what the component prints.
    pub(crate) fn print(&mut self, bytes: &[u8]) {
        let room = Limits::PRINTED.saturating_sub(self.printed.len());
        self.printed.extend(bytes.iter().take(room));
    }

    pub(crate) fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed).trim().to_owned()
    }
}
