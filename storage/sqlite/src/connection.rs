//! Connections: running statements for a call and for the host, and a pool of idle connections.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent_memory_storage_lock::{KEEPS_IDLE, is_in_place, result_code};

use super::authoriser::Authoriser;
use super::error::{StatementError, not_granted};
use super::immutable::ImmutableFile;
use super::interrupt::Interrupt;

/// The maximum size of a query's result and of a statement's parameters, in bytes: 16 MiB.
pub const MAX_ROWS_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of connections that stay open between uses.
const MAX_IDLE: usize = 16;

/// A connection to a database.
#[derive(Debug)]
pub(super) struct Connection {
    pub sqlite: rusqlite::Connection,
    pub authoriser: Authoriser,
    pub interrupt: Arc<Interrupt>,
    /// Whether the database is known to have pages, so that it is not new.
    pub has_pages: AtomicBool,
    /// Set if the file was opened with SQLite's `immutable` option. The connection then serves only one
    /// call.
    pub immutable: Option<ImmutableFile>,
}

impl Connection {
    pub fn is_in_transaction(&self) -> bool {
        !self.sqlite.is_autocommit()
    }

    /// Whether the open file is still the one at its path.
    pub fn is_in_place(&self) -> bool {
        match &self.immutable {
            Some(file) => file.holds(),
            None => is_in_place(&self.sqlite),
        }
    }

    pub fn is_read_only(&self) -> bool {
        self.sqlite.is_readonly("main").unwrap_or(true)
    }

    /// Runs a statement that only the host may run. The statement is not cached: otherwise a call with
    /// the same text would get it from the cache, without a check by the authoriser.
    pub fn set(&self, sql: &str) -> rusqlite::Result<()> {
        self.as_host(|| self.sqlite.execute_batch(sql))
    }

    /// Runs one of the host's own statements, reads all rows, and keeps it prepared. This is safe
    /// because no call may run its text.
    pub fn run(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.as_host(|| {
            let mut statement = self.sqlite.prepare_cached(sql)?;
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        })
    }

    /// The rows of SQLite's `quick_check`: at most 20 problems, or only `ok` if the file is sound.
    pub fn complaints(&self) -> rusqlite::Result<Vec<String>> {
        self.as_host(|| {
            let mut statement = self.sqlite.prepare("PRAGMA quick_check(20)")?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect()
        })
    }

    pub fn as_host<T>(&self, work: impl FnOnce() -> T) -> T {
        self.interrupt.start_own();
        self.authoriser.as_host(work)
    }

    /// Runs a call's statement. If the authoriser denied it, the error says so.
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

    /// Fails if the immutable file has changed. The rows, or SQLite's error, may then come from a
    /// mix of two states.
    pub fn check_unchanged(&self) -> Result<(), StatementError> {
        match &self.immutable {
            Some(file) if !file.holds() => Err(StatementError::Changed),
            _ => Ok(()),
        }
    }

    /// Whether the database is new: nothing was ever written to it.
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

/// Connections that no call uses now. They stay open for the next call.
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
        if !KEEPS_IDLE || connection.immutable.is_some() || connection.is_in_transaction() {
            return;
        }
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((path, connection));
        let oldest = (idle.len() > MAX_IDLE).then(|| idle.remove(0));
        drop(idle);
        drop(oldest);
    }
}
