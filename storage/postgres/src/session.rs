//! The use of a database by one call: its transaction, and how long its statements may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_memory_storage::{Error, ErrorCode};
use tokio::sync::watch;

use super::derived_key::Derived;
use super::lock::IDLE_SECONDS;
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

    /// Waits for the answer of the database to this many statements until it comes, its time is over,
    /// or the call is given up.
    pub async fn bounded<T>(
        &self,
        statements: usize,
        answer: impl Future<Output = Result<T, impl Into<StatementError>>>,
    ) -> Result<T, StatementError> {
        let mut given_up = self.given_up.subscribe();
        let limit = self.server.answer_timeout(statements);
        tokio::select! {
            answer = answered(limit, answer) => answer,
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
