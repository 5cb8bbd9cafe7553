//! Work that goes on after calls were answered.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tasks that go on after the calls that began them have ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct InProgress {
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the memory begins to close. Then polling ends, and retries no longer pause.
    pub(crate) closing: CancellationToken,
    /// Cancelled when the memory stops waiting for the work in progress, which then ends at once.
    pub(crate) end: CancellationToken,
    polling: Arc<Mutex<CancellationToken>>,
}

impl InProgress {
    /// Returns a handle for another memory. Its tasks end at the same close as these, but each memory
    /// polls for its own follow-ups.
    pub(crate) fn beside(&self) -> InProgress {
        InProgress { polling: Arc::default(), ..self.clone() }
    }

    /// Begins to poll for follow-ups, in place of the earlier poll. The returned token is cancelled when
    /// this poll has to end.
    pub(crate) fn begin_polling(&self) -> CancellationToken {
        let polling = self.closing.child_token();
        let mut current = self.polling.lock().unwrap_or_else(PoisonError::into_inner);
        mem::replace(&mut *current, polling.clone()).cancel();
        polling
    }
}
