//! What the host keeps for one call.

use super::guest_time::GuestTime;
use super::limits::{Exceeded, Size};
use crate::capability::{DatabaseKey, LockRules};
use crate::memory::Roots;
use crate::queue;
use crate::storage::{Database, Storage};
use crate::{Audience, Limits};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use wasmtime::Result;
use wasmtime::component::ResourceTable;

/// The state of one call: what it may reach, and all that it has opened.
///
/// It is made on the thread that runs the call, and dropped when the call ends in any way, be it a
/// result, a trap, or that nobody waits for it any more; so is whatever the call holds then.
pub(crate) struct Call {
    pub(crate) storage: Storage,
    /// Trees, writers, connections and transactions that the component has handles of.
    pub(crate) opened: ResourceTable,
    /// What it may lock.
    pub(crate) lock_rules: LockRules,
    /// The databases opened.
    pub(crate) databases: Databases,
    /// The call's place among the writers, until it has asked for a lock.
    pub(crate) writer_place: Option<queue::Place>,
    /// Who can name further granted directories, until it was asked.
    pub(crate) roots: Option<Arc<dyn Roots>>,
    /// What it named.
    pub(crate) granted: Vec<PathBuf>,
    pub(super) size: Size,
    printed: Vec<u8>,
    waiting: Option<Waiting>,
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

/// How a call waits for what is no file: for a lock, or for the client.
pub(crate) struct Waiting {
    runtime: Handle,
    /// Cancelled when nobody waits for the call any more.
    given_up: CancellationToken,
    databases: Databases,
}

impl Waiting {
    /// To be made in the runtime. The call is given up when the other one is dropped.
    pub(crate) fn new() -> (Waiting, Waited) {
        let given_up = CancellationToken::new();
        let databases = Databases::default();
        let waited = Waited { given_up: given_up.clone(), databases: databases.clone() };
        (Waiting { runtime: Handle::current(), given_up, databases }, waited)
    }
}

/// Held by whoever waits for a call.
pub(crate) struct Waited {
    given_up: CancellationToken,
    databases: Databases,
}

impl Drop for Waited {
    fn drop(&mut self) {
        self.given_up.cancel();
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
        writer_place: Option<queue::Place>,
        roots: Option<Arc<dyn Roots>>,
        waiting: Option<Waiting>,
    ) -> Call {
        let mut opened = ResourceTable::new();
        opened.set_max_capacity(Limits::RESOURCES);
        Call {
            storage,
            opened,
            lock_rules: LockRules::default(),
            databases: waiting
                .as_ref()
                .map(|waiting| waiting.databases.clone())
                .unwrap_or_default(),
            writer_place,
            roots,
            granted: Vec::new(),
            size: Size { memory: limits.memory },
            printed: Vec::new(),
            waiting,
            time: GuestTime::new(),
            time_limit: limits.guest_time_for(audience),
            storage_calls: 0,
            storage_calls_limit: limits.storage_calls,
        }
    }

    /// Does what the component asks of storage. It counts as one call of storage, and its time not
    /// as the component's own.
    pub(crate) fn asked<T>(&mut self, work: impl FnOnce(&mut Call) -> Result<T>) -> Result<T> {
        self.storage_calls += 1;
        if self.storage_calls > self.storage_calls_limit {
            return Err(Exceeded::StorageCalls(self.storage_calls_limit).into());
        }
        if self.is_given_up() {
            return Err(Exceeded::GivenUp.into());
        }
        self.time.stop();
        let done = work(self);
        self.time.go_on();
        done
    }

    /// Waits for something, for as long as somebody waits for the call.
    pub(crate) fn wait<T>(&self, until: impl Future<Output = T>) -> Result<T> {
        let waiting = self.waiting.as_ref().expect("calls without storage do not wait");
        let waited = waiting.runtime.block_on(waiting.given_up.run_until_cancelled(until));
        waited.ok_or_else(|| Exceeded::GivenUp.into())
    }

    /// Whether the component may run on.
    pub(super) fn goes_on(&mut self) -> Result<()> {
        if self.is_given_up() {
            return Err(Exceeded::GivenUp.into());
        }
        if self.time.total() > self.time_limit {
            return Err(Exceeded::GuestTime(self.time_limit).into());
        }
        Ok(())
    }

    fn is_given_up(&self) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.given_up.is_cancelled())
    }

    /// Keeps the beginning of what the component prints.
    pub(super) fn print(&mut self, bytes: &[u8]) {
        let room = Limits::PRINTED.saturating_sub(self.printed.len());
        self.printed.extend(bytes.iter().take(room));
    }

    pub(super) fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed).trim().to_owned()
    }
}
