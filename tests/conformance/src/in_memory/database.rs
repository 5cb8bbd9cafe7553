//! A SQL database in memory, for the core as a plain library.

use std::cell::Cell;
use std::io::Cursor;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use agent_memory_core::storage::database::{
    Connection, Effect, Mode, Rows, Statement, Transaction, Value,
};
use agent_memory_core::storage::memory::{Lock, MemoryStorage};
use agent_memory_core::storage::{Error, ErrorCode, Place};
use rusqlite::backup::Backup;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, params_from_iter};
use serde_json::Value as Json;

use crate::sql;

/// One database, granted under any name once it was created, as one call after the other sees it.
#[derive(Debug, Default)]
pub struct SqlDatabase {
    shared: Arc<Shared>,
    /// Whether the call has a transaction on it.
    in_transaction: Cell<bool>,
}

#[derive(Debug, Default)]
struct Shared {
    connection: Mutex<Option<rusqlite::Connection>>,
    /// Whether a call is using the connection, in a transaction or for one query.
    in_use: Mutex<bool>,
    freed: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Waits until no other call uses the connection.
    fn take(&self) {
        let in_use = self.freed.wait_while(locked(&self.in_use), |in_use| *in_use);
        *in_use.unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn give_back(&self) {
        *locked(&self.in_use) = false;
        self.freed.notify_one();
    }
}

/// What a database holds.
#[derive(Clone, Debug)]
pub struct Image {
    /// The file that it would be.
    bytes: Vec<u8>,
    /// Its tables, a row a line: two files that hold the same may differ.
    rows: String,
}

impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Image {}

impl Image {
    /// Whether nothing was made in the database.
    pub fn is_empty(&self) -> bool {
        self.rows == EMPTY
    }
}

/// The rows of a database that was created and left.
const EMPTY: &str = "version 0\n";

impl SqlDatabase {
    /// The same database, as a call on another thread sees it.
    pub(super) fn another(&self) -> Self {
        Self { shared: self.shared.clone(), in_transaction: Cell::new(false) }
    }

    /// Opens it; a transaction that writes takes the lock of the place, where one is given.
    ///
    /// # Errors
    ///
    /// `not-found` before anyone created it.
    pub(super) fn open<'a>(
        &'a self,
        create: bool,
        place: Option<(&'a MemoryStorage, Place)>,
    ) -> Result<Box<dyn Connection + 'a>, Error> {
        let mut connection = locked(&self.shared.connection);
        if connection.is_none() {
            if !create {
                return Err(Error::new(ErrorCode::NotFound, "there is no database yet"));
            }
            *connection = Some(rusqlite::Connection::open_in_memory().map_err(failed)?);
        }
        Ok(Box::new(Open { database: self, place }))
    }

    /// Runs statements as another program would; creates it where there are any.
    pub(super) fn run_sql(&self, statements: &[impl AsRef<str>]) {
        let mut connection = locked(&self.shared.connection);
        if !statements.is_empty() {
            let open = || rusqlite::Connection::open_in_memory().expect("memory");
            let connection = connection.get_or_insert_with(open);
            sql::run(connection, &["PRAGMA query_only = 0"]);
            sql::run(connection, statements);
        }
    }

    /// The rows that a query answers, as JSON.
    pub(super) fn query_sql(&self, sql: &str) -> Result<Vec<Vec<Json>>, String> {
        let connection = locked(&self.shared.connection);
        sql::rows(connection.as_ref().ok_or("there is no database")?, sql)
    }

    /// What it holds, also what an open transaction has changed.
    pub fn image(&self) -> Option<Image> {
        let mut connection = locked(&self.shared.connection);
        let connection = connection.as_mut()?;
        let rows = dump(connection).expect("a database of its own can be read");
        let bytes = connection.serialize("main").expect("a database of its own can be copied");
        Some(Image { bytes: bytes.to_vec(), rows })
    }

    /// Puts another one in its place.
    pub fn restore(&self, image: &Image) {
        let open = || rusqlite::Connection::open_in_memory().expect("memory");
        let (mut from, mut to) = (open(), open());
        let mut bytes = Cursor::new(&image.bytes);
        from.deserialize_read_exact("main", &mut bytes, image.bytes.len(), true)
            .expect("an image of a database");
        // A deserialized database could not be copied within a transaction.
        let copied = Backup::new(&from, &mut to).and_then(|copy| copy.step(-1));
        copied.expect("memory");
        *locked(&self.shared.connection) = Some(to);
    }

