//! A SQL database in memory.

mod scopes;

use std::cell::Cell;
use std::io::Cursor;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use agent_memory_storage::database::{
    Connection, Effect, Mode, Rows, Statement, Transaction, Value,
};
use agent_memory_storage::{Error, ErrorCode, Place};
use rusqlite::backup::Backup;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, params_from_iter};
use serde_json::Value as Json;

use self::scopes::Scopes;
use super::copy::{Begun, copy_of};
use super::documents::{Lock, MemoryStorage};
use super::mutex::locked;
use super::sql;

/// One database, for one call at a time.
#[derive(Clone, Debug, Default)]
pub struct SqlDatabase {
    shared: Arc<Shared>,
    /// Whether the call has an open transaction.
    in_transaction: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Shared {
    connection: Mutex<Option<rusqlite::Connection>>,
    /// Whether a call is using the connection, in a transaction or for one query.
    in_use: Mutex<bool>,
    freed: Condvar,
    scopes: Mutex<Scopes>,
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

/// The contents of a database.
#[derive(Clone, Debug)]
pub struct Image {
    /// The bytes of the database as a file.
    bytes: Vec<u8>,
    /// All rows as text, one a line. Images are compared by this text: files with the same rows can
    /// differ.
    rows: String,
}

impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Image {}

impl Image {
    /// Whether the database is like a new one: without tables, and with the version 0.
    pub fn is_empty(&self) -> bool {
        self.rows == EMPTY
    }
}

/// The rows of a new database.
const EMPTY: &str = "version 0\n";

impl SqlDatabase {
    /// The same database, for calls of another thread.
    pub(super) fn another(&self) -> Self {
        Self { shared: self.shared.clone(), in_transaction: Arc::default() }
    }

    /// A new database for the same call.
    pub(super) fn beside(&self) -> Self {
        Self { shared: Arc::default(), in_transaction: self.in_transaction.clone() }
    }

    /// The same database, for the call that uses `other`.
    pub(super) fn in_call_of(&self, other: &Self) -> Self {
        Self { shared: self.shared.clone(), in_transaction: other.in_transaction.clone() }
    }

    /// Opens the database. If `place` is given, write transactions take the lock of that place.
    ///
    /// # Errors
    ///
    /// `not-found` if the database does not exist and `create` is false.
    pub(super) fn open<'a>(
        &self,
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
        Ok(Box::new(OpenDatabase { database: self.clone(), place }))
    }

    /// Runs statements as another program would. Creates a missing database if there are any
    /// statements.
    pub(super) fn run_sql(&self, statements: &[impl AsRef<str>]) {
        let mut connection = locked(&self.shared.connection);
        if !statements.is_empty() {
            let open = || rusqlite::Connection::open_in_memory().expect("memory");
            let connection = connection.get_or_insert_with(open);
            sql::run(connection, &["PRAGMA query_only = 0"]);
            sql::run(connection, statements);
        }
    }

    /// The rows of a query, as JSON.
    pub(super) fn query_sql(&self, sql: &str) -> Result<Vec<Vec<Json>>, String> {
        let connection = locked(&self.shared.connection);
        sql::rows(connection.as_ref().ok_or("there is no database")?, sql)
    }

    /// The contents of the database, with the changes of an open transaction.
    pub fn image(&self) -> Option<Image> {
        let mut connection = locked(&self.shared.connection);
        let connection = connection.as_mut()?;
        let rows = dump(connection).expect("a database of its own can be read");
        let bytes = connection.serialize("main").expect("a database of its own can be copied");
        Some(Image { bytes: bytes.to_vec(), rows })
    }

    /// Replaces the contents of the database.
    pub fn restore(&self, image: &Image) {
        let open = || rusqlite::Connection::open_in_memory().expect("memory");
        let mut from = open();
        let mut to = open();
        let mut bytes = Cursor::new(&image.bytes);
        from.deserialize_read_exact("main", &mut bytes, image.bytes.len(), true)
            .expect("an image of a database");
        // SQLite cannot serialize a deserialized database within a transaction, so it is copied.
        let copied = Backup::new(&from, &mut to).and_then(|copy| copy.step(-1));
        copied.expect("memory");
        *locked(&self.shared.connection) = Some(to);
        locked(&self.shared.scopes).forget_owners();
    }

    /// A copy of the database, for a transaction of the call.
    fn copy(&self) -> rusqlite::Result<Self> {
        let copy = copy_of(locked(&self.shared.connection).as_ref().expect("it was opened"))?;
        let shared = Shared { connection: Mutex::new(Some(copy)), ..Shared::default() };
        Ok(Self { shared: Arc::new(shared), in_transaction: self.in_transaction.clone() })
    }

    /// A copy for a write transaction in a scope, and the state at the beginning of the transaction.
    fn copy_to_write(&self) -> rusqlite::Result<(Self, Begun)> {
        let mut scopes = locked(&self.shared.scopes);
        let copy = self.copy()?;
        let begun = scopes.begin(locked(&copy.shared.connection).as_ref().expect("a copy"))?;
        Ok((copy, begun))
    }

    /// Merges the changes that a transaction in a scope has made in its copy.
    fn bring_in(&self, copy: &Self, begun: &Begun, scope: Option<&str>) -> rusqlite::Result<()> {
        let mut scopes = locked(&self.shared.scopes);
        let mut written = locked(&copy.shared.connection);
        let mut connection = locked(&self.shared.connection);
        scopes.bring_in(&mut written, &mut connection, begun, scope)
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
            let parameters = statement.parameters.iter().map(Parameter);
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
            // A pragma can return a row, which is an error to `execute`.
            let changes = if statement.sql.starts_with("PRAGMA") {
                connection.execute_batch(&statement.sql).map(|()| 0)?
            } else {
                prepared.execute(params_from_iter(statement.parameters.iter().map(Parameter)))?
            };
            Ok(Effect { changes: changes as u64 })
        })
    }
}

