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

/// An open database: a connection that nobody else uses meanwhile. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Database(pub(super) Arc<Session>);

impl Database {
    /// Opens a database of a place; creates it where it is missing and `create` is set.
    ///
    /// A kept database is a file in `directory`, which the caller grants; a derived one is beside
    /// the lock.
    ///
    /// # Errors
    ///
    /// `not-found`; `read-only` where it cannot be created; `invalid-path` where something else
    /// stands in its place, and where the name of a derived one is not a path segment of
    /// `[a-z0-9][a-z0-9._-]*`; `busy` for a derived one; `permission`, `io`.
    pub fn open(
        layout: &Layout,
        name: &str,
        kind: Kind,
        create: bool,
        options: Options,
        idle: &Arc<IdleConnections>,
    ) -> Result<Self, Error> {
        let session = Session::new(layout, name, kind, options, idle)?;
        let connection = match idle.take(&session.path) {
            Some(connection) => connection,
            None => session.connect(create)?,
        };
        Ok(Database(session.with(connection)))
    }

    /// Runs one statement that reads, outside a transaction, and gives at most `max_rows` rows.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `read-only` for a statement that changes something;
    /// `not-granted` for one that no call may run; `too-large` beyond [`MAX_ROWS_BYTES`]; `busy`,
    /// `cancelled`, `io`.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        let connection = self.0.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        self.0.retry(|| statement::query(&connection, statement, max_rows, Mode::Read))
    }

    /// Begins a transaction, of which there is at most one at a time; none where another program
    /// has the database locked.
    ///
    /// A transaction that writes to a kept database keeps the lock of its place, `held`, until it
    /// ends. The first write to a new database needs
    /// [`create_journal`](Database::create_journal) before.
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

    /// Whether nothing was ever written to it.
    ///
    /// # Errors
    ///
    /// `busy`, `io`.
    pub fn is_new(&self) -> Result<bool, Error> {
        self.0.is_new()
    }

    /// Sets the journal mode of a new database, before its first page; waits for other programs
    /// until the given time. The journal mode of an existing database stays as it is.
    ///
    /// # Errors
    ///
    /// `busy`, `io`.
    pub fn create_journal(&self, until: Instant) -> Result<(), Error> {
        self.0.create_journal(until)
    }

    /// Whether a transaction that writes can be begun at all.
    ///
    /// # Errors
    ///
    /// `read-only`; `nested` during a transaction.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.0.check_writable()
    }

    /// How it belongs to its place.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Where the parts of its place are.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// Where it is, for messages only.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    /// The error where other programs kept it locked for so long.
    pub fn busy(&self, waited: Duration) -> Error {
        self.0.busy(waited)
    }

    /// Ends the statement that runs now, if any, and every later one: nobody waits for them. A
    /// commit goes on to its end.
    pub fn give_up(&self) {
        self.0.interrupt.give_up();
    }
}
