//! Why a statement failed.

use std::time::Duration;

use agent_memory_storage::Error;
use tokio::time::timeout;

use super::error::{is_lost, silent, storage_error};

/// Why a statement, or work of several statements, failed.
pub(crate) enum StatementError {
    /// The program refused to go on. The connection can be used further.
    Refused(Error),
    /// The database refused a statement, or the connection was lost.
    Database(tokio_postgres::Error),
    /// The database gave no answer in time, or the call was given up. A statement may still run.
    Stopped(Error),
}

impl From<Error> for StatementError {
    fn from(error: Error) -> Self {
        StatementError::Refused(error)
    }
}

impl From<tokio_postgres::Error> for StatementError {
    fn from(error: tokio_postgres::Error) -> Self {
        StatementError::Database(error)
    }
}

impl StatementError {
    /// Whether the connection can be used further, after a rollback.
    pub fn leaves_usable(&self) -> bool {
        match self {
            StatementError::Refused(_) => true,
            StatementError::Database(error) => !is_lost(error),
            StatementError::Stopped(_) => false,
        }
    }

    /// The error for the caller.
    pub fn error(self) -> Error {
        match self {
            StatementError::Refused(error) | StatementError::Stopped(error) => error,
            StatementError::Database(error) => storage_error(&error),
        }
    }
}

/// Waits for an answer of the database until it comes, or for at most `limit`.
pub(crate) async fn answered<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, impl Into<StatementError>>>,
) -> Result<T, StatementError> {
    match timeout(limit, answer).await {
        Ok(answer) => answer.map_err(Into::into),
        Err(_) => Err(StatementError::Stopped(silent())),
    }
}
