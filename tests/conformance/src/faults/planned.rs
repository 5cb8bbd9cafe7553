//! The faults of a case.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::code;
use super::storage::{Event, Moment, Plan};
use crate::case::{Fault, Operation};

/// Lets fail what a case names.
#[derive(Debug)]
pub struct Planned {
    faults: RefCell<Vec<Fault>>,
    step: Cell<usize>,
    done: RefCell<BTreeMap<Operation, usize>>,
}

impl Planned {
    /// The faults, each of which is to happen once.
    pub fn new(faults: Vec<Fault>) -> Self {
        Self { faults: RefCell::new(faults), step: Cell::new(0), done: RefCell::default() }
    }

    /// Says which step the coming operations belong to.
    pub fn begin_step(&self, step: usize) {
        self.step.set(step);
        self.done.borrow_mut().clear();
    }

    /// A fault that has not happened.
    pub fn unused(&self) -> Option<Fault> {
        self.faults.borrow().first().cloned()
    }
}

impl Plan for Planned {
    fn at(&self, Moment { operation, .. }: Moment) -> Event {
        let mut done = self.done.borrow_mut();
        let count = done.entry(operation).or_default();
        let nth = *count;
        *count += 1;
        let mut faults = self.faults.borrow_mut();
        let here = |fault: &Fault| {
            fault.step == self.step.get() && fault.operation == operation && fault.nth == nth
        };
        match faults.iter().position(here).map(|index| faults.remove(index)) {
            Some(fault) => Event::Fails(code(&fault.error), fault.applied),
            None => Event::Passes,
        }
    }
}
