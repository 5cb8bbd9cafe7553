//! SQL databases, as `database` in `wit/storage` defines them.

use super::error::Error;

/// The kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The only copy of its contents. Its writers hold the lock of the place.
    Kept,
    /// A database that can be rebuilt from documents, for example a search index. It is a file beside
    /// the lock of the place, or rows on the place's server. It is never synced, and may be deleted at
    /// any time. Its writers take only the database's own lock, and fail at once if another writer
    /// holds that lock.
    Derived,
}

/// The value of a column or a parameter. NaN is stored as null. A text that is not UTF-8 is read as a
/// blob, so that a query can still read it and the other rows.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are SQL's")]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// One statement with its parameters, which it names `?1`, `?2`, ...
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The SQL text of one statement.
    pub sql: String,
    /// The values of all parameters of the statement.
    pub parameters: Vec<Value>,
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one value for each column.
    pub rows: Vec<Vec<Value>>,
    /// Whether the result had more rows than the caller asked for.
    pub truncated: bool,
}

/// The effect of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The number of rows that the statement inserted, updated or deleted, without the changes of
    /// triggers.
    pub changes: u64,
}

/// The mode of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode<'a> {
    /// Reads one snapshot of the data.
    Read,
    /// Writes with an exclusive lock from the start, on a scope as in
    /// [`Tree::lock`](super::Tree::lock) or on the whole place. If the call holds a writer, the
    /// transaction shares its lock.
    Write(Option<&'a str>),
}

impl Mode<'_> {
    /// Whether the transaction writes.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write(_))
    }

    /// The same mode without a scope.
    pub fn unscoped(self) -> Mode<'static> {
        if self.is_write() { Mode::Write(None) } else { Mode::Read }
    }
}

/// The SQL dialect of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL. A command of the host makes its tables, not the component.
    Postgres,
}

/// An open database.
pub trait Connection {
    /// The SQL dialect of the database.
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    /// Runs one read-only statement outside a transaction, and returns at most `max_rows` rows.
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error>;

    /// Begins a transaction. A call has at most one at a time.
    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error>;
}

/// A transaction. It is rolled back if it is dropped before `commit`, or if a statement fails.
pub trait Transaction {
    /// The SQL dialect of the database.
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    /// Runs one statement, and returns at most `max_rows` of its rows. In a write transaction it
    /// may also change rows. It changes all of them, even if it does not return all.
    ///
    /// # Errors
    ///
    /// The errors of [`execute`](Transaction::execute); `too-large` if the result exceeds the host's
    /// limit.
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error>;

    /// Runs statements in order. If one fails, the transaction is rolled back.
    ///
    /// # Errors
    ///
    /// `already-exists` for a violated unique constraint; `read-only` for a change in a read
    /// transaction; `not-granted` for a statement that no call may run; `nested` after the commit;
    /// `cancelled` if a statement ran for too long or the call was cancelled; `busy`, `no-space`,
    /// `too-large`, `corrupted`, `io`.
    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error>;

    /// Commits the transaction: its changes are durable afterwards.
    ///
    /// # Errors
    ///
    /// `nested` for a second commit, which changes nothing. After `io` the commit may have happened.
    /// After any other error it was rolled back: `busy` if readers did not end in time, `no-space`.
    fn commit(&self) -> Result<(), Error>;
}
