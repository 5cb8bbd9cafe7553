//! SQL databases: the Rust face of `database` in `wit/storage`.

use super::Error;

/// How a database belongs to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Its contents are kept nowhere else. Its writers hold the lock of the place.
    Kept,
    /// It can be made anew from documents, as a search index. It stands beside the lock of the
    /// place, and anybody may delete it. It takes SQLite's own lock alone and does not wait for it.
    /// Nothing is synced.
    Derived,
}

/// The value of a column or a parameter. NaN is stored as null.
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

/// The answer of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// A value for each column.
    pub rows: Vec<Vec<Value>>,
    /// Whether there were more rows than were asked for.
    pub truncated: bool,
}

/// What a statement changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The rows that it inserted, changed or deleted, without those of triggers.
    pub changes: u64,
    /// The row id of the transaction's last insert; 0 before the first.
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

impl Mode<'_> {
    /// Whether the transaction writes.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write(_))
    }

    /// The same for the whole place.
    pub fn unscoped(self) -> Mode<'static> {
        if self.is_write() { Mode::Write(None) } else { Mode::Read }
    }
}

/// An open database.
pub trait Connection {
    /// Runs one statement that reads, outside a transaction.
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error>;

    /// Begins a transaction, of which a call has at most one at a time.
    fn begin(&self, mode: Mode<'_>) -> Result<Box<dyn Transaction + '_>, Error>;
}

/// A transaction. It is rolled back when it is dropped before `commit`, and by any error of a
/// statement.
pub trait Transaction {
    /// Runs one statement that returns rows, and gives at most `max_rows` of them. In a write
    /// transaction it may also change rows, all of them even where not all are given.
    ///
    /// # Errors
    ///
    /// As [`execute`](Transaction::execute); `too-large` for a longer answer than the host gives.
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error>;

    /// Runs statements in order and stops at the first that fails.
    ///
    /// # Errors
    ///
    /// `already-exists` for a broken unique constraint; `read-only` for a change in a read
    /// transaction; `not-granted` for a statement that no call may run; `nested` after the commit;
    /// `cancelled` for a statement that ran for too long or was given up; `busy`, `no-space`,
    /// `too-large`, `corrupted`, `io`. Any error ends the transaction.
    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error>;

    /// Makes its changes durable.
    ///
    /// # Errors
    ///
    /// `nested` for a second commit, which changes nothing. After `io` the commit may have happened.
    /// After any other error it was rolled back: `busy` where others read for too long, `no-space`.
    fn commit(&self) -> Result<(), Error>;
}
