//! The connection of a lock or of a transaction, and its use.

use tokio_postgres::Client;

use agent_memory_storage::Error;

use super::connection::Connection;
use super::error::rolled_back;
use super::statement_error::StatementError;

/// The connection of a lock or of a transaction, and its use.
pub(crate) enum State {
    /// No transaction is open, so the lock is free in the database. After a commit, the connection is
    /// kept for the next transaction.
    Released(Option<Connection>),
    /// The transaction that has the lock is open. No transaction on rows uses it.
    Locked(Connection),
    /// A transaction on rows is open. Changes of documents become part of it.
    Rows(Connection),
    /// A failed read or change of documents has rolled back the transaction on rows. The
    /// [`Transaction`](super::Transaction) has not ended yet.
    RolledBack,
}

impl State {
    /// Whether a transaction on rows has not ended yet.
    pub fn has_rows(&self) -> bool {
        matches!(self, State::Rows(_) | State::RolledBack)
    }

    /// Lets a transaction on rows use the lock.
    pub fn use_for_rows(&mut self) {
        *self = match std::mem::take(self) {
            State::Locked(connection) => State::Rows(connection),
            other => other,
        };
    }

    /// Ends the transaction on rows, if there is one: rolls it back.
    pub fn end_rows(&mut self) {
        if self.has_rows() {
            // Dropping the connection rolls back.
            *self = State::default();
        }
    }

    /// The client of the open transaction.
    ///
    /// # Errors
    ///
    /// `io` without an open transaction.
    pub fn client(&self) -> Result<&Client, Error> {
        match self {
            State::Locked(connection) | State::Rows(connection) => Ok(connection.client()),
            State::Released(_) | State::RolledBack => Err(rolled_back()),
        }
    }

    /// Ends the use of the connection after a failure. Returns the error for the caller.
    pub fn fail(&mut self, failed: StatementError) -> Error {
        let left = if self.has_rows() { State::RolledBack } else { State::default() };
        match std::mem::replace(self, left) {
            State::Released(Some(connection))
            | State::Locked(connection)
            | State::Rows(connection) => connection.end(failed),
            State::Released(None) | State::RolledBack => failed.error(),
        }
    }
}

impl Default for State {
    fn default() -> Self {
        State::Released(None)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}
