//! Storage in memory that fails where a case says.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use agent_memory_core::storage::memory::MemoryStorage;
use agent_memory_core::storage::{
    Change, CommitError, Document, Entry, Error, ErrorCode, Place, Side, Storage, Tree, Writer,
};

use crate::case::{Fault, Operation};

/// Storage with faults to come.
pub struct FaultyStorage {
    memory: MemoryStorage,
    plan: Plan,
}

struct Plan {
    faults: RefCell<Vec<Fault>>,
    step: Cell<usize>,
    done: RefCell<BTreeMap<Operation, usize>>,
}

impl FaultyStorage {
    /// Storage that behaves but for the faults.
    pub fn new(memory: MemoryStorage, faults: Vec<Fault>) -> Self {
        let plan =
            Plan { faults: RefCell::new(faults), step: Cell::new(0), done: RefCell::default() };
        Self { memory, plan }
    }

    /// Says which step the coming operations belong to.
    pub fn begin_step(&self, step: usize) {
        self.plan.step.set(step);
        self.plan.done.borrow_mut().clear();
    }

    /// A fault that has not happened.
    pub fn unused(&self) -> Option<Fault> {
        self.plan.faults.borrow().first().cloned()
    }

    /// The storage below.
    pub fn memory(&self) -> &MemoryStorage {
        &self.memory
    }
}

impl Plan {
    /// Counts an operation and takes the fault that is planned for it.
    fn take(&self, operation: Operation) -> Option<Fault> {
        let mut done = self.done.borrow_mut();
        let count = done.entry(operation).or_default();
        let nth = *count;
        *count += 1;
        let mut faults = self.faults.borrow_mut();
        let here = |fault: &Fault| {
            fault.step == self.step.get() && fault.operation == operation && fault.nth == nth
        };
        let index = faults.iter().position(here)?;
        Some(faults.remove(index))
    }

    fn check(&self, operation: Operation) -> Result<(), Error> {
        self.take(operation).map_or(Ok(()), |fault| Err(error(&fault)))
    }
}

fn error(fault: &Fault) -> Error {
    Error::new(code(&fault.error), "a fault that the case asks for")
}

/// The error code of a name in a case.
///
/// # Panics
///
/// Where the name is none of `wit/storage.wit`.
pub fn code(name: &str) -> ErrorCode {
    match name {
        "not-found" => ErrorCode::NotFound,
        "already-exists" => ErrorCode::AlreadyExists,
        "version-mismatch" => ErrorCode::VersionMismatch,
        "not-granted" => ErrorCode::NotGranted,
        "no-space" => ErrorCode::NoSpace,
        "read-only" => ErrorCode::ReadOnly,
        "permission" => ErrorCode::Permission,
        "too-large" => ErrorCode::TooLarge,
        "invalid-path" => ErrorCode::InvalidPath,
        "busy" => ErrorCode::Busy,
        "nested" => ErrorCode::Nested,
        "cancelled" => ErrorCode::Cancelled,
        "io" => ErrorCode::Io,
        _ => panic!("`{name}` is no storage error"),
    }
}

impl Storage for FaultyStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.plan.check(Operation::Open)?;
        Ok(Box::new(FaultyTree { tree: self.memory.open(place)?, plan: &self.plan }))
    }
}

struct FaultyTree<'a> {
    tree: Box<dyn Tree + 'a>,
    plan: &'a Plan,
}

impl Tree for FaultyTree<'_> {
    fn read(&self, side: Side, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.plan.check(Operation::Read)?;
        self.tree.read(side, path, max_bytes)
    }

    fn list(&self, side: Side, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.plan.check(Operation::List)?;
        self.tree.list(side, directory)
    }

    fn lock(&self) -> Result<Box<dyn Writer + '_>, Error> {
        self.plan.check(Operation::Lock)?;
        Ok(Box::new(FaultyWriter { writer: self.tree.lock()?, plan: self.plan }))
    }
}

struct FaultyWriter<'a> {
    writer: Box<dyn Writer + 'a>,
    plan: &'a Plan,
}

impl Writer for FaultyWriter<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<String>, CommitError> {
        let Some(fault) = self.plan.take(Operation::Commit) else {
            return self.writer.commit(changes);
        };
        let stands = fault.applied.min(changes.len());
        self.writer.commit(&changes[..stands])?;
        Err(CommitError {
            error: error(&fault),
            change: Some(stands as u32),
            applied: stands as u32,
        })
    }
}
