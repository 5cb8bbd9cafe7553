//! Waiting for the lock of a place.
//!
//! Within a storage, a queue serves first who came first. Only its head asks for the lock that other
//! processes may hold.

use super::timeout::LockTimeout;
use super::tree::Tree;
use super::{Change, CommitError, Durability, Error, ErrorCode, Shared};
use crate::queue::{self, Queue};
use agent_memory_storage::Writer as _;
use agent_memory_storage_files::Layout;
use agent_memory_storage_lock::{PlaceLock, Progress, Request};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const QUEUE_POLL: Duration = Duration::from_millis(2);
const LOCK_POLL: Duration = Duration::from_millis(1);

/// The wait queues of a storage, by their lock directories.
#[derive(Debug, Default)]
pub(super) struct WaitQueues(Mutex<HashMap<PathBuf, Queue>>);

impl WaitQueues {
    fn join(&self, lock: &Path) -> queue::Place {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| !queue.is_empty());
        queues.entry(lock.to_owned()).or_insert_with(|| Queue::new(1)).join()
    }
}

/// A lock that is held until this is dropped or the process dies. A writer and a transaction of one
/// call share it.
#[derive(Debug)]
pub(super) struct Lock {
    // Dropped before the place in the queue, so that the next writer finds the files free.
    place_lock: PlaceLock,
    /// The end of the time that the head of the queue waits.
    pub at_the_head: Instant,
    _place: queue::Place,
}

impl Lock {
    /// As [`Tree::lock`].
    pub fn acquire(
        layout: &Layout,
        storage: &Arc<Shared>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Lock, Error>> + Send + use<> {
        let place = storage.wait_queues.join(layout.lock_path());
        let (layout, storage) = (layout.clone(), storage.clone());
        async move {
            timeout.within(place.served()).await?;
            let (place_lock, at_the_head) = ask(&layout, &storage, timeout).await?;
            Ok(Lock { place_lock, at_the_head, _place: place })
        }
    }
}

/// Asks until the lock is held; the end of the wait at the head of the queue comes along.
async fn ask(
    layout: &Layout,
    storage: &Arc<Shared>,
    timeout: LockTimeout,
) -> Result<(PlaceLock, Instant), Error> {
    loop {
        let mut request = request(layout, storage, timeout).await?;
        let mut at_the_head = None;
        loop {
            let (waiting, until, pause) = match request.ask()? {
                Progress::Locked(lock) => {
                    return Ok((lock, at_the_head.unwrap_or_else(|| timeout.at_the_head())));
                }
                Progress::Queued(request) => (request, timeout.deadline(), QUEUE_POLL),
                Progress::AtHead(request) => {
                    let until = *at_the_head.get_or_insert_with(|| timeout.at_the_head());
                    (request, until, LOCK_POLL)
                }
                Progress::Removed => break,
            };
            if Instant::now() >= until {
                return Err(timeout.passed());
            }
            tokio::time::sleep(pause).await;
            request = waiting;
        }
        if Instant::now() >= timeout.deadline() {
            return Err(timeout.passed());
        }
    }
}

async fn request(
    layout: &Layout,
    storage: &Arc<Shared>,
    timeout: LockTimeout,
) -> Result<Request, Error> {
    if let Some(request) = Request::reopen(layout, &storage.locks) {
        return Ok(request);
    }
    let (layout, storage) = (layout.clone(), storage.clone());
    let durable = storage.options.durability == Durability::Full;
    let opened =
        tokio::task::spawn_blocking(move || Request::open(&layout, &storage.locks, durable));
    // A runtime may have no thread left for it.
    let opened = timeout.within(opened).await?;
    opened.map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))?
}

/// The right to change one tree: its place is locked until this is dropped or the process dies, and
/// until the transaction has ended that [was begun](super::Database::begin) under it.
///
/// Share it (`Arc`) with the thread that runs a commit, and the lock stays held until that commit
/// has returned, even if nobody waits for it any more.
#[derive(Debug)]
pub struct Writer {
    tree: Tree,
    pub(super) lock: Arc<Lock>,
}

impl Writer {
    pub(super) fn acquire(
        tree: Tree,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Self, Error>> + Send {
        let locked = Lock::acquire(tree.files.layout(), &tree.storage, timeout);
        async move { Ok(Writer { tree, lock: Arc::new(locked.await?) }) }
    }

    /// The lock directory, as [`Tree::lock_key`].
    pub fn lock_key(&self) -> &Path {
        self.tree.lock_key()
    }

    /// As `commit`, and puts long documents into the cache.
    pub(crate) fn commit_and_cache(
        &self,
        changes: Vec<Change>,
    ) -> Result<Vec<Option<String>>, CommitError> {
        let versions = self.commit(&changes)?;
        self.tree.storage.cache.put_all(changes, &versions);
        Ok(versions)
    }
}

impl agent_memory_storage::Writer for Writer {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.tree.files.commit(changes, &|| self.lock.place_lock.is_in_place())
    }
}
