//! Connections: opening one with its limits, and keeping idle ones open.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_memory_storage::database::Kind;
use agent_memory_storage::{EntryKind, Error, ErrorCode};
use agent_memory_storage_files::{Directory, Durability, errno_error};
use agent_memory_storage_lock::{is_in_place, result_code};
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rustix::io::Errno;

use super::authoriser::Authoriser;
use super::error::{StatementError, not_granted};
use super::interrupt::Interrupt;
use super::transaction::poll;
use super::unwritable::{Unchanging, cannot_open, immutable_uri};
use super::{MAX_ROWS_BYTES, Session};

/// The number of instructions of SQLite's machine between two looks at the interrupt: some tens of
/// microseconds.
const LOOK_EVERY: i32 = 1_000;

/// The most connections that stay open between uses.
const MAX_IDLE: usize = 16;

/// The most prepared statements of a connection.
const MAX_STATEMENTS: usize = 128;

/// A SQLite that is older may damage a database in WAL mode that several connections write to.
const SOUND_WAL: i32 = 3_051_003;

/// The journal mode of a new database.
pub(super) fn journal_mode(sqlite_version: i32) -> &'static str {
    if sqlite_version >= SOUND_WAL { "WAL" } else { "DELETE" }
}

/// A connection to a database.
#[derive(Debug)]
pub(super) struct Connection {
    pub sqlite: rusqlite::Connection,
    authoriser: Authoriser,
    interrupt: Arc<Interrupt>,
    /// Whether it was seen not to be new.
    has_pages: AtomicBool,
    /// Set where it reads a file as if nobody changed it: it serves one call alone.
    unchanging: Option<Unchanging>,
}

impl Connection {
    pub fn interrupt(&self) -> &Arc<Interrupt> {
        &self.interrupt
    }

    pub fn is_in_transaction(&self) -> bool {
        !self.sqlite.is_autocommit()
    }

    /// Whether the file that is open is still the one at its path.
    pub fn is_in_place(&self) -> bool {
        match &self.unchanging {
            Some(file) => file.holds(),
            None => is_in_place(&self.sqlite),
        }
    }

    pub fn is_read_only(&self) -> bool {
        self.sqlite.is_readonly("main").unwrap_or(true)
    }

    /// Sets something that only the host may. It is not kept prepared: who gives the same text
    /// would find it.
    pub fn set(&self, sql: &str) -> rusqlite::Result<()> {
        self.as_host(|| self.sqlite.execute_batch(sql))
    }

    /// Runs a statement of the host's own, with what rows it has, and keeps it prepared: no call may
    /// give its text.
    pub fn run(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.as_host(|| {
            let mut statement = self.sqlite.prepare_cached(sql)?;
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        })
    }

    pub fn as_host<T>(&self, work: impl FnOnce() -> T) -> T {
        self.interrupt.start_own();
        self.authoriser.as_host(work)
    }

    /// Runs what a call gave; where SQLite was not allowed to, says so in whatever way it failed.
    pub fn as_call<T>(
        &self,
        work: impl FnOnce() -> Result<T, StatementError>,
    ) -> Result<T, StatementError> {
        self.interrupt.start();
        self.authoriser.forget();
        let done = work();
        self.check_unchanged()?;
        done.map_err(|failure| match failure {
            StatementError::Sqlite(error) if self.authoriser.has_denied() => {
                not_granted(result_code(&error)).into()
            }
            failure => failure,
        })
    }

    /// Fails where the file changed while it was read: what was read, or what SQLite said of it, may
    /// then mix two states.
    pub fn check_unchanged(&self) -> Result<(), StatementError> {
        match &self.unchanging {
            Some(file) if !file.holds() => Err(StatementError::Changed),
            _ => Ok(()),
        }
    }

    /// Whether nothing was ever written to it.
    pub fn is_new(&self) -> rusqlite::Result<bool> {
        if self.has_pages.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let pages: i64 = self.as_host(|| {
            let mut statement = self.sqlite.prepare_cached("PRAGMA page_count")?;
            statement.query_row([], |row| row.get(0))
        })?;
        self.has_pages.store(pages > 0, Ordering::Relaxed);
        Ok(pages == 0)
    }
}

/// Connections that nobody uses now. They stay open for the next call.
#[derive(Debug, Default)]
pub struct IdleConnections(Mutex<Vec<(PathBuf, Connection)>>);

impl IdleConnections {
    pub(super) fn take(&self, path: &Path) -> Option<Connection> {
        loop {
            let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let newest = idle.iter().rposition(|(other, _)| other == path)?;
            let (_, connection) = idle.remove(newest);
            drop(idle);
            if connection.is_in_place() {
                connection.interrupt.reset();
                return Some(connection);
            }
        }
    }

    pub(super) fn give_back(&self, path: PathBuf, connection: Connection) {
        if connection.unchanging.is_some() || connection.is_in_transaction() {
            return;
        }
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((path, connection));
        let oldest = (idle.len() > MAX_IDLE).then(|| idle.remove(0));
        drop(idle);
        drop(oldest);
    }
}

