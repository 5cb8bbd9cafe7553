//! The plan of a case with faults.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::code;
use super::storage::{Action, PendingOperation, Plan};
use crate::case::{Fault, Operation};

/// Injects the faults that a case names.
#[derive(Debug)]
pub struct CaseFaults {
    faults: RefCell<Vec<Fault>>,
    step: Cell<usize>,
    done: RefCell<BTreeMap<Operation, usize>>,
}

impl CaseFaults {
    /// A plan in which each of these faults happens once.
    pub fn new(faults: Vec<Fault>) -> Self {
        Self { faults: RefCell::new(faults), step: Cell::new(0), done: RefCell::default() }
    }

    /// Begins a step: the next operations belong to it.
    pub fn begin_step(&self, step: usize) {
        self.step.set(step);
        self.done.borrow_mut().clear();
    }

    /// The first fault that has not happened.
    pub fn unused(&self) -> Option<Fault> {
        self.faults.borrow().first().cloned()
    }
}

impl Plan for CaseFaults {
    fn decide(&self, PendingOperation { operation, .. }: PendingOperation) -> Action {
        let mut done = self.done.borrow_mut();
        let count = done.entry(operation).or_default();
        let nth = *count;
        *count += 1;
        let mut faults = self.faults.borrow_mut();
        let here = |fault: &Fault| {
            fault.step == self.step.get() && fault.operation == operation && fault.nth == nth
        };
        match faults.iter().position(here).map(|index| faults.remove(index)) {
            Some(fault) => Action::Fail(code(&fault.error), fault.applied),
            None => Action::Proceed,
        }
    }
}
