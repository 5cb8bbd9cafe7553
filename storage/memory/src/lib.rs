//! Storage in memory, for tests: documents alone, or documents and SQL databases. It follows all
//! rules of `wit/storage` that a call can observe.

mod database;
mod documents;
mod mutex;
pub mod sql;

use std::collections::BTreeMap;

use agent_memory_storage::database::{Connection, Kind};
use agent_memory_storage::{Area, Error, Place, Storage, Tree};

pub use self::database::{Image, SqlDatabase};
pub use self::documents::{Lock, MemoryStorage};

/// Documents and databases in memory, for one call at a time.
#[derive(Debug, Default)]
pub struct InMemoryStorage {
    documents: MemoryStorage,
    kept: SqlDatabase,
    derived: SqlDatabase,
}

impl InMemoryStorage {
    /// Empty storage: no place is granted, and no database exists.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same storage, for calls of another thread.
    pub fn another(&self) -> Self {
        Self {
            documents: self.documents.another(),
            kept: self.kept.another(),
            derived: self.derived.another(),
        }
    }

    /// Begins another call.
    pub fn begin_call(&self) {
        self.documents.begin_call();
    }

    /// See [`MemoryStorage::grant`].
    pub fn grant(&self, place: Place) {
        self.documents.grant(place);
    }

    /// See [`MemoryStorage::grant_family`].
    pub fn grant_family(&self, label: impl Into<String>) {
        self.documents.grant_family(label);
    }

    /// See [`MemoryStorage::put`].
    pub fn put(&self, place: &Place, area: Area, path: &str, contents: impl Into<Vec<u8>>) {
        self.documents.put(place, area, path, contents);
    }

    /// See [`MemoryStorage::documents`].
    pub fn documents(&self, place: &Place, area: Area) -> BTreeMap<String, Vec<u8>> {
        self.documents.documents(place, area)
    }

    /// Runs statements on the kept database as another program would. Creates the database if there
    /// are any.
    ///
    /// # Panics
    ///
    /// If a statement fails.
    pub fn run_sql(&self, statements: &[impl AsRef<str>]) {
        self.kept.run_sql(statements);
    }

    /// The rows of a query of the kept database, as JSON.
    ///
    /// # Errors
    ///
    /// If there is no database, or SQLite refuses the query.
    pub fn query_sql(&self, sql: &str) -> Result<Vec<Vec<serde_json::Value>>, String> {
        self.kept.query_sql(sql)
    }

    /// The contents of the kept database, with the changes of an open transaction. `None` if it does
    /// not exist.
    pub fn image(&self) -> Option<Image> {
        self.kept.image()
    }

    /// Replaces the kept database.
    pub fn restore(&self, image: &Image) {
        self.kept.restore(image);
    }
}

impl Storage for InMemoryStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.documents.open(place)
    }

    fn list_places(&self, label: &str) -> Result<Vec<String>, Error> {
        self.documents.list_places(label)
    }

    fn create_place(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.documents.create_place(place)
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
