//! Databases of a place. Their writers wait for the lock of the place.

use super::lock::{Lock, Locks};
use super::lock_key::LockKey;
use super::timeout::LockTimeout;
use super::writer::Writer;
use agent_memory_storage::database::{Kind, Mode, Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::Layout;
use agent_memory_storage_sqlite::{self as sqlite, Held, IdleConnections, Options, Transaction};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time between two attempts at SQLite's own lock.
const POLL: Duration = Duration::from_millis(1);

/// The databases of a storage.
#[derive(Debug)]
pub(super) struct Databases {
    options: Options,
    idle: Arc<IdleConnections>,
    locks: Arc<Locks>,
}

impl Databases {
    pub fn new(options: Options, locks: Arc<Locks>) -> Self {
        Databases { options, idle: Arc::default(), locks }
    }

    pub fn open(
        &self,
        layout: &Layout,
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Database, Error> {
        if self.options.looks_only && kind == Kind::Derived {
            let message = "derived databases are left alone";
            return Err(Error::new(ErrorCode::Busy, message));
        }
        let sqlite = sqlite::Database::open(layout, name, kind, create, self.options, &self.idle)?;
        let is_kept = kind == Kind::Kept;
        let key = is_kept.then(|| LockKey::Directory(layout.lock_path().to_owned()));
        Ok(Database { sqlite, locks: self.locks.clone(), key })
    }
}

/// An open database. A clone is the same database.
#[derive(Clone, Debug)]
pub struct Database {
    sqlite: sqlite::Database,
    locks: Arc<Locks>,
    key: Option<LockKey>,
}

impl Database {
    /// Runs one read-only statement outside a transaction, and returns at most `max_rows` rows.
    ///
    /// # Errors
    ///
    /// Those of [`sqlite::Database::query`].
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.sqlite.query(statement, max_rows)
    }

    /// SQLite's own check of the whole file: what it complains about.
    ///
    /// # Errors
    ///
    /// Those of [`sqlite::Database::check`].
    pub fn check(&self) -> Result<Vec<String>, Error> {
        self.sqlite.check()
    }

    /// Begins a transaction. There is at most one at a time.
    ///
    /// A transaction that writes to a kept database joins the queue for the lock of its place now.
    /// The future waits for that lock and for SQLite's own. Dropping the future ends the wait.
    /// Under a `writer` of that place, the transaction shares the writer's lock. That lock is held
    /// until both have ended.
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
        let mode = mode.unscoped();
        let database = self.sqlite.clone();
        let timeout = match database.kind() {
            Kind::Kept => timeout,
            // A call does not wait for the lock of a derived database.
            Kind::Derived => LockTimeout::new(Duration::ZERO),
        };
        let checked = self.check_begin(mode, writer);
        let locks = mode.is_write() && self.lock_key().is_some() && checked.is_ok();
        let shared = writer.filter(|_| locks).and_then(|writer| writer.database_lock().cloned());
        let acquiring = (locks && shared.is_none())
            .then(|| Lock::acquire(database.layout(), &self.locks, timeout));
        async move {
            checked?;
            let mut until = timeout.at_the_head();
            let lock = match acquiring {
                Some(acquiring) => {
                    let lock = acquiring.await?;
                    until = lock.at_the_head;
                    Some(Arc::new(lock))
                }
                None => shared,
            };
            let held = lock.map(|lock| lock as Held);
            if mode.is_write() && database.is_new()? {
                create_journal(&database, until).await?;
            }
            loop {
                if let Some(transaction) = database.try_begin(mode, held.clone())? {
                    return Ok(transaction);
                }
                if Instant::now() >= until {
                    return Err(database.busy(timeout.waited()));
                }
                tokio::time::sleep(POLL).await;
            }
        }
    }

    /// The same as [`Tree::lock_key`](super::Tree::lock_key). `None` for a derived database.
    pub fn lock_key(&self) -> Option<&LockKey> {
        self.key.as_ref()
    }

    /// Fails where a write transaction cannot begin.
    ///
    /// # Errors
    ///
    /// `read-only`; `nested` during a transaction.
    pub fn check_writable(&self) -> Result<(), Error> {
        self.sqlite.check_writable()
    }

    /// The file as a person names it, for messages only.
    pub fn location(&self) -> &str {
        self.sqlite.location()
    }

    /// Interrupts the current statement, if any, and every later one. A commit is not interrupted.
    pub fn give_up(&self) {
        self.sqlite.give_up();
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

async fn create_journal(database: &sqlite::Database, until: Instant) -> Result<(), Error> {
    let database = database.clone();
    let created = tokio::task::spawn_blocking(move || database.create_journal(until));
    created.await.map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))?
}