    fn run<T>(
        &self,
        act: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let connection = locked(&self.shared.connection);
        act(connection.as_ref().expect("it was opened")).map_err(failed)
    }

    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.run(|connection| {
            let mut prepared = connection.prepare_cached(&statement.sql)?;
            let columns: Vec<String> = prepared.column_names().map(str::to_owned).collect();
            let width = columns.len();
            let parameters = statement.parameters.iter().map(Bound);
            let mut found = prepared.query(params_from_iter(parameters))?;
            let mut rows = Rows { columns, ..Rows::default() };
            while let Some(row) = found.next()? {
                if rows.rows.len() == max_rows as usize {
                    rows.truncated = true;
                    break;
                }
                let values = (0..width).map(|index| Ok(value(row.get_ref(index)?)));
                rows.rows.push(values.collect::<rusqlite::Result<_>>()?);
            }
            Ok(rows)
        })
    }

    fn execute(&self, statement: &Statement) -> Result<Effect, Error> {
        self.run(|connection| {
            let mut prepared = connection.prepare_cached(&statement.sql)?;
            // A pragma that sets something answers with a row, which `execute` would take for an
            // error.
            let changes = match statement.sql.starts_with("PRAGMA") {
                true => connection.execute_batch(&statement.sql).map(|()| 0)?,
                false => {
                    prepared.execute(params_from_iter(statement.parameters.iter().map(Bound)))?
                }
            };
            let last_insert_id = connection.last_insert_rowid();
            Ok(Effect { changes: changes as u64, last_insert_id })
        })
    }
}

/// All tables but those within a virtual one, and the version.
fn dump(connection: &rusqlite::Connection) -> rusqlite::Result<String> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let mut tables = connection.prepare_cached(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY 1",
    )?;
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut text = format!("version {version}\n");
    for name in names {
        let mut rows = connection.prepare_cached(&format!("SELECT * FROM \"{name}\""))?;
        let width = rows.column_count();
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let values: Vec<Value> = (0..width)
                .map(|index| Ok(value(row.get_ref(index)?)))
                .collect::<rusqlite::Result<_>>()?;
            text += &format!("{name} {values:?}\n");
        }
    }
    Ok(text)
}

struct Open<'a> {
    database: &'a SqlDatabase,
    place: Option<(&'a MemoryStorage, Place)>,
}

impl Connection for Open<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        if self.database.in_transaction.get() {
            return Err(nested());
        }
        self.database.shared.take();
        let rows = self.database.query(statement, max_rows);
        self.database.shared.give_back();
        rows
    }

    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error> {
        if self.database.in_transaction.get() {
            return Err(nested());
        }
        // What changes something in a transaction that reads is refused, as a host refuses it.
        let (lock, sql) = match (mode, &self.place) {
            (Mode::Read, _) => (None, "PRAGMA query_only = 1; BEGIN"),
            (Mode::Write(scope), Some((documents, place))) => {
                let lock = documents.lock_for_transaction(place, scope)?;
                (Some(lock), "PRAGMA query_only = 0; BEGIN IMMEDIATE")
            }
            (Mode::Write(_), None) => (None, "PRAGMA query_only = 0; BEGIN IMMEDIATE"),
        };
        self.database.shared.take();
        self.database.in_transaction.set(true);
        let begun = Begun { database: self.database, _lock: lock };
        self.database.run(|connection| connection.execute_batch(sql))?;
        Ok(Box::new(begun))
    }
}

fn nested() -> Error {
    Error::new(ErrorCode::Nested, "the call has a transaction already: a call takes one at a time")
}

struct Begun<'a> {
    database: &'a SqlDatabase,
    // Dropped after the transaction has ended.
    _lock: Option<Arc<Lock>>,
}

impl Begun<'_> {
    /// Ends the transaction, if it has not ended.
    fn end(&self) {
        if self.database.in_transaction.replace(false) {
            let _ = self.database.run(|connection| connection.execute_batch("ROLLBACK"));
            self.database.shared.give_back();
        }
    }

    /// Runs statements: one that fails ends the transaction.
    fn within<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        if !self.database.in_transaction.get() {
            let message = "the transaction was rolled back after an error: begin again";
            return Err(Error::new(ErrorCode::Io, message));
        }
        run().inspect_err(|_| self.end())
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Transaction for Begun<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.within(|| self.database.query(statement, max_rows))
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.within(|| {
            statements.iter().map(|statement| self.database.execute(statement)).collect()
        })
    }

    fn commit(&self) -> Result<(), Error> {
        if !self.database.in_transaction.replace(false) {
            return Err(Error::new(ErrorCode::Nested, "the transaction has ended already"));
        }
        let committed = self.database.run(|connection| connection.execute_batch("COMMIT"));
        self.database.shared.give_back();
        committed
    }
}

struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(value) => ValueRef::Integer(*value),
            Value::Real(value) => ValueRef::Real(*value),
            Value::Text(value) => ValueRef::Text(value.as_bytes()),
            Value::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(value) => Value::Text(String::from_utf8_lossy(value).into_owned()),
        ValueRef::Blob(value) => Value::Blob(value.to_vec()),
    }
}

fn failed(error: rusqlite::Error) -> Error {
    let code = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ConstraintViolation) => ErrorCode::AlreadyExists,
        Some(rusqlite::ErrorCode::ReadOnly) => ErrorCode::ReadOnly,
        _ => ErrorCode::Io,
    };
    Error::new(code, error.to_string())
}
