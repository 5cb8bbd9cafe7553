//! Derived databases, which can be made again from primary data. A damaged database, or one of another
//! version, is replaced by a new one.

use crate::sql::{DatabaseDescription, is_in_texts, json, statement};
use crate::storage::database::{Connection, Dialect, Kind, Mode, Statement, Transaction, Value};
use crate::storage::{Error, ErrorCode, Place, Storage};

/// A derived database, which each place may have.
pub(crate) struct DerivedDatabase {
    pub name: &'static str,
    /// All tables.
    pub tables: &'static [&'static str],
    /// The table whose only row has the version.
    pub version_table: &'static str,
    /// Whether this program can read tables of a version.
    pub knows: fn(i64) -> bool,
    /// The tables that earlier versions of this program made.
    pub earlier_tables: &'static [&'static str],
    /// The statements that make the tables in SQLite.
    pub sqlite_tables: &'static [&'static str],
    /// The statements that make the tables on PostgreSQL, where all places share them.
    pub postgres_tables: &'static [&'static str],
}

impl DerivedDatabase {
    /// The description for hosts.
    pub fn description(&self) -> DatabaseDescription {
        DatabaseDescription {
            name: self.name,
            dialects: &["sqlite", "postgres"],
            // Empty, because the first change makes the tables.
            sqlite_tables: &[],
            postgres_tables: self.postgres_tables,
        }
    }

    pub fn open<'s>(
        &self,
        storage: &'s dyn Storage,
        place: &Place,
        creates: bool,
    ) -> Result<Box<dyn Connection + 's>, Error> {
        storage.open_database(place, self.name, Kind::Derived, creates)
    }

    /// Opens the database for a change.
    ///
    /// # Errors
    ///
    /// `NotFound` if the place does not have the database, unless `creates`.
    pub fn open_for_change<'s>(
        &self,
        storage: &'s dyn Storage,
        place: &Place,
        creates: bool,
    ) -> Result<Box<dyn Connection + 's>, Error> {
        let connection = self.open(storage, place, creates)?;
        // The tables of a server are for all places. Only a row with a version shows that this place
        // uses them.
        if !creates && connection.dialect() == Dialect::Postgres {
            let rows = connection.query(&self.select_version(), 1)?.rows;
            if rows.is_empty() {
                let message = format!("the place has no `{}`", self.name);
                return Err(Error::new(ErrorCode::NotFound, message));
            }
        }
        Ok(connection)
    }

    /// The version of the tables in this database. `None` if no version is stored yet or, in SQLite, if a
    /// table is missing.
    pub fn version(&self, transaction: &dyn Transaction) -> Result<Option<i64>, Error> {
        if transaction.dialect() == Dialect::Sqlite {
            let are = is_in_texts(Dialect::Sqlite, "name", "?1");
            let sql = format!("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND {are}");
            let count = transaction.query(&statement(&sql, [json(self.tables)]), 1)?.rows;
            if count != [[Value::Integer(self.tables.len() as i64)]] {
                return Ok(None);
            }
        }
        let rows = transaction.query(&self.select_version(), 1)?.rows;
        match rows.first().map(Vec::as_slice) {
            None => Ok(None),
            Some([Value::Integer(version)]) => Ok(Some(*version)),
            Some(_) => Err(self.damaged()),
        }
    }

    fn select_version(&self) -> Statement {
        statement(&format!("SELECT version FROM {}", self.version_table), [])
    }

    /// Runs `change` on a database of this version, in a transaction. Before, a database of another
    /// version is replaced by an empty one. If the database is damaged, it is replaced, too, and
    /// `change` runs again.
    pub fn change<T>(
        &self,
        connection: &dyn Connection,
        version: i64,
        change: impl Fn(&dyn Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let run = |makes_anew: bool| {
            let transaction = connection.begin(Mode::Write(None))?;
            if makes_anew || self.version(&*transaction)? != Some(version) {
                self.create(&*transaction, version)?;
            }
            let changed = change(&*transaction)?;
            transaction.commit()?;
            Ok(changed)
        };
        match run(false) {
            Err(error) if is_damaged(&error) => run(true),
            changed => changed,
        }
    }

    /// Replaces the database by an empty one.
    pub fn make_anew(
        &self,
        storage: &dyn Storage,
        place: &Place,
        version: i64,
    ) -> Result<(), Error> {
        let connection = self.open(storage, place, true)?;
        let transaction = connection.begin(Mode::Write(None))?;
        self.create(&*transaction, version)?;
        transaction.commit()
    }

    /// Runs `forget`, which removes documents that were deleted for good, in a transaction. Empties a
    /// database that is damaged or has an unknown version.
    pub fn forget(
        &self,
        storage: &dyn Storage,
        place: &Place,
        forget: impl Fn(&dyn Transaction) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let connection = match self.open_for_change(storage, place, false) {
            // Opened to be written, a damaged file is replaced by an empty one.
            Err(error) if is_damaged(&error) => return self.open(storage, place, true).map(drop),
            opened => opened?,
        };
        let forgotten = || {
            let transaction = connection.begin(Mode::Write(None))?;
            match self.version(&*transaction)? {
                None => Ok(()),
                Some(version) if !(self.knows)(version) => Err(self.damaged()),
                Some(_) => {
                    forget(&*transaction)?;
                    transaction.commit()
                }
            }
        };
        match forgotten() {
            Err(error) if is_damaged(&error) => {
                let transaction = connection.begin(Mode::Write(None))?;
                self.empty(&*transaction)?;
                transaction.commit()
            }
            forgotten => forgotten,
        }
    }

    /// Makes empty tables of a version.
    fn create(&self, transaction: &dyn Transaction, version: i64) -> Result<(), Error> {
        match transaction.dialect() {
            Dialect::Sqlite => {
                let drop = |table: &&str| statement(&format!("DROP TABLE IF EXISTS {table}"), []);
                let dropped = self.earlier_tables.iter().chain(self.tables).map(drop);
                let created = self.sqlite_tables.iter().map(|sql| statement(sql, []));
                transaction.execute(&dropped.chain(created).collect::<Vec<_>>())?;
            }
            Dialect::Postgres => self.empty(transaction)?,
        }
        let insert = format!("INSERT INTO {} (version) VALUES (?1)", self.version_table);
        transaction.execute(&[statement(&insert, [Value::Integer(version)])])?;
        Ok(())
    }

    /// Removes everything, also the version.
    fn empty(&self, transaction: &dyn Transaction) -> Result<(), Error> {
        let delete = |table: &&str| statement(&format!("DELETE FROM {table}"), []);
        transaction.execute(&self.tables.iter().map(delete).collect::<Vec<_>>())?;
        Ok(())
    }

    /// The texts of a statement's only column.
    pub fn texts(
        &self,
        transaction: &dyn Transaction,
        statement: &Statement,
    ) -> Result<Vec<String>, Error> {
        let rows = transaction.query(statement, u32::MAX)?.rows;
        let only = |mut row: Vec<Value>| match row.pop() {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.damaged()),
        };
        rows.into_iter().map(only).collect()
    }

    /// The error for contents that this program did not write.
    pub fn damaged(&self) -> Error {
        let message = format!("`{}` is damaged: delete it, and it is made anew", self.name);
        Error::new(ErrorCode::Corrupted, message)
    }
}

pub(crate) fn is_damaged(error: &Error) -> bool {
    error.code == ErrorCode::Corrupted
}
