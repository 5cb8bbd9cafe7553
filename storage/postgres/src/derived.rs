//! A derived database of a place: the rows of the place in tables that all places share.

use std::sync::Arc;
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode};
use tokio::time::Instant;
use tokio_postgres::error::SqlState;

use super::database::Database;
use super::derived_key::Derived;
use super::lock::lock_row;
use super::server::{Server, place_key};
use super::session::Session;
use super::transaction::{Held, Transaction};

/// How long a transaction that writes waits for a free connection. The wait is short because the call
/// may hold another connection, and derived data only saves time.
const CONNECTION_TIME: Duration = Duration::from_secs(1);

impl Server {
    /// A derived database of a place, for a call. `name` is empty if the label has only one place.
    /// Sends nothing to the server.
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
    /// If this is not a derived database.
    pub async fn begin_derived(&self) -> Result<Transaction, Error> {
        let Session { server, derived, .. } = &*self.0;
        let Derived { place, name } = derived.as_ref().expect("a derived database");
        // `lock_timeout` is the shortest possible, 1 ms. It is needed beside NOWAIT when two
        // transactions insert the first row at once.
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; {}; SET LOCAL synchronous_commit = off; \
             SET LOCAL lock_timeout = 1; {}",
            self.0.settings(),
            lock_row(server, place, name, "UPDATE NOWAIT"),
        );
        let begun =
            self.begin_alone(begin, Instant::now() + CONNECTION_TIME, false, Held::Derived).await;
        begun.map_err(|error| match error.detail.as_deref() {
            Some(state) if state == SqlState::LOCK_NOT_AVAILABLE.code() => {
                let message = format!("another call changes `{name}` now: try again");
                Error::new(ErrorCode::Busy, message)
            }
            _ => error,
        })
    }
}
