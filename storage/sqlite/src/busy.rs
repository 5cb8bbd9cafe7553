//! Waiting for SQLite's own lock while another program holds it.

use std::time::{Duration, Instant};

use super::error::StatementError;

/// The time between two attempts at SQLite's own lock.
const POLL: Duration = Duration::from_millis(1);

/// Repeats an attempt while another program holds SQLite's lock, until the given time.
pub(super) fn poll<T>(
    until: Instant,
    mut attempt: impl FnMut() -> Result<T, StatementError>,
) -> Result<T, StatementError> {
    loop {
        match attempt() {
            Err(error) if error.is_busy() && Instant::now() < until => {
                std::thread::sleep(POLL);
            }
            done => return done,
        }
    }
}
