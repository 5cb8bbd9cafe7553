//! Storage in memory, for tests: documents alone, or documents and SQL databases. It follows all
//! rules of `wit/storage` that a call can observe.

mod copy;
mod database;
mod documents;
mod mutex;
pub mod sql;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agent_memory_storage::database::{Connection, Kind};
use agent_memory_storage::{Area, Error, Place, Storage, Tree};

pub use self::database::{Image, SqlDatabase};
pub use self::documents::{Lock, MemoryStorage};

/// Documents and databases in memory, for one call at a time.
#[derive(Debug, Default)]
pub struct InMemoryStorage {
    documents: MemoryStorage,
    /// The kept database (with data of the user) of the first place that has one.
    kept: SqlDatabase,
    owners: Arc<Mutex<Owners>>,
    derived: Arc<Mutex<Derived>>,
}

/// The derived databases, such as search indexes, by their place and name.
type Derived = BTreeMap<(Place, String), SqlDatabase>;

/// The places with kept databases.
#[derive(Debug, Default)]
struct Owners {
    /// The owner of the first kept database.
    first: Option<Place>,
    others: Vec<(Place, SqlDatabase)>,
}

impl InMemoryStorage {
    /// Empty storage: no place is granted, and no database exists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empty storage like a server: see [`MemoryStorage::like_a_server`]. Transactions in different
    /// scopes of a kept database can be open at the same time, each in a copy of it. It panics if two
    /// scopes change one row or one document, at once or one after the other, unless a writer of the
    /// whole place came between.
    pub fn like_a_server() -> Self {
        Self { documents: MemoryStorage::like_a_server(), ..Self::default() }
    }

    /// The same storage, for calls of another thread.
    pub fn another(&self) -> Self {
        Self {
            documents: self.documents.another(),
            kept: self.kept.another(),
            owners: self.owners.clone(),
            derived: self.derived.clone(),
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

    /// See [`MemoryStorage::remove`].
    pub fn remove(&self, place: &Place, area: Area, path: &str) {
        self.documents.remove(place, area, path);
    }

    /// See [`MemoryStorage::documents`].
    pub fn documents(&self, place: &Place, area: Area) -> BTreeMap<String, Vec<u8>> {
        self.documents.documents(place, area)
    }

    /// The kept database of a place.
    fn kept_of(&self, place: &Place) -> SqlDatabase {
        let mut owners = mutex::locked(&self.owners);
        if owners.first.get_or_insert_with(|| place.clone()) == place {
            return self.kept.clone();
        }
        if let Some((_, database)) = owners.others.iter().find(|(owner, _)| owner == place) {
            return database.in_call_of(&self.kept);
        }
        let database = self.kept.beside();
        owners.others.push((place.clone(), database.clone()));
        database
    }

    /// The derived database of a place with this name, for the current call.
    fn derived(&self, place: &Place, name: &str) -> SqlDatabase {
        let mut derived = mutex::locked(&self.derived);
        let database = derived.entry((place.clone(), name.to_owned())).or_default();
        database.in_call_of(&self.kept)
    }

    /// Forgets all derived databases, as if a person had deleted the files.
    pub fn delete_derived(&self) {
        mutex::locked(&self.derived).clear();
    }

    /// Runs statements on a derived database as another program would. Creates the database if there
    /// are any.
    ///
    /// # Panics
    ///
    /// If a statement fails.
    pub fn run_derived_sql(&self, place: &Place, name: &str, statements: &[impl AsRef<str>]) {
        self.derived(place, name).run_sql(statements);
    }

    /// The rows of a query of a derived database, as JSON.
    ///
    /// # Errors
    ///
    /// If there is no database, or SQLite refuses the query.
    pub fn query_derived_sql(
        &self,
        place: &Place,
        name: &str,
        sql: &str,
    ) -> Result<Vec<Vec<serde_json::Value>>, String> {
        self.derived(place, name).query_sql(sql)
    }

    /// Runs statements on the first kept database as another program would. Creates the database if there
    /// are any.
    ///
    /// # Panics
    ///
    /// If a statement fails.
    pub fn run_sql(&self, statements: &[impl AsRef<str>]) {
        self.kept.run_sql(statements);
    }

    /// Makes the tables of the kept database of a place, as a server has them before a call: their ids
    /// come from sequences.
    ///
    /// # Panics
    ///
    /// If a statement fails.
    pub fn make_tables(&self, place: &Place, statements: &[String]) {
        let id = "INTEGER PRIMARY KEY,";
        let counting = "INTEGER PRIMARY KEY AUTOINCREMENT,";
        let statements: Vec<_> = statements.iter().map(|sql| sql.replace(id, counting)).collect();
        self.kept_of(place).run_sql(&statements);
    }

    /// The rows of a query of the first kept database, as JSON.
    ///
    /// # Errors
    ///
    /// If there is no database, or SQLite refuses the query.
    pub fn query_sql(&self, sql: &str) -> Result<Vec<Vec<serde_json::Value>>, String> {
        self.kept.query_sql(sql)
    }

    /// The contents of the first kept database, with the changes of an open transaction. `None` if it does
    /// not exist.
    pub fn image(&self) -> Option<Image> {
        self.kept.image()
    }

    /// Replaces the first kept database.
    pub fn restore(&self, image: &Image) {
        self.kept.restore(image);
    }
}

impl Storage for InMemoryStorage {
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error> {
        self.documents.open(place)
    }

    fn list_repositories(&self) -> Result<Vec<String>, Error> {
        self.documents.list_repositories()
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
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Box<dyn Connection + '_>, Error> {
        match kind {
            Kind::Kept => self.kept_of(place).open(create, Some((&self.documents, place.clone()))),
            Kind::Derived => self.derived(place, name).open(create, None),
        }
    }
}

#[cfg(test)]
mod tests;
