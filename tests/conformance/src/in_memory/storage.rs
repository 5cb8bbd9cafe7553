//! Both capabilities in memory, with the rules that a call can observe.

use agent_memory_core::storage::database::{Connection, Kind};
use agent_memory_core::storage::memory::MemoryStorage;
use agent_memory_core::storage::{Area, Error, Place, Storage, Tree};

use super::database::{Image, SqlDatabase};
use crate::case::Documents;

/// Documents and databases that live as long as the value, as one call after the other sees them.
#[derive(Debug, Default)]
pub struct FullStorage {
    documents: MemoryStorage,
    kept: SqlDatabase,
    derived: SqlDatabase,
}

impl FullStorage {
    /// Storage that grants no place yet, and databases that nobody has created.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same storage as a call sees it that goes on beside those of this value, on another
    /// thread.
    pub fn another(&self) -> Self {
        Self {
            documents: self.documents.another(),
            kept: self.kept.another(),
            derived: self.derived.another(),
        }
    }

    /// Says that what follows is another call.
    pub fn begin_call(&self) {
        self.documents.begin_call();
    }

    /// As [`MemoryStorage::grant`].
    pub fn grant(&self, place: Place) {
        self.documents.grant(place);
    }

    /// As [`MemoryStorage::put`].
    pub fn put(&self, place: &Place, area: Area, path: &str, contents: impl Into<Vec<u8>>) {
        self.documents.put(place, area, path, contents);
    }

    /// As [`MemoryStorage::documents`].
    pub fn documents(&self, place: &Place, area: Area) -> Documents {
        self.documents.documents(place, area)
    }

    /// Runs statements on the kept database as another program would, and creates it.
    ///
    /// # Panics
    ///
    /// Where one fails.
    pub fn run_sql(&self, statements: &[impl AsRef<str>]) {
        self.kept.run_sql(statements);
    }

    /// The rows that a query of the kept database answers, as JSON.
    ///
    /// # Errors
    ///
    /// Where it cannot be asked.
    pub fn query_sql(&self, sql: &str) -> Result<Vec<Vec<serde_json::Value>>, String> {
        self.kept.query_sql(sql)
    }

    /// What the kept database holds, also what an open transaction has changed; none where nobody
    /// has created it.
    pub fn image(&self) -> Option<Image> {
        self.kept.image()
    }

    /// Puts a database in the place of the one there is.
    pub fn restore(&self, image: &Image) {
        self.kept.restore(image);
    }
}

impl Storage for FullStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.documents.open(place)
    }

    fn open_database(
        &self,
        place: &Place,
        _: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        match kind {
            Kind::Kept => self.kept.open(create, Some((&self.documents, place.clone()))),
            Kind::Derived => self.derived.open(create, None),
        }
    }
}
