//! The end of a transaction that changes a derived database.

use agent_memory_storage::{Error, ErrorCode};

use super::error::{is_lost, lost, silent, storage_error};
use super::lock::State;
use super::pool::ROLLBACK_TIME;
use super::session::Session;

/// Rolls back a transaction that changes a derived database, unless it has ended. Waits for the
/// rollback, since otherwise the next transaction of the same call would find the database busy.
pub(crate) async fn roll_back(state: &mut State) {
    let Some(mut connection) = state.connection.take().filter(|_| state.transacts) else { return };
    state.transacts = false;
    if connection.in_transaction {
        let ended = connection.client().batch_execute("ROLLBACK");
        let ended = tokio::time::timeout(ROLLBACK_TIME, ended).await;
        // After an error, dropping the connection tries again, or closes it.
        connection.in_transaction = !matches!(ended, Ok(Ok(())));
    }
}

/// Commits a transaction that changes a derived database. If the connection breaks, the change may be
/// lost.
pub(crate) async fn commit(session: &Session, state: &mut State) -> Result<(), Error> {
    let Some(connection) = &mut state.connection else {
        return Err(Error::new(ErrorCode::Busy, lost()));
    };
    let committing = connection.client().batch_execute("COMMIT");
    match tokio::time::timeout(session.patience(1), committing).await {
        Ok(Ok(())) => {
            connection.in_transaction = false;
            Ok(())
        }
        Ok(Err(error)) if is_lost(&error) => {
            state.close();
            Err(Error::new(ErrorCode::Busy, lost()))
        }
        Ok(Err(error)) => Err(storage_error(&error)),
        Err(_) => {
            state.give_up();
            Err(silent())
        }
    }
}
