//! The faults of a sweep. Each is in one operation of a call.

use std::cell::{Cell, RefCell};
use std::fmt;

use agent_memory_core::storage::ErrorCode;

use super::storage::{Action, PendingOperation, Plan};
use crate::case::Operation;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The operation fails. Later operations succeed.
    Once(ErrorCode),
    /// The operation and all later ones fail.
    Always(ErrorCode),
    /// The process crashes.
    Crash,
}

/// A fault of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The number of the operation's changes that are applied in spite of the fault.
    pub applied: usize,
}

/// An operation of a call, and its fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The operation's number, from 0.
    pub at: usize,
    /// Its fault.
    pub fault: Fault,
}

impl Fault {
    /// Every fault that an operation can have.
    pub fn all(operation: &PendingOperation) -> Vec<Self> {
        let mut faults = Vec::new();
        for applied in 0..=operation.changes.len() {
            faults.push(Self { kind: FaultKind::Crash, applied });
            for &code in ErrorCode::ALL {
                // A transaction whose commit fails with `io` may be committed; other errors roll it
                // back.
                let may_apply =
                    operation.operation != Operation::CommitTransaction || code == ErrorCode::Io;
                if applied > 0 && !may_apply {
                    continue;
                }
                // Versions are compared before a change, so this error cannot follow the last change.
                let is_too_late = code == ErrorCode::VersionMismatch
                    && applied > 0
                    && applied == operation.changes.len();
                if operation.normal_error != Some(code) && !is_too_late {
                    let kinds = [FaultKind::Once(code), FaultKind::Always(code)];
                    faults.extend(kinds.map(|kind| Self { kind, applied }));
                }
            }
        }
        faults
    }
}

impl Point {
    /// Whether the caller cannot know, after this error, if the change was made.
    pub(super) fn is_uncertain(self, operation: Operation) -> bool {
        let is_io = matches!(
            self.fault.kind,
            FaultKind::Once(ErrorCode::Io) | FaultKind::Always(ErrorCode::Io)
        );
        operation == Operation::CommitTransaction && is_io
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.at)?;
        match self.fault.kind {
            FaultKind::Once(code) => write!(f, "{code}:once")?,
            FaultKind::Always(code) => write!(f, "{code}:always")?,
            FaultKind::Crash => write!(f, "crash")?,
        }
        match self.fault.applied {
            0 => Ok(()),
            applied => write!(f, ":after-{applied}"),
        }
    }
}

/// Injects a fault at one point, or none, and records all operations.
#[derive(Debug, Default)]
pub(super) struct AtPoint {
    point: Option<Point>,
    operations: RefCell<Vec<PendingOperation>>,
    applied: Cell<usize>,
}

impl AtPoint {
    pub fn new(point: Option<Point>) -> Self {
        Self { point, ..Self::default() }
    }

    /// All operations of the call.
    pub fn operations(&self) -> Vec<PendingOperation> {
        self.operations.borrow().clone()
    }

    /// The operation at the point. `None` if the call did not reach it.
    pub fn reached(&self) -> Option<Operation> {
        Some(self.operations.borrow().get(self.point?.at)?.operation)
    }

    /// The number of changes that were applied, in all commits.
    pub fn applied(&self) -> usize {
        self.applied.get()
    }
}

impl Plan for AtPoint {
    fn decide(&self, operation: PendingOperation) -> Action {
        let mut operations = self.operations.borrow_mut();
        let number = operations.len();
        let changes = operation.changes.len();
        let normal_error = operation.normal_error;
        operations.push(operation);
        let action = match self.point {
            Some(Point { at, fault: Fault { kind, applied } }) if at == number => match kind {
                FaultKind::Once(code) | FaultKind::Always(code) => Action::Fail(code, applied),
                FaultKind::Crash => Action::Crash(applied),
            },
            // An error that is a normal answer to this operation is not a fault.
            Some(Point { at, fault: Fault { kind: FaultKind::Always(code), .. } })
                if at < number && normal_error != Some(code) =>
            {
                Action::Fail(code, 0)
            }
            _ => Action::Proceed,
        };
        let applied = match action {
            Action::Proceed => changes,
            Action::Fail(_, applied) | Action::Crash(applied) => applied,
        };
        self.applied.set(self.applied.get() + applied);
        action
    }
}
