//! An open database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_memory_storage::Error;
use agent_memory_storage::database::{Kind, Mode, Rows, Statement};
use agent_memory_storage_files::Layout;

use super::connection::IdleConnections;
use super::session::{Options, Session, nested};
use super::statement;
use super::transaction::{Held, Transaction};

/// An open database with its own connection. A clone is the same database.
#[derive(Clone, Debug)]
pub struct Database(pub(super) Arc<Session>);

impl Database {
    /// Opens a database of a place. With `create`, creates a missing one.
    ///
    /// A kept database is a file in `directory`, which the caller grants. A derived database, such as a
    /// search index, is a file in the lock directory.
    ///
    /// # Errors
    ///
    /// `not-found`; `read-only` if it cannot be created; `invalid-path` if something else exists in
    /// its place, or if the name of a derived database does not match `[a-z0-9][a-z0-9._-]*` or is
    /// not a path segment; `busy` for a derived database; `permission`, `io`.
    pub fn open(
        layout: &Layout,
        name: &str,
        kind: Kind,
        create: bool,
        options: Options,
        idle: &Arc<IdleConnections>,
    ) -> Result<Self, Error> {
        let session = Session::new(layout, name, kind, options, idle)?;
        let connection = match idle.take(&session.file.path) {
            Some(connection) => connection,
            None => session.connect(create)?,
        };
        Ok(Database(session.with(connection)))
    }

    /// Runs one read-only statement outside a transaction, and returns at most `max_rows` rows.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `read-only` for a statement that changes something; `not-granted`
    /// for a statement that no call may run; `too-large` beyond [`MAX_ROWS_BYTES`]; `busy`,
    /// `cancelled`, `io`.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        let connection = self.0.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        self.0.retry(|| statement::query(&connection, statement, max_rows, Mode::Read))
    }

    /// SQLite's own check of the whole file: the problems that it found, at most twenty. Empty if the
    /// file is sound.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `corrupted` if the file cannot be read at all; `busy`,
    /// `cancelled`, `io`.
    pub fn check(&self) -> Result<Vec<String>, Error> {
        let connection = self.0.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        let mut complaints = self.0.retry(|| Ok(connection.complaints()?))?;
        complaints.retain(|complaint| complaint != "ok");
        Ok(complaints)
    }

    /// Begins a transaction. There is at most one at a time. Returns `None` if another program has
    /// locked the database.
    ///
    /// A transaction that writes to a kept database holds the lock of its place, `held`, until it
    /// ends. Call [`create_journal`](Database::create_journal) before the first write to a new
    /// database.
    ///
    /// # Errors
    ///
    /// `nested`; `read-only`; `no-space`, `io`.
    pub fn try_begin(
        &self,
        mode: Mode<'_>,
        held: Option<Held>,
    ) -> Result<Option<Transaction>, Error> {
        Transaction::try_begin(&self.0, mode, held)
    }

    /// Whether the file has no page yet, so that its journal mode can still be set.
    ///
    /// # Errors
    ///
    /// `busy`, without waiting; `corrupted`, `cancelled`, `io`; those of opening the file anew.
    pub fn is_new(&self) -> Result<bool, Error> {
        self.0.is_new()
    }

    /// Sets the journal mode of a new database, before its first page is written. Waits for other
    /// programs until the given time. An existing database keeps its journal mode.
    ///
    /// # Errors
    ///
    /// `busy`, `io`.
    pub fn create_journal(&self, until: Instant) -> Result<(), Error> {
        self.0.create_journal(until)
    }

    /// Checks that a write transaction is possible.
    ///
    /// # Errors
    ///
    /// `read-only`; `nested` during a transaction.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.0.check_writable()
    }

    /// The kind of the database.
    pub fn kind(&self) -> Kind {
        self.0.file.kind
    }

    /// The layout of its place.
    pub fn layout(&self) -> &Layout {
        self.0.file.layout()
    }

    /// The path of the file as a person would name it, for messages only.
    pub fn location(&self) -> &str {
        &self.0.file.location
    }

    /// The error after waiting this long for other programs to unlock the database.
    pub fn busy(&self, waited: Duration) -> Error {
        self.0.busy(waited)
    }

    /// Interrupts the current statement, if any, and every later one with `cancelled`. A commit is not
    /// interrupted.
    pub fn give_up(&self) {
        self.0.interrupt.give_up();
    }
}
