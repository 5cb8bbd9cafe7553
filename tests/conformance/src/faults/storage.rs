//! Storage in memory that does at each operation what a plan says.

use std::panic::resume_unwind;

use agent_memory_core::storage::database::{
    Connection, Effect, Kind, Mode, Rows, Statement, Transaction,
};
use agent_memory_core::storage::{
    Area, Change, CommitError, Document, Documents, Entry, Error, ErrorCode, Place, Status,
    Storage, Tree, Writer,
};

use super::state::Alteration;
use crate::case::Operation;
use crate::in_memory::FullStorage;

/// An operation that is about to happen.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Its kind.
    pub operation: Operation,
    /// The changes that it would make, one after the other.
    pub changes: Vec<Alteration>,
    /// An error that would be no failure here but an answer.
    pub answer: Option<ErrorCode>,
}

/// What happens at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// What the storage below does.
    Passes,
    /// It fails, and so many of its changes stand nevertheless.
    Fails(ErrorCode, usize),
    /// The process dies in it, after so many of its changes.
    Dies(usize),
}

/// Decides what happens.
pub trait Plan {
    /// Called once for each operation, in their order.
    fn at(&self, moment: Moment) -> Event;
}

/// With what a thread unwinds that stands for a process that dies. Whatever is dropped on the way
/// lets go of its lock, as the operating system would, and can do nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Death;

/// Storage in memory under a plan.
#[derive(Debug)]
pub struct FaultyStorage<P> {
    memory: FullStorage,
    plan: P,
}

impl<P: Plan> FaultyStorage<P> {
    /// The storage, which behaves but for the plan.
    pub fn new(memory: FullStorage, plan: P) -> Self {
        Self { memory, plan }
    }

    /// The storage below.
    pub fn memory(&self) -> &FullStorage {
        &self.memory
    }

    /// The plan.
    pub fn plan(&self) -> &P {
        &self.plan
    }

    fn check(&self, operation: Operation, answer: Option<ErrorCode>) -> Result<(), Error> {
        match self.plan.at(Moment { operation, changes: Vec::new(), answer }) {
            Event::Passes => Ok(()),
            Event::Fails(code, _) => Err(injected(code)),
            Event::Dies(_) => resume_unwind(Box::new(Death)),
        }
    }
}

/// What an injected error says, in the words that the cases expect.
pub const INJECTED: &str = "a fault that the case asks for";

fn injected(code: ErrorCode) -> Error {
    Error::new(code, INJECTED)
}

impl<P: Plan> Storage for FaultyStorage<P> {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.check(Operation::Open, None)?;
        Ok(Box::new(FaultyTree { tree: self.memory.open(place)?, storage: self }))
    }

    fn open_database(
        &self,
        place: &Place,
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        // Who does not create one asks whether there is one, and this says that there is not.
        let answer = (!create).then_some(ErrorCode::NotFound);
        self.check(Operation::OpenDatabase, answer)?;
        let connection = self.memory.open_database(place, name, kind, create)?;
        Ok(Box::new(FaultyConnection { connection, storage: self }))
    }
}

struct FaultyTree<'a, P> {
    tree: Box<dyn Tree + 'a>,
    storage: &'a FaultyStorage<P>,
}

impl<P: Plan> Documents for FaultyTree<'_, P> {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.storage.check(Operation::Stat, None)?;
        self.tree.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.storage.check(Operation::Read, None)?;
        self.tree.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.storage.check(Operation::List, None)?;
        self.tree.list(area, directory)
    }
}

impl<P: Plan> Tree for FaultyTree<'_, P> {
    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error> {
        self.storage.check(Operation::Lock, None)?;
        Ok(Box::new(FaultyWriter { writer: self.tree.lock(scope)?, plan: &self.storage.plan }))
    }
}

struct FaultyWriter<'a> {
    writer: Box<dyn Writer + 'a>,
    plan: &'a dyn Plan,
}

impl Writer for FaultyWriter<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        let (operation, answer) = (Operation::Commit, None);
        let alterations = changes.iter().cloned().map(Alteration::Document).collect();
        let event = self.plan.at(Moment { operation, changes: alterations, answer });
        let stand = |count: usize| -> Result<usize, CommitError> {
            let count = count.min(changes.len());
            self.writer.commit(&changes[..count])?;
            Ok(count)
        };
        match event {
            Event::Passes => self.writer.commit(changes),
            Event::Fails(code, applied) => {
                let applied = stand(applied)? as u32;
                Err(CommitError { error: injected(code), change: Some(applied), applied })
            }
            Event::Dies(applied) => {
                stand(applied)?;
                resume_unwind(Box::new(Death))
            }
        }
    }
}

struct FaultyConnection<'a, P> {
    connection: Box<dyn Connection + 'a>,
    storage: &'a FaultyStorage<P>,
}

impl<P: Plan> Connection for FaultyConnection<'_, P> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.storage.check(Operation::Query, None)?;
        self.connection.query(statement, max_rows)
    }

    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error> {
        let operation = match mode {
            Mode::Read => Operation::BeginRead,
            Mode::Write(_) => Operation::BeginWrite,
        };
        let writes = mode != Mode::Read;
        self.storage.check(operation, None)?;
        let transaction = self.connection.begin(mode)?;
        Ok(Box::new(FaultyTransaction { transaction, storage: self.storage, writes }))
    }
}

struct FaultyTransaction<'a, P> {
    transaction: Box<dyn Transaction + 'a>,
    storage: &'a FaultyStorage<P>,
    writes: bool,
}

impl<P: Plan> Transaction for FaultyTransaction<'_, P> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.storage.check(Operation::Query, None)?;
        self.transaction.query(statement, max_rows)
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.storage.check(Operation::Execute, None)?;
        self.transaction.execute(statements)
    }

    /// Stands or is rolled back as a whole.
    fn commit(&self) -> Result<(), Error> {
        let image = self.storage.memory.image().filter(|_| self.writes);
        let changes = image.map(Alteration::Database).into_iter().collect();
        let operation = Operation::CommitTransaction;
        match self.storage.plan.at(Moment { operation, changes, answer: None }) {
            Event::Passes => self.transaction.commit(),
            Event::Fails(code, applied) => {
                if applied > 0 {
                    self.transaction.commit()?;
                }
                Err(injected(code))
            }
            Event::Dies(applied) => {
                if applied > 0 {
                    self.transaction.commit()?;
                }
                resume_unwind(Box::new(Death))
            }
        }
    }
}
