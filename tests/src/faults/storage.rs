//! Storage in memory that does at each operation what a plan says.
//!
//! Operations of a database take the same way: each is a [`Moment`], and what can stand in spite of
//! an error are its parts: none for a query or a statement, which a rollback takes back, one for
//! the commit of a transaction.

use std::collections::BTreeMap;
use std::panic::resume_unwind;

use agent_memory_core::storage::memory::MemoryStorage;
use agent_memory_core::storage::{
    Change, CommitError, Document, Entry, Error, ErrorCode, Place, Side, Storage, Tree, Writer,
};

use crate::case::{Documents, Operation};

/// An operation that is about to happen.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Its kind.
    pub operation: Operation,
    /// The changes that it would make, one after the other.
    pub changes: Vec<Change>,
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
    memory: MemoryStorage,
    plan: P,
}

impl<P: Plan> FaultyStorage<P> {
    /// The storage, which behaves but for the plan.
    pub fn new(memory: MemoryStorage, plan: P) -> Self {
        Self { memory, plan }
    }

    /// The storage below.
    pub fn memory(&self) -> &MemoryStorage {
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
}

struct FaultyTree<'a, P> {
    tree: Box<dyn Tree + 'a>,
    storage: &'a FaultyStorage<P>,
}

impl<P: Plan> Tree for FaultyTree<'_, P> {
    fn read(&self, side: Side, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        // Who allows no byte asks whether there is a document, and this says that there is.
        let answer = (max_bytes == 0).then_some(ErrorCode::TooLarge);
        self.storage.check(Operation::Read, answer)?;
        self.tree.read(side, path, max_bytes)
    }

    fn list(&self, side: Side, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.storage.check(Operation::List, None)?;
        self.tree.list(side, directory)
    }

    fn lock(&self) -> Result<Box<dyn Writer + '_>, Error> {
        self.storage.check(Operation::Lock, None)?;
        Ok(Box::new(FaultyWriter { writer: self.tree.lock()?, plan: &self.storage.plan }))
    }
}

struct FaultyWriter<'a> {
    writer: Box<dyn Writer + 'a>,
    plan: &'a dyn Plan,
}

impl Writer for FaultyWriter<'_> {
    fn commit(&self, changes: &[Change]) -> Result<Vec<String>, CommitError> {
        let (operation, answer) = (Operation::Commit, None);
        let event = self.plan.at(Moment { operation, changes: changes.to_vec(), answer });
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

/// The documents of one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State(BTreeMap<(Side, String), Vec<u8>>);

impl State {
    /// The documents that a storage has.
    pub fn of(memory: &MemoryStorage, place: &Place) -> Self {
        let sides = [Side::Documents, Side::Bookkeeping];
        let of_side = |side| {
            let documents = memory.documents(place, side).into_iter();
            documents.map(move |(path, contents)| ((side, path), contents))
        };
        Self(sides.into_iter().flat_map(of_side).collect())
    }

    /// Documents where users look for them, and nothing else.
    pub fn given(documents: Documents) -> Self {
        let documents = documents.into_iter();
        Self(documents.map(|(path, text)| ((Side::Documents, path), text)).collect())
    }

    /// Fresh storage that has these documents: what a process finds that starts now.
    pub fn reopened(&self, place: &Place) -> MemoryStorage {
        let memory = MemoryStorage::new();
        memory.grant(place.clone());
        for ((side, path), contents) in &self.0 {
            memory.put(place, *side, path, contents.clone());
        }
        memory
    }

    /// The states after the first change of a commit, the first two, and so on.
    pub fn after_each(&self, changes: &[Change]) -> Vec<Self> {
        let mut state = self.clone();
        let after = |change: &Change| {
            match change.clone() {
                Change::Put { side, path, contents, .. } => {
                    state.0.insert((side, path), contents);
                }
                Change::Delete { side, path, .. } => {
                    state.0.remove(&(side, path));
                }
                Change::Copy { side, from, to, .. } => {
                    state.0.insert((side, to), self.0[&(side, from)].clone());
                }
            }
            state.clone()
        };
        changes.iter().map(after).collect()
    }

    /// What stands where users look for it.
    pub fn documents(&self) -> Documents {
        let documents = self.0.iter().filter(|((side, _), _)| *side == Side::Documents);
        documents.map(|((_, path), contents)| (path.clone(), contents.clone())).collect()
    }

    /// Bytes in all.
    pub fn size(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}
