//! The databases of places on this machine, in SQLite.

use super::database::{Beginning, Database, DatabaseBackend, Transaction};
use super::lock_key::LockKey;
use super::lock_timeout::LockTimeout;
use super::lock_wait::{Lock, Locks};
use super::writer::WriterLock;
use agent_memory_storage::database::{Dialect, Kind, Mode, Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::Layout;
use agent_memory_storage_sqlite::{self as sqlite, Held, IdleConnections, Options};
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

    /// Refuses derived databases if the option `looks_only` is set.
    pub fn check_derived(&self) -> Result<(), Error> {
        if self.options.looks_only {
            let message = "derived databases are left alone";
            return Err(Error::new(ErrorCode::Busy, message));
        }
        Ok(())
    }

    pub fn open(
        &self,
        layout: &Layout,
        name: &str,
        kind: Kind,
        create: bool,
    ) -> Result<Database, Error> {
        if kind == Kind::Derived {
            self.check_derived()?;
        }
        let sqlite = sqlite::Database::open(layout, name, kind, create, self.options, &self.idle)?;
        let is_kept = kind == Kind::Kept;
        let key = is_kept.then(|| LockKey::Directory(layout.lock_path().to_owned()));
        Ok(Database::new(SqliteDatabase { sqlite, locks: self.locks.clone(), key }))
    }
}

/// A database in a file.
#[derive(Debug)]
struct SqliteDatabase {
    sqlite: sqlite::Database,
    locks: Arc<Locks>,
    key: Option<LockKey>,
}

impl DatabaseBackend for SqliteDatabase {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.sqlite.query(statement, max_rows)
    }

    fn check(&self) -> Result<Vec<String>, Error> {
        self.sqlite.check()
    }

    /// Ignores the scope of the mode: a place on this machine is locked as a whole.
    fn begin(
        &self,
        mode: Mode<'_>,
        shared: Option<&WriterLock>,
        timeout: LockTimeout,
    ) -> Beginning {
        let mode = mode.unscoped();
        let database = self.sqlite.clone();
        let timeout = match database.kind() {
            Kind::Kept => timeout,
            // Fails at once if another writer holds SQLite's lock of a derived database.
            Kind::Derived => LockTimeout::new(Duration::ZERO),
        };
        let locks = mode.is_write() && self.key.is_some();
        let shared = shared.filter(|_| locks).and_then(WriterLock::as_files).cloned();
        let acquiring = (locks && shared.is_none())
            .then(|| Lock::acquire(database.layout(), &self.locks, timeout));
        Box::pin(async move {
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
                    return Ok(Transaction::new(transaction));
                }
                if Instant::now() >= until {
                    return Err(database.busy(timeout.waited()));
                }
                tokio::time::sleep(POLL).await;
            }
        })
    }

    fn lock_key(&self) -> Option<&LockKey> {
        self.key.as_ref()
    }

    fn check_writable(&self) -> Result<(), Error> {
        self.sqlite.check_writable()
    }

    fn location(&self) -> &str {
        self.sqlite.location()
    }

    fn give_up(&self) {
        self.sqlite.give_up();
    }
}

async fn create_journal(database: &sqlite::Database, until: Instant) -> Result<(), Error> {
    let database = database.clone();
    let created = tokio::task::spawn_blocking(move || database.create_journal(until));
    created.await.map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))?
}
