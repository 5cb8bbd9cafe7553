//! Errors of the database as errors of storage.

use std::error::Error as _;
use std::io;

use agent_memory_storage::{Error, ErrorCode, UNCHANGED};
use tokio_postgres::error::{Severity, SqlState};

/// Converts an error of the database to an error of storage.
pub(crate) fn storage_error(error: &tokio_postgres::Error) -> Error {
    let Some(found) = error.as_db_error() else {
        return unreachable(error);
    };
    let state = found.code();
    let (code, message) = match *state {
        SqlState::LOCK_NOT_AVAILABLE => (
            ErrorCode::Busy,
            "other writers kept the lock: try again, or wait longer (`lock_wait`)".to_owned(),
        ),
        SqlState::QUERY_CANCELED => (ErrorCode::Busy, slow()),
        SqlState::UNIQUE_VIOLATION => (
            ErrorCode::AlreadyExists,
            format!("a statement breaks a unique constraint of the database: {}", found.message()),
        ),
        SqlState::CHARACTER_NOT_IN_REPERTOIRE | SqlState::UNTRANSLATABLE_CHARACTER => {
            (ErrorCode::Io, NO_NUL.to_owned())
        }
        SqlState::PROGRAM_LIMIT_EXCEEDED => (
            ErrorCode::TooLarge,
            "a text is too long for an index of the database: shorten it".to_owned(),
        ),
        SqlState::DISK_FULL => {
            (ErrorCode::NoSpace, "the disk of the database is full: make room on it".to_owned())
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            (ErrorCode::ReadOnly, "the database can only be read".to_owned())
        }
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
            (ErrorCode::Busy, format!("others changed the database at the same time{UNCHANGED}"))
        }
        SqlState::TOO_MANY_CONNECTIONS => {
            (ErrorCode::Busy, format!("the database has no free connection{UNCHANGED}"))
        }
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_SCHEMA => {
            (ErrorCode::Io, NO_TABLES.to_owned())
        }
        SqlState::INSUFFICIENT_PRIVILEGE => (
            ErrorCode::Permission,
            "the database's user may not use the tables of agent-memory: grant it that".to_owned(),
        ),
        SqlState::UNDEFINED_DATABASE => {
            (ErrorCode::Permission, "the server has no such database: create it".to_owned())
        }
        // Hides PostgreSQL's message, because it names the user.
        _ if state.code().starts_with("28") => (
            ErrorCode::Permission,
            "the database refuses the login: correct the user or the password of its URL"
                .to_owned(),
        ),
        _ if *state == SqlState::PROTOCOL_VIOLATION => refused_by_pooler(found.message()),
        _ if is_lost(error) => (ErrorCode::Busy, lost()),
        // Hides PostgreSQL's message, because it may have a value of the URL. An error of a statement
        // has the severity `ERROR`, so this is an error of the connection.
        _ if found.parsed_severity() == Some(Severity::Fatal) => {
            let state = state.code();
            let message = format!(
                "the database refuses the connection ({state}): correct the parameters of its URL, such \
                 as `options`, or see the log of its server"
            );
            (ErrorCode::Io, message)
        }
        _ => {
            let message = found.message();
            (ErrorCode::Io, format!("the database refused: {message}: see the log of its server"))
        }
    };
    Error { code, message, detail: Some(state.code().to_owned()) }
}

/// The error of a pooler, such as PgBouncer, that gives a client no connection. All errors of PgBouncer
/// have the same state, so the message decides. It is not passed on, because it names the user.
fn refused_by_pooler(message: &str) -> (ErrorCode, String) {
    let refused = ["auth", "no such user", "no such database", "login rejected"];
    if refused.iter().any(|refused| message.contains(refused)) {
        let message = "the pooler of the database, or the database behind it, refuses the login: check the \
                       user, the password and the database of the URL, and those of the pooler";
        return (ErrorCode::Permission, message.to_owned());
    }
    let message = format!(
        "the pooler of the database has no connection to it: if that goes on, see the log of the \
         pooler{UNCHANGED}"
    );
    (ErrorCode::Busy, message)
}

/// The message for a statement that was given up. Its transaction was rolled back.
pub(crate) fn slow() -> String {
    format!("a statement of the database took too long{UNCHANGED}")
}

/// The message for a text that PostgreSQL cannot keep.
pub(crate) const NO_NUL: &str =
    "a text has the character NUL (U+0000), which the database cannot keep: take it out";

/// The message for a database that was not migrated.
pub(crate) const NO_TABLES: &str =
    "the database has no tables of agent-memory: run `agent-memory database migrate`";

/// The error message of tokio-postgres for a server that refuses TLS.
const NO_TLS: &str = "server does not support TLS";

/// Whether the connection was lost, or the server is closing it. The outcome of a COMMIT is then
/// unknown.
pub(crate) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        None => true,
        Some(state) => {
            let ending = [
                SqlState::ADMIN_SHUTDOWN,
                SqlState::CRASH_SHUTDOWN,
                SqlState::CANNOT_CONNECT_NOW,
                SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            ];
            ending.contains(state) || state.code().starts_with("08")
        }
    }
}

/// The error of a database that does not answer in time. Nothing was committed.
pub(crate) fn silent() -> Error {
    Error::new(ErrorCode::Busy, format!("the database does not answer{UNCHANGED}"))
}

/// The error for a transaction that an earlier error has rolled back.
pub(crate) fn rolled_back() -> Error {
    let message = "the transaction was rolled back after an error: begin again";
    Error::new(ErrorCode::Io, message)
}

/// The message after a connection was lost before the commit.
pub(crate) fn lost() -> String {
    format!("the connection to the database was lost{UNCHANGED}")
}

/// The error of a failed look-up of the database's host.
pub(crate) fn no_address(error: &io::Error) -> Error {
    let message = format!(
        "the host of the database has no address, or it cannot be looked up now ({}): check the \
         URL{UNCHANGED}",
        error.kind()
    );
    Error { code: ErrorCode::Busy, message, detail: Some(format!("{:?}", error.kind())) }
}

/// The error of a database that cannot be reached.
fn network_error(error: &io::Error) -> Error {
    let is_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
    let message = if is_tls {
        format!(
            "the certificate of the database cannot be verified ({error}): name its host in the URL, \
             and the file with its root in `SSL_CERT_FILE`"
        )
    } else {
        format!("the database cannot be reached ({}){UNCHANGED}", error.kind())
    };
    let code = if is_tls { ErrorCode::Permission } else { ErrorCode::Busy };
    Error { code, message, detail: Some(format!("{:?}", error.kind())) }
}

fn unreachable(error: &tokio_postgres::Error) -> Error {
    let mut source = error.source();
    while let Some(found) = source {
        if let Some(error) = found.downcast_ref::<io::Error>() {
            return network_error(error);
        }
        source = found.source();
    }
    if error.source().is_some_and(|source| source.to_string() == NO_TLS) {
        let message = "the server of the database has no TLS: turn it on there, or write \
                       `sslmode=disable` in the URL for a network that you trust";
        return Error::new(ErrorCode::Permission, message);
    }
    let message =
        if error.is_closed() { lost() } else { format!("the database cannot be used: {error}") };
    let code = if error.is_closed() { ErrorCode::Busy } else { ErrorCode::Io };
    Error::new(code, message)
}
