//! Faults at regular intervals, over many calls.

use std::cell::Cell;

use agent_memory_core::storage::ErrorCode;

use super::storage::{Action, PendingOperation, Plan};

/// Lets every `period`-th operation fail. Every second commit that fails is applied nevertheless.
#[derive(Debug)]
pub struct Every {
    period: usize,
    code: ErrorCode,
    done: Cell<usize>,
}

impl Every {
    /// A plan in which every `period`-th operation fails with this error.
    pub fn new(period: usize, code: ErrorCode) -> Self {
        Self { period, code, done: Cell::default() }
    }
}

impl Plan for Every {
    fn decide(&self, operation: PendingOperation) -> Action {
        let count = self.done.get() + 1;
        self.done.set(count);
        // An error that is a normal answer is not a fault. Only with `io` may a failed commit be
        // applied.
        if !count.is_multiple_of(self.period) || operation.normal_error == Some(self.code) {
            Action::Proceed
        } else if self.code == ErrorCode::Io && (count / self.period).is_multiple_of(2) {
            Action::Fail(self.code, operation.changes.len())
        } else {
            Action::Fail(self.code, 0)
        }
    }
}
