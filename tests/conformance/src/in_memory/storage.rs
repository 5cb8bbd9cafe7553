//! Documents and databases in memory, with the rules that a call can observe.

use agent_memory_core::storage::database::{Connection, Kind};
use agent_memory_core::storage::memory::MemoryStorage;
use agent_memory_core::storage::{Area, Error, Place, Storage, Tree};

use super::database::{Image, SqlDatabase};
use crate::case::Documents;

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

    /// See [`MemoryStorage::put`].
    pub fn put(&self, place: &Place, area: Area, path: &str, contents: impl Into<Vec<u8>>) {
        self.documents.put(place, area, path, contents);
    }

    /// See [`MemoryStorage::documents`].
    pub fn documents(&self, place: &Place, area: Area) -> Documents {
        self.documents.documents(place, area)
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
