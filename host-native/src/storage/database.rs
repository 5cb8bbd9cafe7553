//! A database of a place, on any medium. Its writers wait for the lock of the place.

use super::lock_key::LockKey;
use super::lock_timeout::LockTimeout;
use super::writer::{Writer, WriterLock};
use agent_memory_storage::database::{self, Dialect, Effect, Mode, Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

/// The future of a wait until a transaction has begun.
pub(super) type Beginning = Pin<Box<dyn Future<Output = Result<Transaction, Error>> + Send>>;

/// A database on one medium.
pub(super) trait DatabaseBackend: Debug + Send + Sync {
    fn dialect(&self) -> Dialect;

    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error>;

    fn check(&self) -> Result<Vec<String>, Error>;

    /// If the transaction needs the lock of the place, joins the queue for it now. Given `shared`, the
    /// lock of a writer of this place, the transaction shares that lock instead.
    fn begin(&self, mode: Mode<'_>, shared: Option<&WriterLock>, timeout: LockTimeout)
    -> Beginning;

    fn lock_key(&self) -> Option<&LockKey>;

    fn check_writable(&self) -> Result<(), Error>;

    fn location(&self) -> &str;

    fn give_up(&self);
}

/// An open database. A clone is the same database.
#[derive(Clone, Debug)]
pub struct Database(Arc<dyn DatabaseBackend>);

impl Database {
    pub(super) fn new(backend: impl DatabaseBackend + 'static) -> Self {
        Database(Arc::new(backend))
    }

    /// The SQL dialect of the database.
    pub fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    /// Runs one read-only statement outside a transaction, and returns at most `max_rows` rows.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `read-only` for a statement that changes something;
    /// `not-granted` for one that no call may run; `too-large` beyond
    /// [`MAX_ROWS_BYTES`](super::MAX_ROWS_BYTES); `busy`, `cancelled`, `io`.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.0.query(statement, max_rows)
    }

    /// Runs SQLite's own check of the whole file. Returns its complaints: none if the database is sound,
    /// or is on a server, where nothing is checked.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `corrupted` if the file cannot be read at all; `busy`,
    /// `cancelled`, `io`.
    pub fn check(&self) -> Result<Vec<String>, Error> {
        self.0.check()
    }

    /// Begins a transaction. A database has at most one at a time.
    ///
    /// A transaction that writes to a kept (not derived) database joins the queue for the lock of its
    /// place now. On a medium that can lock a part of a place (a scope), it locks only the scope of
    /// `mode`. The future waits for that lock and, on this machine, for SQLite's own. Dropping the
    /// future ends the wait. Under a `writer` of that place, the transaction shares the writer's lock.
    /// That lock is held until both have ended.
    ///
    /// # Errors
    ///
    /// `nested`, also under a writer of another place; `busy` after the timeout; `read-only`;
    /// `no-space`, `io`.
    ///
    /// # Panics
    ///
    /// If polled outside a tokio runtime with timers.
    pub fn begin(
        &self,
        mode: Mode<'_>,
        writer: Option<&Writer>,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Transaction, Error>> + Send + use<> {
        let checked = self.check_begin(mode, writer);
        let shared = writer.filter(|_| self.lock_key().is_some());
        let begun =
            checked.map(|()| self.0.begin(mode, shared.map(Writer::lock).as_ref(), timeout));
        async move { begun?.await }
    }

    /// The key of the lock of the database's place, as in [`Tree::lock_key`](super::Tree::lock_key).
    /// `None` for a derived database, which is not under that lock.
    pub fn lock_key(&self) -> Option<&LockKey> {
        self.0.lock_key()
    }

    /// Checks that a write transaction can begin. For a database on a server, the server is not asked.
    ///
    /// # Errors
    ///
    /// `read-only`; `nested` during a transaction.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.0.check_writable()
    }

    /// The database as a person names it, for messages only.
    pub fn location(&self) -> &str {
        self.0.location()
    }

    /// Interrupts the current statement, if any, and every later one. A commit is not interrupted.
    pub fn give_up(&self) {
        self.0.give_up();
    }

    /// Checks, before any wait, that the transaction can begin.
    fn check_begin(&self, mode: Mode<'_>, writer: Option<&Writer>) -> Result<(), Error> {
        if !mode.is_write() {
            return Ok(());
        }
        let is_elsewhere = |(lock, writer): (&LockKey, &Writer)| lock != writer.lock_key();
        if self.lock_key().zip(writer).is_some_and(is_elsewhere) {
            let message = "the call holds the lock of another place: a call holds one at a time";
            return Err(Error::new(ErrorCode::Nested, message));
        }
        self.check_writable()
    }
}

/// A transaction on one medium.
trait TransactionBackend: database::Transaction + Debug + Send + Sync {}

impl<T: database::Transaction + Debug + Send + Sync> TransactionBackend for T {}

/// A transaction. It is rolled back if it is dropped, or if the process ends, before its commit.
///
/// Share it (`Arc`) with the thread that runs a statement or a commit. The transaction then lasts
/// until that thread is done, even if the call has ended.
#[derive(Debug)]
pub struct Transaction(Box<dyn TransactionBackend>);

impl Transaction {
    pub(super) fn new(backend: impl database::Transaction + Debug + Send + Sync + 'static) -> Self {
        Transaction(Box::new(backend))
    }
}

impl database::Transaction for Transaction {
    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.0.query(statement, max_rows)
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.0.execute(statements)
    }

    fn commit(&self) -> Result<(), Error> {
        self.0.commit()
    }
}
