//! Where in a call something goes wrong, and how.

use std::cell::{Cell, RefCell};
use std::fmt;

use agent_memory_core::storage::ErrorCode;

use super::name;
use super::storage::{Event, Moment, Plan};
use crate::case::Operation;

/// What goes wrong at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The operation fails; what follows works.
    Once(ErrorCode),
    /// The operation and all that follow fail.
    ForEver(ErrorCode),
    /// The process dies.
    Death,
}

/// A way in which an operation can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub how: How,
    /// How many of the operation's changes stand nevertheless.
    pub applied: usize,
}

/// The operation of a call, counted from 0, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The operation's number.
    pub at: usize,
    /// How it ends.
    pub fault: Fault,
}

impl Fault {
    /// Every way in which an operation can end.
    pub fn all(moment: &Moment) -> Vec<Self> {
        let mut faults = Vec::new();
        for applied in 0..=moment.changes.len() {
            faults.push(Self { how: How::Death, applied });
            for (_, code) in super::ERRORS {
                // After any other error a transaction is rolled back.
                let may_stand =
                    moment.operation != Operation::CommitTransaction || code == ErrorCode::Io;
                if applied > 0 && !may_stand {
                    continue;
                }
                // A version that does not match is found before its change is made.
                let is_too_late = code == ErrorCode::VersionMismatch
                    && applied > 0
                    && applied == moment.changes.len();
                if moment.answer != Some(code) && !is_too_late {
                    faults.extend(
                        [How::Once(code), How::ForEver(code)].map(|how| Self { how, applied }),
                    );
                }
            }
        }
        faults
    }
}

impl Point {
    /// Whether an error there leaves open what was done.
    pub(super) fn is_uncertain(self, operation: Operation) -> bool {
        let is_io =
            matches!(self.fault.how, How::Once(ErrorCode::Io) | How::ForEver(ErrorCode::Io));
        operation == Operation::CommitTransaction && is_io
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.at)?;
        match self.fault.how {
            How::Once(code) => write!(f, "{}:once", name(code))?,
            How::ForEver(code) => write!(f, "{}:for-ever", name(code))?,
            How::Death => write!(f, "death")?,
        }
        match self.fault.applied {
            0 => Ok(()),
            applied => write!(f, ":after-{applied}"),
        }
    }
}

/// Lets a fault happen at one point, or none, and keeps account.
#[derive(Debug, Default)]
pub(super) struct AtPoint {
    point: Option<Point>,
    done: RefCell<Vec<Moment>>,
    stand: Cell<usize>,
}

impl AtPoint {
    pub fn of(point: Option<Point>) -> Self {
        Self { point, ..Self::default() }
    }

    /// Every operation there was.
    pub fn moments(&self) -> Vec<Moment> {
        self.done.borrow().clone()
    }

    /// The operation at the point.
    pub fn reached(&self) -> Option<Operation> {
        Some(self.done.borrow().get(self.point?.at)?.operation)
    }

    /// How many changes stand, of all commits.
    pub fn stand(&self) -> usize {
        self.stand.get()
    }
}

impl Plan for AtPoint {
    fn at(&self, moment: Moment) -> Event {
        let mut done = self.done.borrow_mut();
        let count = moment.changes.len();
        let event = match self.point {
            Some(Point { at, fault: Fault { how, applied } }) if at == done.len() => match how {
                How::Once(code) | How::ForEver(code) => Event::Fails(code, applied),
                How::Death => Event::Dies(applied),
            },
            // What is an answer there is no failure.
            Some(Point { at, fault: Fault { how: How::ForEver(code), .. } })
                if at < done.len() && moment.answer != Some(code) =>
            {
                Event::Fails(code, 0)
            }
            _ => Event::Passes,
        };
        done.push(moment);
        let stand = match event {
            Event::Passes => count,
            Event::Fails(_, applied) | Event::Dies(applied) => applied,
        };
        self.stand.set(self.stand.get() + stand);
        event
    }
}
