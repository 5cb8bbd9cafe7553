//! SQL databases: one SQLite file each, with one writer at a time over threads, processes and
//! hosts.
//!
//! Who writes first takes the database's turn, a [lock](super::lock) beside the file, as fair as
//! that of a tree; then SQLite's own lock, which programs that know nothing of the turn may hold.
//! Connections stay open between calls, with the statements that they have prepared. Everything but
//! [`begin`](Database::begin) blocks on the file system.

mod authoriser;
mod connection;
mod failure;
mod statement;
#[cfg(test)]
mod tests;
mod transaction;
mod unwritable;

pub use transaction::Transaction;

use super::records::{DATABASE, Records};
use super::{Error, ErrorCode, Patience, PlaceKind, Shared, Storage, Writer, not_granted_kind};
pub(super) use connection::Idle;
use connection::{Link, Watch};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest answer of a query and the longest parameters of a statement, in bytes: 16 MiB.
pub const MAX_ROWS_BYTES: usize = 16 * 1024 * 1024;

/// What a column holds, or a parameter brings.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number; NaN is stored as null.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The rows that it inserted, changed or deleted, without what triggers did.
    pub changes: u64,
    /// The row id of the transaction's last insert; 0 before the first.
    pub last_insert_id: i64,
}

/// Whether a transaction may change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One unchanging view of the data.
    Read,
    /// The only writer, from the start.
    Write,
}

/// An open database: a connection that nobody else uses meanwhile. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Database(Arc<Session>);

#[derive(Debug)]
struct Session {
    storage: Arc<Shared>,
    records: Records,
    /// As a person names the file.
    location: String,
    /// Ends statements of `link`.
    watch: Arc<Watch>,
    /// None after it had to be closed, until it is needed again.
    link: Mutex<Option<Link>>,
}

impl Storage {
    /// Opens a database; creates it where it is missing and `create` is set.
    ///
    /// # Errors
    ///
    /// `not-granted` for any but `records`, and for that where no directory of records is granted;
    /// `not-found`; `read-only` where it cannot be created; `invalid-path` where something else
    /// stands in its place; `permission`, `io`.
    pub fn open_database(&self, name: &str, create: bool) -> Result<Database, Error> {
        if let Some(database) = self.reopen_database(name)? {
            return Ok(database);
        }
        let session = self.session(name)?;
        let link = session.connect(create)?;
        Ok(session.with(link))
    }

    /// An idle connection; none where there is none.
    fn reopen_database(&self, name: &str) -> Result<Option<Database>, Error> {
        let session = self.session(name)?;
        let link = self.0.databases.take(&session.path());
        Ok(link.map(|link| session.with(link)))
    }

    fn session(&self, name: &str) -> Result<Session, Error> {
        if name != "records" {
            let message =
                format!("the database `{name}` is not granted: this host keeps no such database");
            return Err(Error::new(ErrorCode::NotGranted, message));
        }
        let records = self.records().ok_or_else(|| not_granted_kind(PlaceKind::Records))?;
        let location = format!("{}/{DATABASE}", records.location().trim_end_matches('/'));
        let watch = Arc::new(Watch::new(self.0.options.statement_time));
        let storage = self.0.clone();
        Ok(Session { storage, records, location, watch, link: Mutex::new(None) })
    }
}

impl Database {
    /// Runs one statement that reads, outside a transaction, and gives at most `max_rows` rows.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `read-only` for a statement that changes something;
    /// `not-granted` for one that is [refused](self) in any place; `too-large` beyond
    /// [`MAX_ROWS_BYTES`]; `busy`, `cancelled`, `io`.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        let link = self.0.link()?;
        if link.is_in_transaction() {
            return Err(nested());
        }
        let patience = Patience::new(self.0.storage.options.lock_wait);
        self.0.patiently(patience, || statement::query(&link, statement, max_rows, Mode::Read))
    }

    /// Begins a transaction, of which there is at most one at a time. To write, takes a place in
    /// the queue for the database's turn, now, and waits for the turn and for SQLite's own lock
    /// when polled; dropping the future gives up the wait.
    ///
    /// # Errors
    ///
    /// `nested`; `busy` where the patience ends; `read-only`; `no-space`, `io`.
    ///
    /// # Panics
    ///
    /// When polled outside a tokio runtime with time.
    pub fn begin(
        &self,
        mode: Mode,
        patience: Patience,
    ) -> impl Future<Output = Result<Transaction, Error>> + Send + use<> {
        Transaction::begin(self.clone(), mode, patience, None)
    }

    /// Begins a transaction that writes, for a call that holds the lock of a tree. It keeps that
    /// call's place in the queue: of this storage's calls, only those go first that asked for a
    /// lock before it asked for that one.
    ///
    /// # Errors
    ///
    /// As [`begin`](Database::begin).
    ///
    /// # Panics
    ///
    /// As [`begin`](Database::begin).
    pub fn begin_with(
        &self,
        writer: &Writer,
        patience: Patience,
    ) -> impl Future<Output = Result<Transaction, Error>> + Send + use<> {
        Transaction::begin(self.clone(), Mode::Write, patience, Some(writer))
    }

    /// Whether a transaction that writes can be begun at all.
    ///
    /// # Errors
    ///
    /// `read-only`.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.0.writable().map(drop)
    }

    /// Where it is, for messages only.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    /// Ends the statement that runs now, if any, and every later one: nobody waits for them. A
    /// commit goes on to its end.
    pub fn give_up(&self) {
        self.0.watch.give_up();
    }
}

impl Session {
    fn path(&self) -> PathBuf {
        self.records.path().join(DATABASE)
    }

    fn with(mut self, link: Link) -> Database {
        self.watch = link.watch().clone();
        self.link = Mutex::new(Some(link));
        Database(Arc::new(self))
    }

    /// The connection, opened anew where it had to be closed.
    fn link(&self) -> Result<Open<'_>, Error> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if link.is_none() {
            *link = Some(self.connect(false)?);
        }
        Ok(Open(link))
    }

    /// The connection, if it is open.
    fn open_link(&self) -> Option<Open<'_>> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.is_some().then(|| Open(link))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(link) = link {
            self.storage.databases.give_back(self.path(), link);
        }
    }
}

/// The one connection of a session, in use.
struct Open<'a>(MutexGuard<'a, Option<Link>>);

impl Open<'_> {
    /// Closes the connection, with whatever goes on on it.
    fn close(mut self) {
        *self.0 = None;
    }
}

impl std::ops::Deref for Open<'_> {
    type Target = Link;

    fn deref(&self) -> &Link {
        self.0.as_ref().expect("closed only with this")
    }
}

fn nested() -> Error {
    let message = "the call has a transaction already: a call takes one at a time";
    Error::new(ErrorCode::Nested, message)
}
