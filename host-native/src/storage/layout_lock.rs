//! Waits for the lock of a place without an async runtime.

use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::Layout;
use agent_memory_storage_lock::{PlaceLock, Progress, Request};
use std::time::{Duration, Instant};

/// The time between two attempts to lock.
const POLL: Duration = Duration::from_millis(5);

/// Waits for the lock of a place. Blocks this thread.
///
/// # Errors
///
/// `busy` if other writers hold the lock for longer than `wait`; those of [`Request::open`].
pub(crate) fn lock_layout(layout: &Layout, wait: Duration) -> Result<PlaceLock, Error> {
    let until = Instant::now() + wait;
    let mut request = Request::open(layout, &Default::default(), true)?;
    loop {
        request = match request.ask()? {
            Progress::Locked(lock) => return Ok(lock),
            Progress::Queued(request) | Progress::AtHead(request) => request,
            Progress::Removed => Request::open(layout, &Default::default(), true)?,
        };
        if Instant::now() >= until {
            let message = "other writers hold the lock: end them, and try again";
            return Err(Error::new(ErrorCode::Busy, message));
        }
        std::thread::sleep(POLL);
    }
}
