//! A derived database of a place: the rows of the place in tables that all places share.

use std::sync::Arc;
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode};
use tokio::time::Instant;
use tokio_postgres::error::SqlState;

use super::database::Database;
use super::derived_key::Derived;
use super::lock::lock_row;
use super::places::place_key;
use super::server::Server;
use super::session::Session;
use super::transaction::{Held, Transaction};

/// How long a transaction that writes waits for a free connection. The wait is short because the call
/// may hold another connection, and derived data only saves time.
const CONNECTION_TIME: Duration = Duration::from_secs(1);

/// The pause before a second attempt to lock a derived database. The transaction of the call before may
/// still be ending on the server.
const PAUSE: Duration = Duration::from_millis(20);

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
    /// `nested` during a transaction; `busy` after 20 ms if another transaction changes it, after a second
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
        let attempt = || {
            self.begin_alone(begin.clone(), Instant::now() + CONNECTION_TIME, false, Held::Derived)
        };
        let is_locked =
            |error: &Error| error.detail.as_deref() == Some(SqlState::LOCK_NOT_AVAILABLE.code());
        let mut begun = attempt().await;
        if begun.as_ref().is_err_and(is_locked) {
            // The caller may have no timer.
            let _ = server.spawn(tokio::time::sleep(PAUSE)).await;
            begun = attempt().await;
        }
        begun.map_err(|error| {
            if is_locked(&error) {
                let message = format!("another call changes `{name}` now: try again");
                return Error::new(ErrorCode::Busy, message);
            }
            error
        })
    }
}
