//! A SQL database in memory, for the core as a plain library.

use std::cell::{Cell, RefCell};
use std::io::Cursor;
use std::rc::Rc;

use agent_memory_core::storage::database::{
    Connection, Effect, Mode, Rows, Statement, Transaction, Value,
};
use agent_memory_core::storage::{Error, ErrorCode};
use rusqlite::backup::Backup;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, params_from_iter};

/// One database, granted under any name once it was created.
#[derive(Debug, Default)]
pub struct SqlDatabase {
    connection: RefCell<Option<rusqlite::Connection>>,
    in_transaction: Cell<bool>,
    committed: Rc<Cell<bool>>,
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
    /// One that sets `committed` where a transaction is.
    pub(super) fn telling(committed: &Rc<Cell<bool>>) -> Self {
        Self { committed: committed.clone(), ..Self::default() }
    }

    /// Whether a transaction is open.
    pub(super) fn is_in_transaction(&self) -> bool {
        self.in_transaction.get()
    }

    /// Opens it.
    ///
    /// # Errors
    ///
    /// `not-found` before anyone created it.
    pub fn open(&self, create: bool) -> Result<Box<dyn Connection + '_>, Error> {
        let mut connection = self.connection.borrow_mut();
        if connection.is_none() {
            if !create {
                return Err(Error::new(ErrorCode::NotFound, "there is no database yet"));
            }
            *connection = Some(rusqlite::Connection::open_in_memory().map_err(failed)?);
        }
        Ok(Box::new(Open { database: self }))
    }

    /// What it holds, also what an open transaction has changed.
    pub fn image(&self) -> Option<Image> {
        let mut connection = self.connection.borrow_mut();
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
        *self.connection.borrow_mut() = Some(to);
    }

    fn run<T>(
        &self,
        act: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let connection = self.connection.borrow();
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
}

impl Connection for Open<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        if self.database.in_transaction.get() {
            return Err(nested());
        }
        self.database.query(statement, max_rows)
    }

    fn begin(&self, mode: Mode) -> Result<Box<dyn Transaction + '_>, Error> {
        if self.database.in_transaction.replace(true) {
            return Err(nested());
        }
        let begun = Begun { database: self.database };
        // What changes something in a transaction that reads is refused, as a host refuses it.
        let sql = match mode {
            Mode::Read => "PRAGMA query_only = 1; BEGIN",
            Mode::Write => "PRAGMA query_only = 0; BEGIN IMMEDIATE",
        };
        self.database.run(|connection| connection.execute_batch(sql))?;
        Ok(Box::new(begun))
    }
}

fn nested() -> Error {
    Error::new(ErrorCode::Nested, "the call has a transaction already: a call takes one at a time")
}

struct Begun<'a> {
    database: &'a SqlDatabase,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.database.in_transaction.replace(false) {
            let _ = self.database.run(|connection| connection.execute_batch("ROLLBACK"));
        }
    }
}

impl Transaction for Begun<'_> {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.database.query(statement, max_rows)
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        statements.iter().map(|statement| self.database.execute(statement)).collect()
    }

    fn commit(&self) -> Result<(), Error> {
        self.database.committed.set(true);
        if !self.database.in_transaction.replace(false) {
            return Err(Error::new(ErrorCode::Nested, "the transaction is committed already"));
        }
        self.database.run(|connection| connection.execute_batch("COMMIT"))
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
