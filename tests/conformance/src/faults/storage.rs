//! Storage in memory whose operations fail as a plan decides.

use std::panic::resume_unwind;

use agent_memory_core::storage::database::{
    Connection, Effect, Kind, Mode, Rows, Statement, Transaction,
};
use agent_memory_core::storage::{
    Area, Change, CommitError, Document, Documents, Entry, Error, ErrorCode, Place, Status,
    Storage, Tree, Writer,
};

use super::state::StateChange;
use crate::case::Operation;
use crate::in_memory::InMemoryStorage;

/// An operation that is about to happen.
#[derive(Clone, Debug)]
pub struct PendingOperation {
    /// Its kind.
    pub operation: Operation,
    /// The changes that it would make, in order.
    pub changes: Vec<StateChange>,
    /// The error that is a normal answer of this operation, if there is one.
    pub normal_error: Option<ErrorCode>,
}

/// What happens at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The operation is done.
    Proceed,
    /// The operation fails. This number of its changes is applied nevertheless.
    Fail(ErrorCode, usize),
    /// The process crashes, after this number of its changes.
    Crash(usize),
}

/// Decides what happens at each operation.
pub trait Plan {
    /// Is called once for each operation, in order.
    fn decide(&self, operation: PendingOperation) -> Action;
}

/// The panic payload that simulates a crash of the process. Unwinding drops the locks, as the operating
/// system frees the locks of a crashed process.
#[derive(Clone, Copy, Debug)]
pub struct Crash;

/// Storage in memory with the faults of a plan.
#[derive(Debug)]
pub struct FaultyStorage<P> {
    memory: InMemoryStorage,
    plan: P,
    fails_derived: bool,
}

impl<P: Plan> FaultyStorage<P> {
    /// Adds a plan to storage.
    pub fn new(memory: InMemoryStorage, plan: P) -> Self {
        Self { memory, plan, fails_derived: false }
    }

    /// Injects faults into derived databases, too.
    pub fn with_faults_in_derived(self) -> Self {
        Self { fails_derived: true, ..self }
    }

    /// The storage without faults.
    pub fn memory(&self) -> &InMemoryStorage {
        &self.memory
    }

    /// The plan.
    pub fn plan(&self) -> &P {
        &self.plan
    }

    fn check(&self, operation: Operation) -> Result<(), Error> {
        self.check_with(operation, None)
    }

    fn check_with(
        &self,
        operation: Operation,
        normal_error: Option<ErrorCode>,
    ) -> Result<(), Error> {
        match self.plan.decide(PendingOperation { operation, changes: Vec::new(), normal_error }) {
            Action::Proceed => Ok(()),
            Action::Fail(code, _) => Err(injected(code)),
            Action::Crash(_) => resume_unwind(Box::new(Crash)),
        }
    }
}

/// The message of an injected error, as the cases expect it.
pub const INJECTED: &str = "a fault that the case asks for";

fn injected(code: ErrorCode) -> Error {
    Error::new(code, INJECTED)
}

impl<P: Plan> Storage for FaultyStorage<P> {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        // A place with a name may not exist: then `not-found` is a normal answer.
        let is_family = matches!(place, Place::Named { name, .. } if !name.is_empty());
        self.check_with(Operation::Open, is_family.then_some(ErrorCode::NotFound))?;
        Ok(Box::new(FaultyTree { tree: self.memory.open(place)?, storage: self }))
    }

    fn list_repositories(&self) -> Result<Vec<String>, Error> {
        self.check(Operation::ListPlaces)?;
        self.memory.list_repositories()
    }

    fn list_places(&self, label: &str) -> Result<Vec<String>, Error> {
        self.check(Operation::ListPlaces)?;
        self.memory.list_places(label)
    }

    fn create_place(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.check_with(Operation::CreatePlace, Some(ErrorCode::AlreadyExists))?;
        Ok(Box::new(FaultyTree { tree: self.memory.create_place(place)?, storage: self }))
    }

    fn open_database(
        &self,
        place: &Place,
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        // A fault in an index changes no answer, so none is injected here: `tests/index/` of the core
        // does it.
        if kind == Kind::Derived && !self.fails_derived {
            return self.memory.open_database(place, name, kind, create);
        }
        // Without `create`, the database may not exist: then `not-found` is a normal answer.
        let normal_error = (!create).then_some(ErrorCode::NotFound);
        self.check_with(Operation::OpenDatabase, normal_error)?;
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
        self.storage.check(Operation::Stat)?;
        self.tree.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.storage.check(Operation::Read)?;
        self.tree.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.storage.check(Operation::List)?;
        self.tree.list(area, directory)
    }
}

impl<P: Plan> Tree for FaultyTree<'_, P> {
    fn location(&self) -> String {
        self.tree.location()
    }

    fn has_atomic_commits(&self) -> bool {
        self.tree.has_atomic_commits()
    }

    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error> {
        self.storage.check(Operation::Lock)?;
        Ok(Box::new(FaultyWriter { writer: self.tree.lock(scope)?, plan: &self.storage.plan }))
    }
}

struct FaultyWriter<'a> {
    writer: Box<dyn Writer + 'a>,
    plan: &'a dyn Plan,
}

impl Writer for FaultyWriter<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError> {
        let action = self.plan.decide(PendingOperation {
            operation: Operation::Commit,
            changes: changes.iter().cloned().map(StateChange::Document).collect(),
            normal_error: None,
        });
        let apply = |count: usize| -> Result<usize, CommitError> {
            let count = count.min(changes.len());
            self.writer.commit(&changes[..count])?;
            Ok(count)
        };
        match action {
            Action::Proceed => self.writer.commit(changes),
            Action::Fail(code, applied) => {
                let applied = apply(applied)? as u32;
                Err(CommitError { error: injected(code), change: Some(applied), applied })
            }
            Action::Crash(applied) => {
                apply(applied)?;
                resume_unwind(Box::new(Crash))
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
        self.storage.check(Operation::Query)?;
        self.connection.query(statement, max_rows)
    }

    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error> {
        let operation = match mode {
            Mode::Read => Operation::BeginRead,
            Mode::Write(_) => Operation::BeginWrite,
        };
        let writes = mode != Mode::Read;
        self.storage.check(operation)?;
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
        self.storage.check(Operation::Query)?;
        self.transaction.query(statement, max_rows)
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.storage.check(Operation::Execute)?;
        self.transaction.execute(statements)
    }

    /// Commits, unless the plan decides otherwise. A commit is one change, so `applied` is 0 or 1.
    fn commit(&self) -> Result<(), Error> {
        let image = self.storage.memory.image().filter(|_| self.writes);
        let changes = image.map(StateChange::Database).into_iter().collect();
        let operation = Operation::CommitTransaction;
        match self.storage.plan.decide(PendingOperation { operation, changes, normal_error: None })
        {
            Action::Proceed => self.transaction.commit(),
            Action::Fail(code, applied) => {
                if applied > 0 {
                    self.transaction.commit()?;
                }
                Err(injected(code))
            }
            Action::Crash(applied) => {
                if applied > 0 {
                    self.transaction.commit()?;
                }
                resume_unwind(Box::new(Crash))
            }
        }
    }
}
