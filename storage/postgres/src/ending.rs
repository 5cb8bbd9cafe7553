//! The end of a transaction that changes a derived database.

use agent_memory_storage::Error;

use super::error::rolled_back;
use super::session::Session;
use super::state::State;
use super::statement_error::answered;

/// Rolls back a transaction that changes a derived database, unless it has ended. Waits for the
/// rollback, since otherwise the next transaction of the same call would find the database busy.
pub(crate) async fn roll_back(state: &mut State) {
    if let State::Rows(connection) = std::mem::take(state) {
        connection.roll_back().await;
    }
}

/// Commits a transaction that changes a derived database. If the connection breaks, the change may be
/// lost.
pub(crate) async fn commit(session: &Session, state: &mut State) -> Result<(), Error> {
    let State::Rows(mut connection) = std::mem::take(state) else { return Err(rolled_back()) };
    let committed = answered(session.server.answer_timeout(1), connection.commit()).await;
    committed.map_err(|failed| connection.end(failed))
}
