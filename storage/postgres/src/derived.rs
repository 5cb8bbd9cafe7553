//! A derived database of a place: its rows of the tables that all places share.

use std::sync::Arc;
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode};

use tokio::time::Instant;

use super::database::Database;
use super::error::{is_lost, lost, silent, storage_error};
use super::lock::{State, lock_row};
use super::pool::ROLLBACK_TIME;
use super::query::literal;
use super::server::{Server, place_key};
use super::session::Session;
use super::transaction::{Held, Transaction, rolled_back};

/// How long a transaction that writes waits for a free connection. Its call may hold one, and what it
/// saves is only time.
const CONNECTION_TIME: Duration = Duration::from_secs(1);

/// The state of PostgreSQL for a lock that somebody else has.
const IS_LOCKED: &str = "55P03";

/// A derived database of a place.
#[derive(Debug)]
pub(crate) struct Derived {
    place: String,
    /// Its name, which is the scope that its writers lock. Scopes of a place begin with `/`.
    name: String,
}

impl Derived {
    /// The statement that says whose rows a transaction reads and makes, beside the tenant.
    pub fn set_place(&self) -> String {
        format!("; SELECT set_config('agent_memory.place', {}, true)", literal(&self.place))
    }
}

impl Server {
    /// A derived database of a place, for a call. `name` is empty if the label has only one place. It asks
    /// the server for nothing.
    pub fn derived_database(&self, label: &str, name: &str, database: &str) -> Database {
        let derived = Derived { place: place_key(label, name), name: database.to_owned() };
        Database(Arc::new(Session::new(self.clone(), Some(derived))))
    }
}

impl Database {
    /// Begins a transaction that changes a derived database. Its commit does not wait for the disk of the
    /// server.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `busy` at once if another transaction changes it, after a second
    /// without a free connection, or if the database cannot be reached now; `permission`, `io`.
    ///
    /// # Panics
    ///
    /// If it is not a derived one.
    pub async fn begin_derived(&self) -> Result<Transaction, Error> {
        let Session { server, derived, .. } = &*self.0;
        let Derived { place, name } = derived.as_ref().expect("a derived database");
        // A millisecond is the shortest time, for the first two that make the row at once.
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; {}; SET LOCAL synchronous_commit = off; \
             SET LOCAL lock_timeout = 1; {}",
            self.0.settings(),
            lock_row(server, place, name, "UPDATE NOWAIT"),
        );
        let begun =
            self.begin_alone(begin, Instant::now() + CONNECTION_TIME, None, Held::Derived).await;
        begun.map_err(|error| match error.detail.as_deref() {
            Some(IS_LOCKED) => {
                let message = format!("another call changes `{name}` now: try again");
                Error::new(ErrorCode::Busy, message)
            }
            _ => error,
        })
    }
}

/// Ends a transaction that changes a derived database, unless it has ended, and waits for that: the next
/// one of the same call would find it busy.
pub(crate) async fn roll_back(state: &mut State) {
    let Some(mut connection) = state.connection.take().filter(|_| state.transacts) else { return };
    state.transacts = false;
    if connection.in_transaction {
        let ended = connection.client().batch_execute("ROLLBACK");
        let ended = tokio::time::timeout(ROLLBACK_TIME, ended).await;
        // Otherwise the connection is closed later.
        connection.in_transaction = !matches!(ended, Ok(Ok(())));
    }
}

/// Commits a transaction that changes a derived database. If the connection breaks, the change may be
/// lost.
pub(crate) async fn commit(session: &Session, state: &mut State) -> Result<(), Error> {
    let Some(connection) = &mut state.connection else { return Err(rolled_back()) };
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
