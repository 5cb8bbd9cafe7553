//! The use of a database by one call: its transaction, and how long its statements may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode};
use tokio::sync::watch;

use super::derived_key::Derived;
use super::lock::{IDLE_SECONDS, NETWORK_TIME};
use super::server::Server;
use super::statement_error::{StatementError, answered};

/// The use of a database by one call.
#[derive(Debug)]
pub(crate) struct Session {
    pub server: Server,
    /// The derived database. `None` for the tables of kept databases.
    pub derived: Option<Derived>,
    /// Whether a transaction has a [`Claim`] on the session.
    is_claimed: AtomicBool,
    /// Whether the call was given up. If so, its current statement and all later ones end with
    /// `cancelled`.
    given_up: watch::Sender<bool>,
}

impl Session {
    pub fn new(server: Server, derived: Option<Derived>) -> Self {
        Session { server, derived, is_claimed: false.into(), given_up: watch::Sender::new(false) }
    }

    /// The statements after BEGIN that set the tenant, the place and the limits of a transaction.
    pub fn settings(&self) -> String {
        let Session { server, derived, .. } = self;
        let place = derived.as_ref().map(Derived::set_place).unwrap_or_default();
        format!(
            "{}; SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'; {}{place}",
            server.set_tenant(),
            server.settings(),
        )
    }

    /// Ends the current statement, if any, and every later one.
    pub fn give_up(&self) {
        self.given_up.send_replace(true);
    }

    /// # Errors
    ///
    /// `nested` if the session has a transaction.
    pub fn check_free(&self) -> Result<(), Error> {
        if self.is_claimed.load(Ordering::SeqCst) { Err(nested()) } else { Ok(()) }
    }

    /// Claims the session for a transaction.
    ///
    /// # Errors
    ///
    /// `nested` if the session has one already.
    pub fn claim(self: &Arc<Self>) -> Result<Claim, Error> {
        if self.is_claimed.swap(true, Ordering::SeqCst) {
            return Err(nested());
        }
        Ok(Claim(self.clone()))
    }

    /// How long this program waits for the answers to this many statements. The database's own limit
    /// stops a statement earlier.
    pub fn patience(&self, statements: usize) -> Duration {
        let statements = u32::try_from(statements.max(1)).unwrap_or(u32::MAX);
        self.server.statement_time().saturating_mul(statements).saturating_add(NETWORK_TIME)
    }

    /// Waits for an answer of the database until it comes, `patience` is over, or the call is given up.
    pub async fn bounded<T>(
        &self,
        patience: Duration,
        answer: impl Future<Output = Result<T, impl Into<StatementError>>>,
    ) -> Result<T, StatementError> {
        let mut given_up = self.given_up.subscribe();
        tokio::select! {
            answer = answered(patience, answer) => answer,
            _ = given_up.wait_for(|given_up| *given_up) => {
                let message = "a statement of the database was stopped: the call was given up";
                Err(StatementError::Stopped(Error::new(ErrorCode::Cancelled, message)))
            }
        }
    }
}

/// The claim of a transaction on its session. Until it is dropped, the session can have no other
/// transaction.
#[derive(Debug)]
pub(crate) struct Claim(Arc<Session>);

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.is_claimed.store(false, Ordering::SeqCst);
    }
}

/// Converts an error of a transaction that only reads. If a change was refused, the message says what
/// to do.
pub(crate) fn error_of_reading(error: Error) -> Error {
    if error.code != ErrorCode::ReadOnly {
        return error;
    }
    let message = "a statement that changes something needs a write transaction";
    Error { message: message.to_owned(), ..error }
}

/// The error of a call that has a transaction already.
pub(crate) fn nested() -> Error {
    let message = "the call has a transaction already: a call takes one at a time";
    Error::new(ErrorCode::Nested, message)
}
