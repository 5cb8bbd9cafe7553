//! Waiting for the lock of a place.
//!
//! Each storage has a first-come, first-served queue. Only the writer at its head asks for the lock
//! files, which other processes may hold.

use super::lock_timeout::LockTimeout;
use crate::queue::{Queues, Turn};
use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{Durability, Layout};
use agent_memory_storage_lock::{IdleLocks, PlaceLock, Progress, Request};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

const QUEUE_POLL: Duration = Duration::from_millis(2);
const LOCK_POLL: Duration = Duration::from_millis(1);

/// The locks of a storage.
#[derive(Debug)]
pub(super) struct Locks {
    /// The wait queues by their lock directories.
    queues: Queues<PathBuf>,
    idle: Arc<IdleLocks>,
    durability: Durability,
}

impl Locks {
    pub fn new(durability: Durability) -> Self {
        Locks { queues: Queues::default(), idle: Arc::default(), durability }
    }
}

/// The lock of a place. It is held until this is dropped or the process ends. A writer and a
/// transaction of one call share it.
#[derive(Debug)]
pub(super) struct Lock {
    // Must be dropped before `_turn`, so that the next writer in the queue finds the lock files free.
    place_lock: PlaceLock,
    /// The deadline of the wait at the head of the queue.
    pub at_the_head: Instant,
    _turn: Turn,
}

impl Lock {
    /// Joins the queue for the lock now, as [`Tree::lock`](super::Tree::lock) does.
    pub fn acquire(
        layout: &Layout,
        locks: &Arc<Locks>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Lock, Error>> + Send + use<> {
        let turn = locks.queues.join(layout.lock_path().to_owned());
        let layout = layout.clone();
        let locks = locks.clone();
        async move {
            timeout.within(turn.served()).await?;
            let (place_lock, at_the_head) = ask(&layout, &locks, timeout).await?;
            Ok(Lock { place_lock, at_the_head, _turn: turn })
        }
    }

    /// Whether the lock's files are still at their paths, so that other writers would lock the same
    /// files.
    pub fn is_in_place(&self) -> bool {
        self.place_lock.is_in_place()
    }
}

/// Tries to take the lock until it is held or the wait is over. Also returns the deadline of the wait at
/// the head of the queue.
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
    let layout = layout.clone();
    let locks = locks.clone();
    let durable = locks.durability == Durability::Full;
    let opened = tokio::task::spawn_blocking(move || Request::open(&layout, &locks.idle, durable));
    // The runtime may have no free thread, so opening counts as part of the wait.
    let opened = timeout.within(opened).await?;
    opened.map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))?
}
