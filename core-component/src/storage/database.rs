//! SQL databases: the Rust face of `database` in `wit/storage`.

use super::Error;

/// What a database is to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// What it holds is kept nowhere else: its writers hold the lock of the place.
    Kept,
    /// It can be made anew from documents. It takes no lock but SQLite's own, is not synced, and may
    /// be deleted by anybody.
    Derived,
}

/// What a column holds, or a parameter brings.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are SQL's")]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// One statement with its parameters, for `?1`, `?2`, ...
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// SQL.
    pub sql: String,
    /// As many as the statement has.
    pub parameters: Vec<Value>,
}

/// What a query answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Their names.
    pub columns: Vec<String>,
    /// A value for each column.
    pub rows: Vec<Vec<Value>>,
    /// Whether there were more rows than were asked for.
    pub truncated: bool,
}

/// What a statement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The rows that it inserted, changed or deleted.
    pub changes: u64,
    /// The row id of the last insert on this connection.
    pub last_insert_id: i64,
}

/// Whether a transaction may change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode<'a> {
    /// One unchanging view of the data.
    Read,
    /// The only writer, from the start, of a scope as in [`Tree::lock`](super::Tree::lock) or of the
    /// whole place. It goes on under the writer that the call holds, if any.
    Write(Option<&'a str>),
}

/// An open database.
pub trait Connection {
    /// Runs one statement that reads, outside a transaction.
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error>;

    /// Begins a transaction, of which a call has at most one at a time.
    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error>;
}

/// Rolled back when it is dropped without `commit`, and by any error of a statement.
pub trait Transaction {
    /// Runs one statement that returns rows; in a write transaction it may also change some.
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error>;

    /// Runs statements in order and stops at the first that fails.
    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error>;

    /// Makes it durable. After `io` it may have happened, after any other error it has not.
    fn commit(&self) -> Result<(), Error>;
}