/// The version and all rows as text. The internal tables of virtual tables are left out.
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

struct OpenDatabase<'a> {
    database: SqlDatabase,
    place: Option<(&'a MemoryStorage, Place)>,
}

impl Connection for OpenDatabase<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        if self.database.in_transaction.load(Ordering::SeqCst) {
            return Err(nested());
        }
        self.database.shared.take();
        let rows = self.database.query(statement, max_rows);
        self.database.shared.give_back();
        rows
    }

    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error> {
        if self.database.in_transaction.load(Ordering::SeqCst) {
            return Err(nested());
        }
        // As in a host, a read transaction refuses statements that change something.
        let (lock, sql) = match (mode, &self.place) {
            (Mode::Read, _) => (None, "PRAGMA query_only = 1; BEGIN"),
            (Mode::Write(scope), Some((documents, place))) => {
                let lock = documents.lock_for_transaction(place, scope)?;
                (Some(lock), "PRAGMA query_only = 0; BEGIN IMMEDIATE")
            }
            (Mode::Write(_), None) => (None, "PRAGMA query_only = 0; BEGIN IMMEDIATE"),
        };
        let scoped = match &self.place {
            Some((documents, _)) if documents.is_server() => Some(*documents),
            _ => None,
        };
        let mut transaction = OpenTransaction {
            database: self.database.clone(),
            is_committed: Cell::new(false),
            scoped: None,
            lock,
        };
        if let Some(documents) = scoped {
            let mut begun = None;
            if mode.is_write() {
                let (copy, with) = self.database.copy_to_write().map_err(failed)?;
                (transaction.database, begun) = (copy, Some(with));
            } else {
                transaction.database = self.database.copy().map_err(failed)?;
            }
            transaction.scoped = Some(Scoped { of: &self.database, documents, begun });
        }
        transaction.database.shared.take();
        self.database.in_transaction.store(true, Ordering::SeqCst);
        transaction.database.run(|connection| connection.execute_batch(sql))?;
        Ok(Box::new(transaction))
    }
}

fn nested() -> Error {
    Error::new(ErrorCode::Nested, "the call has a transaction already: a call takes one at a time")
}

fn rolled_back() -> Error {
    Error::new(ErrorCode::Io, "the transaction was rolled back after an error: begin again")
}

struct OpenTransaction<'a> {
    /// The database, or a copy of it.
    database: SqlDatabase,
    /// Whether the call has asked for the commit.
    is_committed: Cell<bool>,
    /// Set if the transaction runs in a copy.
    scoped: Option<Scoped<'a>>,
    // The last field, so that the lock is released after the transaction has ended.
    lock: Option<Arc<Lock>>,
}

/// A transaction in a copy of its database.
struct Scoped<'a> {
    of: &'a SqlDatabase,
    documents: &'a MemoryStorage,
    /// The state at the beginning. `None` for a transaction that reads.
    begun: Option<Begun>,
}

impl OpenTransaction<'_> {
    /// Rolls the transaction back if it has not ended.
    fn end(&self) {
        if self.database.in_transaction.swap(false, Ordering::SeqCst) {
            let _ = self.database.run(|connection| connection.execute_batch("ROLLBACK"));
            self.give_back();
        }
    }

    /// Lets others use the database and the lock. Drops the documents of the call that were not
    /// committed with its rows.
    fn give_back(&self) {
        self.database.shared.give_back();
        if let Some(Scoped { of, documents, begun: Some(_) }) = &self.scoped {
            documents.drop_joined();
            locked(&of.shared.scopes).note_end();
            if let Some(lock) = &self.lock {
                lock.release();
            }
        }
    }

    /// Merges what was committed in the copy into the database, and commits the documents of the call.
    fn bring_in(&self) -> Result<(), Error> {
        let Some(Scoped { of, documents, begun: Some(begun) }) = &self.scoped else {
            return Ok(());
        };
        let scope = self.lock.as_ref().and_then(|lock| lock.scope());
        of.bring_in(&self.database, begun, scope).map_err(failed)?;
        documents.commit_joined();
        Ok(())
    }

    /// Runs statements. An error ends the transaction.
    fn run<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        if !self.database.in_transaction.load(Ordering::SeqCst) {
            return Err(rolled_back());
        }
        run().inspect_err(|_| self.end())
    }
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Transaction for OpenTransaction<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.run(|| self.database.query(statement, max_rows))
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.run(|| statements.iter().map(|statement| self.database.execute(statement)).collect())
    }

    fn commit(&self) -> Result<(), Error> {
        if self.is_committed.replace(true) {
            return Err(Error::new(ErrorCode::Nested, "the transaction has ended already"));
        }
        if !self.database.in_transaction.swap(false, Ordering::SeqCst) {
            return Err(rolled_back());
        }
        let committed = self.database.run(|connection| connection.execute_batch("COMMIT"));
        let committed = committed.and_then(|()| self.bring_in());
        self.give_back();
        committed
    }
}

struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
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
        ValueRef::Text(value) => match std::str::from_utf8(value) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Blob(value.to_vec()),
        },
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
