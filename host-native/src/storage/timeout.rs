//! How long a call waits for others.

use agent_memory_storage::{Error, ErrorCode};
use std::time::{Duration, Instant};

/// The longest that a writer waits at the head of the queue: 1 h.
pub const MAX_LOCK_WAIT: Duration = Duration::from_secs(60 * 60);

/// How long a writer waits in all while the lock keeps changing hands.
const TOTAL_WAIT: Duration = Duration::from_secs(30);

/// How long a writer waits, counted from when it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct LockTimeout {
    asked: Instant,
    lock_wait: Duration,
}

impl LockTimeout {
    /// Begins now: `lock_wait`, but at most [`MAX_LOCK_WAIT`], at the head of the queue, and 30
    /// seconds, or that wait where it is longer, in all.
    pub fn new(lock_wait: Duration) -> Self {
        LockTimeout { asked: Instant::now(), lock_wait: lock_wait.min(MAX_LOCK_WAIT) }
    }

    /// When it ends, wherever in the queue.
    pub fn deadline(&self) -> Instant {
        self.asked + self.lock_wait.max(TOTAL_WAIT)
    }

    /// Until when one waits that comes to the head of the queue now.
    pub(super) fn at_the_head(&self) -> Instant {
        (Instant::now() + self.lock_wait).min(self.deadline())
    }

    /// Waits for something else that is part of the same wait.
    ///
    /// # Errors
    ///
    /// `busy` where the timeout passes first.
    pub async fn within<T>(&self, wait: impl Future<Output = T>) -> Result<T, Error> {
        tokio::time::timeout_at(self.deadline().into(), wait).await.map_err(|_| self.passed())
    }

    pub(super) fn waited(&self) -> Duration {
        self.asked.elapsed()
    }

    pub(super) fn passed(&self) -> Error {
        Error::new(
            ErrorCode::Busy,
            format!(
                "other writers kept the lock for the {:.1} s that this one waited: \
                 try again, or wait longer (`lock_wait`)",
                self.asked.elapsed().as_secs_f64()
            ),
        )
    }
}
