//! One of the two files of a lock, held by `BEGIN IMMEDIATE` on it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode};
use rusqlite::{Connection, OpenFlags, ffi};

use super::system::{self, is_in_place};

/// The maximum number of lock files that stay open between uses.
const MAX_IDLE: usize = 64;

/// Open lock files that no writer holds now. They stay open for the next writer.
#[derive(Debug, Default)]
pub struct IdleLocks(Mutex<HashMap<PathBuf, Connection>>);

impl IdleLocks {
    pub(super) fn take(&self, path: &Path) -> Option<Connection> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.remove(path).filter(is_in_place)
    }

    fn give_back(&self, path: PathBuf, connection: Connection) {
        if !system::KEEPS_IDLE {
            return;
        }
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MAX_IDLE {
            idle.clear();
        }
        idle.insert(path, connection);
    }
}

/// A connection to one of the two files. Dropping it releases the file's lock.
#[derive(Debug)]
pub(super) struct LockFile {
    pub idle: Arc<IdleLocks>,
    pub path: PathBuf,
    /// `None` only during the drop.
    pub connection: Option<Connection>,
}

impl LockFile {
    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("taken on drop alone")
    }

    pub(super) fn is_in_place(&self) -> bool {
        is_in_place(self.connection())
    }

    /// Whether no process holds the file. False if SQLite cannot tell.
    pub(super) fn is_free(&self) -> bool {
        let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
        let mut held = 1;
        // SAFETY: the connection is open, and only this thread uses it. SQLite gives the pointers
        // to its file and to the methods of that file.
        unsafe {
            let handle = self.connection().handle();
            let ask = ffi::SQLITE_FCNTL_FILE_POINTER;
            let to = (&raw mut file).cast();
            if ffi::sqlite3_file_control(handle, c"main".as_ptr(), ask, to) != ffi::SQLITE_OK {
                return false;
            }
            let Some(methods) = file.as_ref().and_then(|file| file.pMethods.as_ref()) else {
                return false;
            };
            let checked = methods.xCheckReservedLock.map(|check| check(file, &raw mut held));
            checked == Some(ffi::SQLITE_OK) && held == 0
        }
    }

    /// Releases the file if this connection holds it.
    pub(super) fn let_go(&mut self) {
        if !self.connection().is_autocommit() {
            // Ignores an error: the next attempt to take the file then fails, too.
            let _ = run(self.connection(), "ROLLBACK");
        }
    }

    /// Tries to take the file. `location` is the place's, for messages.
    pub(super) fn try_take(&mut self, location: &str) -> Result<bool, Error> {
        match run(self.connection(), "BEGIN IMMEDIATE") {
            Ok(()) => Ok(true),
            Err(error) if is_busy(&error) => Ok(false),
            Err(error) => Err(lock_error(location, &error)),
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let connection = self.connection.take().expect("dropped once");
        // A connection that cannot roll back is closed here, which frees the lock, too.
        if connection.is_autocommit() || run(&connection, "ROLLBACK").is_ok() {
            let path = std::mem::take(&mut self.path);
            self.idle.give_back(path, connection);
        }
    }
}

/// Runs a statement, and keeps it prepared.
fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = system::open(path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    // In an empty file, `BEGIN IMMEDIATE` prepares the first page. This must not create a journal file.
    connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")?;
    Ok(connection)
}

/// Whether the error means that another connection holds SQLite's own lock.
pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ffi::ErrorCode::DatabaseBusy | ffi::ErrorCode::DatabaseLocked)
    )
}

pub(super) fn lock_error(location: &str, error: &rusqlite::Error) -> Error {
    let (code, message) = match error.sqlite_error_code() {
        Some(ffi::ErrorCode::ReadOnly | ffi::ErrorCode::PermissionDenied) => {
            return cannot_write(location, result_code(error));
        }
        Some(ffi::ErrorCode::DiskFull) => {
            (ErrorCode::NoSpace, "cannot take the lock: the medium is full: free some space")
        }
        Some(ffi::ErrorCode::NotADatabase | ffi::ErrorCode::DatabaseCorrupt) => (
            ErrorCode::Io,
            "cannot take the lock: its `queue.sqlite` or `turn.sqlite` is damaged: remove both",
        ),
        _ => (ErrorCode::Io, "cannot take the lock: the medium reports an error"),
    };
    Error { code, message: message.to_owned(), detail: result_code(error) }
}

/// SQLite's extended result code, as the detail of an error.
pub fn result_code(error: &rusqlite::Error) -> Option<String> {
    let code = error.sqlite_error()?.extended_code;
    Some(format!("SQLite result code {code}"))
}

pub(super) fn cannot_write(location: &str, detail: Option<String>) -> Error {
    Error {
        code: ErrorCode::ReadOnly,
        message: format!(
            "cannot take the lock of `{location}`: this process may read the directory of the lock, but \
             not write to it: check its owner and permissions"
        ),
        detail,
    }
}
