//! Waiting for the lock of a place.
//!
//! Within a storage, a queue serves first who came first. Only its head asks for the lock that other
//! processes may hold.

use super::timeout::LockTimeout;
use crate::queue::{self, Queue};
use agent_memory_storage::{Change, CommitError, Error, ErrorCode, Writer as _};
use agent_memory_storage_files::{Cache, Durability, Layout, Tree as Files};
use agent_memory_storage_lock::{IdleLocks, PlaceLock, Progress, Request};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const QUEUE_POLL: Duration = Duration::from_millis(2);
const LOCK_POLL: Duration = Duration::from_millis(1);

/// The locks of a storage.
#[derive(Debug)]
pub(super) struct Locks {
    /// The wait queues by their lock directories.
    queues: Mutex<HashMap<PathBuf, Queue>>,
    idle: Arc<IdleLocks>,
    durability: Durability,
}

impl Locks {
    pub fn new(durability: Durability) -> Self {
        Locks { queues: Mutex::default(), idle: Arc::default(), durability }
    }

    fn join(&self, lock: &Path) -> queue::Place {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
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
    /// As [`Tree::lock`](super::Tree::lock).
    pub fn acquire(
        layout: &Layout,
        locks: &Arc<Locks>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Lock, Error>> + Send + use<> {
        let place = locks.join(layout.lock_path());
        let (layout, locks) = (layout.clone(), locks.clone());
        async move {
            timeout.within(place.served()).await?;
            let (place_lock, at_the_head) = ask(&layout, &locks, timeout).await?;
            Ok(Lock { place_lock, at_the_head, _place: place })
        }
    }
}

/// Asks until the lock is held; the end of the wait at the head of the queue comes along.
async fn ask(
    layout: &Layout,
    locks: &Arc<Locks>,
    timeout: LockTimeout,
) -> Result<(PlaceLock, Instant), Error> {
    loop {
        let mut request = request(layout, locks, timeout).await?;
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
    locks: &Arc<Locks>,
    timeout: LockTimeout,
) -> Result<Request, Error> {
    if let Some(request) = Request::reopen(layout, &locks.idle) {
        return Ok(request);
    }
    let (layout, locks) = (layout.clone(), locks.clone());
    let durable = locks.durability == Durability::Full;
    let opened = tokio::task::spawn_blocking(move || Request::open(&layout, &locks.idle, durable));
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
    files: Files,
    cache: Arc<Cache>,
    pub(super) lock: Arc<Lock>,
}

impl Writer {
    pub(super) fn acquire(
        files: Files,
        cache: Arc<Cache>,
        locks: &Arc<Locks>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Self, Error>> + Send + use<> {
        let locked = Lock::acquire(files.layout(), locks, timeout);
        async move { Ok(Writer { files, cache, lock: Arc::new(locked.await?) }) }
    }

    /// The lock directory, as [`Tree::lock_key`](super::Tree::lock_key).
    pub fn lock_key(&self) -> &Path {
        self.files.layout().lock_path()
    }

    /// As `commit`, and puts long documents into the cache.
    pub(crate) fn commit_and_cache(
        &self,
        changes: Vec<Change>,
    ) -> Result<Vec<Option<String>>, CommitError> {
        let versions = self.commit(&changes)?;
        self.cache.put_all(changes, &versions);
        Ok(versions)
    }
}

impl agent_memory_storage::Writer for Writer {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        self.files.commit(changes, &|| self.lock.place_lock.is_in_place())
    }
}
