//! SQLite's errors as errors of storage.

use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_lock::{is_busy, result_code};
use rusqlite::ffi;

use super::interrupt::Interrupt;

/// The error of a statement.
#[derive(Debug)]
pub(super) enum StatementError {
    Sqlite(rusqlite::Error),
    /// The file was opened as immutable, but changed.
    Changed,
    Other(Error),
}

impl StatementError {
    pub fn is_busy(&self) -> bool {
        matches!(self, StatementError::Sqlite(error) if is_busy(error))
    }

    pub fn report(self, location: &str, interrupt: &Interrupt) -> Error {
        match self {
            StatementError::Sqlite(error) => report(&error, location, interrupt),
            StatementError::Changed => {
                let message = format!("`{location}` was changed while it was read: try again");
                Error::new(ErrorCode::Busy, message)
            }
            StatementError::Other(error) => error,
        }
    }
}

impl From<rusqlite::Error> for StatementError {
    fn from(error: rusqlite::Error) -> Self {
        StatementError::Sqlite(error)
    }
}

impl From<Error> for StatementError {
    fn from(error: Error) -> Self {
        StatementError::Other(error)
    }
}

pub(super) fn report(error: &rusqlite::Error, location: &str, interrupt: &Interrupt) -> Error {
    use ffi::ErrorCode as Sqlite;
    if matches!(error, rusqlite::Error::MultipleStatement) {
        return not_one();
    }
    let (code, message) = match error.sqlite_error_code() {
        Some(Sqlite::ConstraintViolation) if is_unique(error) => (
            ErrorCode::AlreadyExists,
            format!("a statement breaks a unique constraint of `{location}`: {error}"),
        ),
        Some(Sqlite::DiskFull) => (
            ErrorCode::NoSpace,
            format!("cannot write `{location}`: the medium is full: free some space"),
        ),
        Some(Sqlite::ReadOnly) => return read_only(location, result_code(error)),
        Some(Sqlite::DatabaseBusy | Sqlite::DatabaseLocked) => {
            (ErrorCode::Busy, format!("another program keeps `{location}` locked: try again"))
        }
        Some(Sqlite::PermissionDenied) => (
            ErrorCode::Permission,
            format!("cannot use `{location}`: the operating system refuses: check the permissions"),
        ),
        Some(Sqlite::AuthorizationForStatementDenied) => return not_granted(result_code(error)),
        Some(Sqlite::TooBig) => (
            ErrorCode::TooLarge,
            "a text, a blob or a row is longer than 16777216 bytes".to_owned(),
        ),
        Some(Sqlite::DatabaseCorrupt | Sqlite::NotADatabase) => (
            ErrorCode::Corrupted,
            format!(
                "`{location}` is damaged: look at it with `agent-memory doctor`, then restore it from a \
                 backup, or move it away"
            ),
        ),
        Some(Sqlite::OperationInterrupted) if interrupt.is_given_up() => (
            ErrorCode::Cancelled,
            format!("a statement on `{location}` was stopped: the call was given up"),
        ),
        Some(Sqlite::OperationInterrupted) => (
            ErrorCode::Cancelled,
            format!(
                "a statement on `{location}` ran for longer than {:?} and was stopped",
                interrupt.statement_time()
            ),
        ),
        Some(Sqlite::SystemIoFailure | Sqlite::CannotOpen) => {
            (ErrorCode::Io, format!("cannot use `{location}`: the medium reports an error"))
        }
        _ => (ErrorCode::Io, format!("cannot run a statement on `{location}`: {error}")),
    };
    Error { code, message, detail: result_code(error) }
}

/// Whether the error is a violated unique constraint.
fn is_unique(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        extended,
        Some(
            ffi::SQLITE_CONSTRAINT_UNIQUE
                | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                | ffi::SQLITE_CONSTRAINT_ROWID
        )
    )
}

pub(super) fn not_one() -> Error {
    Error::new(ErrorCode::Io, "one statement at a time: the text holds none or several")
}

pub(super) fn not_granted(detail: Option<String>) -> Error {
    let message = "a statement that is not granted: it may attach nothing, load nothing, set \
                   nothing that outlives the call, and begin or end no transaction";
    Error { code: ErrorCode::NotGranted, message: message.to_owned(), detail }
}

pub(super) fn read_only(location: &str, detail: Option<String>) -> Error {
    let message = format!(
        "cannot write `{location}`: it can only be read by this process: \
         check its owner and permissions"
    );
    Error { code: ErrorCode::ReadOnly, message, detail }
}
