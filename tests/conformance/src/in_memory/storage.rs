//! Both capabilities in memory, with the rules that a call can observe.

use std::cell::Cell;
use std::rc::Rc;

use agent_memory_core::storage::database::Connection;
use agent_memory_core::storage::memory::MemoryStorage;
use agent_memory_core::storage::{
    Document, Entry, Error, ErrorCode, Place, Side, Storage, Tree, Writer,
};

use super::database::{Image, SqlDatabase};
use crate::case::Documents;

/// Documents and a database that live as long as the value.
#[derive(Debug, Default)]
pub struct FullStorage {
    documents: MemoryStorage,
    database: SqlDatabase,
    /// Whether the call has committed a transaction.
    committed: Rc<Cell<bool>>,
}

impl FullStorage {
    /// Storage that grants no place yet, and a database that nobody has created.
    pub fn new() -> Self {
        let committed = Rc::new(Cell::new(false));
        Self { database: SqlDatabase::telling(&committed), committed, ..Self::default() }
    }

    /// Says that what follows is another call.
    pub fn begin_call(&self) {
        self.committed.set(false);
    }

    /// As [`MemoryStorage::grant`].
    pub fn grant(&self, place: Place) {
        self.documents.grant(place);
    }

    /// As [`MemoryStorage::put`].
    pub fn put(&self, place: &Place, side: Side, path: &str, contents: impl Into<Vec<u8>>) {
        self.documents.put(place, side, path, contents);
    }

    /// As [`MemoryStorage::documents`].
    pub fn documents(&self, place: &Place, side: Side) -> Documents {
        self.documents.documents(place, side)
    }

    /// What the database holds, also what an open transaction has changed; none where nobody has
    /// created it.
    pub fn image(&self) -> Option<Image> {
        self.database.image()
    }

    /// Puts a database in the place of the one there is.
    pub fn restore(&self, image: &Image) {
        self.database.restore(image);
    }
}

impl Storage for FullStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        let tree = self.documents.open(place)?;
        Ok(Box::new(FullTree { tree, database: &self.database, committed: &self.committed }))
    }

    fn open_database(&self, _: &str, create: bool) -> Result<Box<dyn Connection + '_>, Error> {
        self.database.open(create)
    }
}

struct FullTree<'a> {
    tree: Box<dyn Tree + 'a>,
    database: &'a SqlDatabase,
    committed: &'a Cell<bool>,
}

impl Tree for FullTree<'_> {
    fn read(&self, side: Side, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.tree.read(side, path, max_bytes)
    }

    fn list(&self, side: Side, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.tree.list(side, directory)
    }

    fn lock(&self) -> Result<Box<dyn Writer + '_>, Error> {
        if self.database.is_in_transaction() || self.committed.get() {
            let message =
                "the call has a transaction, or has committed one: it takes its writer before";
            return Err(Error::new(ErrorCode::Nested, message));
        }
        self.tree.lock()
    }
}
