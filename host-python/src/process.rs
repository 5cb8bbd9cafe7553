//! Forked processes. A child of `fork` does not have its parent's threads, and SQLite's state of locks
//! is wrong there. So a child cannot use a memory of its parent, and cannot open a memory if its parent
//! had one open.

use crate::errors;
use pyo3::prelude::*;
use std::process;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The id of the process that has opened memories. Atomic, not behind a lock: another thread could hold
/// the lock at the time of a fork.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// The number of memories that this process has open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

const ADVICE: &str = "open memories only in the child, or start it with `spawn` or `forkserver`";

/// The process that opened a memory.
pub(crate) struct Process(u32);

impl Process {
    /// Counts a memory that is opened in this process.
    pub(crate) fn open() -> PyResult<Process> {
        let this = process::id();
        if OPEN.load(Ordering::SeqCst) > 0 && OWNER.load(Ordering::SeqCst) != this {
            let message = format!("this process was forked while a memory was open: {ADVICE}");
            return Err(errors::coded("forked", &message));
        }
        if OWNER.swap(this, Ordering::SeqCst) != this {
            OPEN.store(0, Ordering::SeqCst);
        }
        OPEN.fetch_add(1, Ordering::SeqCst);
        Ok(Process(this))
    }

    /// Whether the current process opened the memory, and is not a child of that process.
    pub(crate) fn is_this(&self) -> bool {
        self.0 == process::id()
    }

    /// Fails in a child of the process that opened the memory.
    pub(crate) fn require(&self) -> PyResult<()> {
        if self.is_this() {
            return Ok(());
        }
        let message = format!("the memory was opened by the parent of this process: {ADVICE}");
        Err(errors::coded("forked", &message))
    }

    /// Counts the memory as closed, once everything that it held is closed.
    pub(crate) fn closed(&self) {
        if self.is_this() {
            OPEN.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
