//! A session: one connection of a call, with its options and its errors.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent_memory_storage::database::{Kind, Mode};
use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{DatabaseFile, Durability, Layout};

use super::busy::poll;
use super::connection::{Connection, IdleConnections};
use super::control::{BEGIN_READ, BEGIN_WRITE, FIRST_READ, ROLLBACK};
use super::error::{StatementError, read_only};
use super::interrupt::Interrupt;

/// The first SQLite version with safe WAL mode. Older versions may damage a database in WAL mode if
/// several connections write to it.
const SOUND_WAL: i32 = 3_051_003;

/// The journal mode of a new database.
pub(super) fn journal_mode(sqlite_version: i32) -> &'static str {
    if sqlite_version >= SOUND_WAL { "WAL" } else { "DELETE" }
}

/// The options of databases.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The durability of commits.
    pub durability: Durability,
    /// The maximum run time of one SQL statement. It is then interrupted.
    pub statement_time: Duration,
    /// How long a statement or a commit waits for a lock of another program.
    pub busy_wait: Duration,
    /// Set by a host that must change nothing: closing a connection leaves the write-ahead log as it
    /// is, and derived databases are not opened.
    pub looks_only: bool,
}

/// A connection to one database, for one call.
#[derive(Debug)]
pub(super) struct Session {
    pub file: DatabaseFile,
    pub options: Options,
    idle: Arc<IdleConnections>,
    pub interrupt: Arc<Interrupt>,
    /// `None` after an error closed it, until its next use.
    connection: Mutex<Option<Connection>>,
}

impl Session {
    pub fn new(
        layout: &Layout,
        name: &str,
        kind: Kind,
        options: Options,
        idle: &Arc<IdleConnections>,
    ) -> Result<Self, Error> {
        Ok(Session {
            file: DatabaseFile::new(layout, name, kind)?,
            options,
            idle: idle.clone(),
            interrupt: Arc::new(Interrupt::new(options.statement_time)),
            connection: Mutex::new(None),
        })
    }

    pub fn with(mut self, connection: Connection) -> Arc<Self> {
        self.interrupt = connection.interrupt.clone();
        self.connection = Mutex::new(Some(connection));
        Arc::new(self)
    }

    /// The deadline of a wait for other programs that begins now. A derived database is not worth a
    /// wait, so its deadline is now.
    pub fn busy_deadline(&self) -> Instant {
        match self.file.kind {
            Kind::Kept => Instant::now() + self.options.busy_wait,
            Kind::Derived => Instant::now(),
        }
    }

    /// The connection. Opens it again if it was closed.
    pub fn connection(&self) -> Result<Open<'_>, Error> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            *connection = Some(self.connect(false)?);
        }
        Ok(Open(connection))
    }

    /// The connection, if it is open.
    pub fn open_connection(&self) -> Option<Open<'_>> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.is_some().then(|| Open(connection))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = connection {
            let path = std::mem::take(&mut self.file.path);
            self.idle.give_back(path, connection);
        }
    }
}

/// The locked connection of a session.
pub(super) struct Open<'a>(MutexGuard<'a, Option<Connection>>);

impl Open<'_> {
    /// Closes the connection and ends its transaction.
    fn close(mut self) {
        *self.0 = None;
    }
}

impl std::ops::Deref for Open<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("closed only with this")
    }
}

impl Session {
    pub fn check_writable(&self) -> Result<(), Error> {
        let connection = self.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        if connection.is_read_only() { Err(read_only(&self.file.location, None)) } else { Ok(()) }
    }

    pub fn create_journal(&self, until: Instant) -> Result<(), Error> {
        if !self.is_new()? {
            return Ok(());
        }
        let sql = match journal_mode(rusqlite::version_number()) {
            "WAL" => "PRAGMA journal_mode = WAL",
            _ => "PRAGMA journal_mode = DELETE",
        };
        let connection = self.connection()?;
        let set = poll(until, || Ok(connection.set(sql)?));
        set.map_err(|error| self.report(error))
    }

    pub fn is_new(&self) -> Result<bool, Error> {
        let connection = self.connection()?;
        connection.is_new().map_err(|error| self.report(error.into()))
    }

    /// Begins a transaction. Returns false if another program has the database locked.
    ///
    /// An async caller may run this on its own thread, since it does not block for long: it only reads
    /// the first page, which is in memory after the first time.
    pub fn try_begin(&self, mode: Mode<'_>) -> Result<bool, Error> {
        let connection = self.connection()?;
        if connection.is_in_transaction() {
            return Err(nested());
        }
        let begun = match mode {
            Mode::Read => connection.run(BEGIN_READ).and_then(|()| connection.run(FIRST_READ)),
            Mode::Write(_) => connection.run(BEGIN_WRITE),
        };
        let error = match begun {
            Ok(()) => return Ok(true),
            Err(error) => connection.check_unchanged().err().unwrap_or_else(|| error.into()),
        };
        roll_back(connection);
        if error.is_busy() { Ok(false) } else { Err(self.report(error)) }
    }

    /// Repeats an attempt while another program has the database locked, for up to `busy_wait`.
    pub fn retry<T>(&self, attempt: impl FnMut() -> Result<T, StatementError>) -> Result<T, Error> {
        let asked = Instant::now();
        poll(self.busy_deadline(), attempt).map_err(|error| {
            if error.is_busy() { self.busy(asked.elapsed()) } else { self.report(error) }
        })
    }

    pub fn report(&self, error: StatementError) -> Error {
        error.report(&self.file.location, &self.interrupt)
    }

    pub fn busy(&self, waited: Duration) -> Error {
        let location = &self.file.location;
        let message = match self.file.kind {
            Kind::Derived => format!("`{location}` is in use: try again"),
            Kind::Kept => format!(
                "another program kept `{location}` locked for the {:.1} s that this call waited: \
                 try again, or wait longer (`lock_wait`)",
                waited.as_secs_f64()
            ),
        };
        Error::new(ErrorCode::Busy, message)
    }
}

/// Ends the transaction of a connection, if it has one.
pub(super) fn roll_back(connection: Open<'_>) {
    // Closing a connection rolls back as well.
    if connection.is_in_transaction() && connection.run(ROLLBACK).is_err() {
        connection.close();
    }
}

pub(super) fn nested() -> Error {
    let message = "the call has a transaction already: a call takes one at a time";
    Error::new(ErrorCode::Nested, message)
}
