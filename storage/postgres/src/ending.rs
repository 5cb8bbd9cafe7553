//! The end of a transaction that changes a derived database.

use agent_memory_storage::Error;
use tokio::time::timeout;

use super::error::rolled_back;
use super::pool::ROLLBACK_TIME;
use super::session::Session;
use super::state::State;
use super::statement_error::answered;

/// Rolls back a transaction that changes a derived database, unless it has ended. Waits for the
/// rollback, since otherwise the next transaction of the same call would find the database busy.
pub(crate) async fn roll_back(state: &mut State) {
    let State::Rows(mut connection) = std::mem::take(state) else { return };
    let ended = connection.client().batch_execute("ROLLBACK");
    let ended = timeout(ROLLBACK_TIME, ended).await;
    // After an error, dropping the connection tries again, or closes it.
    connection.in_transaction = !matches!(ended, Ok(Ok(())));
}

/// Commits a transaction that changes a derived database. If the connection breaks, the change may be
/// lost.
pub(crate) async fn commit(session: &Session, state: &mut State) -> Result<(), Error> {
    let State::Rows(mut connection) = std::mem::take(state) else { return Err(rolled_back()) };
    let committing = connection.client().batch_execute("COMMIT");
    match answered(session.patience(1), committing).await {
        Ok(()) => {
            connection.in_transaction = false;
            Ok(())
        }
        Err(failed) => Err(connection.end(failed)),
    }
}
