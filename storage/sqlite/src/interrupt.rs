//! The interrupt of statements that run for too long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest statement time: a year.
const NO_END: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Interrupts a statement when its time is over or its call is cancelled.
#[derive(Debug)]
pub(super) struct Interrupt {
    statement_time: Duration,
    given_up: AtomicBool,
    /// The deadline. `None` for the host's own statements, which are never interrupted.
    ends: Mutex<Option<Instant>>,
}

impl Interrupt {
    pub fn new(statement_time: Duration) -> Self {
        Interrupt { statement_time, given_up: AtomicBool::new(false), ends: Mutex::new(None) }
    }

    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Resets the interrupt for another call on the connection.
    pub fn reset(&self) {
        self.given_up.store(false, Ordering::Relaxed);
    }

    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Starts the time of a call's statement.
    pub fn start(&self) {
        let now = Instant::now();
        let ends = now.checked_add(self.statement_time).unwrap_or(now + NO_END);
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = Some(ends);
    }

    /// Ends the time of the last statement.
    #[cfg(test)]
    pub fn end_now(&self) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Starts one of the host's own statements, which must not be interrupted. Without this, even
    /// a short `COMMIT` could be: SQLite counts a statement's steps over all of its runs.
    pub fn start_own(&self) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub fn is_over(&self) -> bool {
        let ends = *self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.is_some_and(|ends| self.is_given_up() || Instant::now() >= ends)
    }

    pub fn statement_time(&self) -> Duration {
        self.statement_time
    }
}
