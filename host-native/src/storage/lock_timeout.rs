//! The timeout of a wait for a lock.

use agent_memory_storage::{Error, ErrorCode};
use std::time::{Duration, Instant};

/// How long a writer waits at the head of the queue by default, 5 s, and the maximum, 1 h.
pub use agent_memory_setting_values::{DEFAULT_LOCK_WAIT, MAX_LOCK_WAIT};

/// The maximum time that a writer waits in total, including the time behind other writers in the queue.
const TOTAL_WAIT: Duration = Duration::from_secs(30);

/// The timeout of a writer, counted from its request.
#[derive(Clone, Copy, Debug)]
pub struct LockTimeout {
    asked: Instant,
    lock_wait: Duration,
}

impl LockTimeout {
    /// A timeout that begins now. At the head of the queue, a writer waits for `lock_wait`, but at most
    /// [`MAX_LOCK_WAIT`]. In total it waits for at most 30 s, or for that time at the head if it is
    /// longer than 30 s.
    pub fn new(lock_wait: Duration) -> Self {
        LockTimeout { asked: Instant::now(), lock_wait: lock_wait.min(MAX_LOCK_WAIT) }
    }

    /// The deadline of the whole wait, at any place in the queue.
    pub fn deadline(&self) -> Instant {
        self.asked + self.lock_wait.max(TOTAL_WAIT)
    }

    /// The deadline of the wait for a writer that comes to the head of the queue now.
    pub(super) fn at_the_head(&self) -> Instant {
        (Instant::now() + self.lock_wait).min(self.deadline())
    }

    /// Waits for a future within the timeout.
    ///
    /// # Errors
    ///
    /// `busy` if the timeout passes first.
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
                "other writers kept the lock for the {:.1} s that this call waited: \
                 try again, or wait longer (`lock_wait`)",
                self.asked.elapsed().as_secs_f64()
            ),
        )
    }
}