impl Session {
    /// Opens a connection; makes the file, and what leads to it, where it is missing and `create`
    /// is set.
    pub(super) fn connect(&self, create: bool) -> Result<Connection, Error> {
        let failed = |errno| errno_error(errno, &format!("open the database `{}`", self.location));
        let directory = match self.base.find(&[])? {
            Some(directory) => directory,
            None if create => self.make_directory().map_err(|errno| self.not_created(errno))?,
            None => return Err(self.missing()),
        };
        match directory.metadata(&self.name).map_err(failed)? {
            Some(found) if found.kind != EntryKind::File => return Err(self.not_a_file("")),
            Some(_) => {}
            None if create => {
                self.create_in(&directory).map_err(|errno| self.not_created(errno))?;
            }
            None => return Err(self.missing()),
        }
        // Who repairs it after a crash keeps all others out for a moment.
        match poll(self.busy_deadline(), || self.connect_with(None)) {
            Err(StatementError::Sqlite(error)) if cannot_open(&error) => {
                self.connect_to_unwritable(&directory, &error)
            }
            linked => linked.map_err(|failure| failure.report(&self.location, &self.interrupt)),
        }
    }

    fn make_directory(&self) -> Result<Directory, Errno> {
        if self.kind == Kind::Derived {
            // It hides itself from Git before anything is in it.
            self.layout.create_lock_directory(false)?;
        }
        self.base.create(self.is_private(), self.is_synced())
    }

    fn is_private(&self) -> bool {
        self.layout.is_private()
    }

    fn is_synced(&self) -> bool {
        let durability = self.options.durability;
        self.kind == Kind::Kept && durability == Durability::Full
    }

    /// Puts an empty file there, from the first for its owner alone where the place is.
    ///
    /// It gets its name only when nobody has it open, since closing a file lets go of every lock
    /// that this process has on it, those of SQLite too.
    fn create_in(&self, directory: &Directory) -> Result<(), Errno> {
        let number = getrandom::u64().map_err(|_| Errno::IO)?;
        let temporary = format!(".{number:016x}.agent-memory-tmp");
        let mode = if self.is_private() { 0o600 } else { 0o666 };
        drop(directory.create_file(&temporary, mode)?);
        let linked = directory.link(&temporary, &self.name);
        let removed = directory.remove_file(&temporary);
        match linked {
            // Made by another just now.
            Ok(()) | Err(Errno::EXIST) => removed?,
            Err(errno) => return Err(errno),
        }
        if self.is_synced() { directory.sync() } else { Ok(()) }
    }

    /// `unchanging` where the file is to be read as if nobody changed it.
    pub(super) fn connect_with(
        &self,
        unchanging: Option<Unchanging>,
    ) -> Result<Connection, StatementError> {
        let path = &self.path;
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = if unchanging.is_some() {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            rusqlite::Connection::open_with_flags(immutable_uri(path), flags)?
        } else {
            rusqlite::Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?
        };
        // Whoever waits polls, to be fair to others and to be able to end.
        connection.busy_timeout(Duration::ZERO)?;
        let synchronous = match (self.kind, self.options.durability) {
            (Kind::Kept, Durability::Full) => "FULL",
            (Kind::Kept, Durability::Relaxed) => "NORMAL",
            (Kind::Derived, _) => "OFF",
        };
        let settings = format!("PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON");
        connection.execute_batch(&settings)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        // A plan depends on the statement alone: SQLite would prepare one with a bound `LIMIT` anew
        // for each value, and those of FTS5 as well.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROWS_BYTES as i32 + 1024)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
        let interrupt = self.interrupt.clone();
        let looks = interrupt.clone();
        connection.progress_handler(LOOK_EVERY, Some(move || looks.is_over()))?;
        let authoriser = Authoriser::of(&mut connection)?;
        let has_pages = AtomicBool::new(false);
        let connection =
            Connection { sqlite: connection, authoriser, interrupt, has_pages, unchanging };
        // The first look at the file tells whether it can be used at all.
        let looked = connection.is_new();
        connection.check_unchanged()?;
        looked?;
        Ok(connection)
    }

    pub(super) fn missing(&self) -> Error {
        let message = format!("there is no database `{}` yet", self.location);
        Error::new(ErrorCode::NotFound, message)
    }

    /// What SQLite keeps at the path with this suffix.
    pub(super) fn not_a_file(&self, suffix: &str) -> Error {
        let message = format!(
            "`{}{suffix}` is not a file (a symbolic link is not followed): move it away",
            self.location
        );
        Error::new(ErrorCode::InvalidPath, message)
    }

    fn not_created(&self, errno: Errno) -> Error {
        let error = errno_error(errno, &format!("create the database `{}`", self.location));
        match error.code {
            ErrorCode::Permission => Error { code: ErrorCode::ReadOnly, ..error },
            _ => error,
        }
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> Error {
        super::error::report(error, &self.location, &self.interrupt)
    }
}
