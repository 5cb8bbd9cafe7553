//! The use of a database by one call: its transaction, and how long its statements may take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode};
use tokio::sync::watch;

use super::derived_key::Derived;
use super::error::{is_lost, lost, silent, storage_error};
use super::lock::{IDLE_SECONDS, NETWORK_TIME};
use super::server::Server;
use super::statement::Failed;

/// The use of a database by one call.
#[derive(Debug)]
pub(crate) struct Session {
    pub server: Server,
    /// The derived database. `None` for the tables of kept databases.
    pub derived: Option<Derived>,
    /// Whether the session has a transaction.
    transacts: AtomicBool,
    /// Whether the call was given up. If so, its current statement and all later ones end with
    /// [`Stopped::GivenUp`].
    given_up: watch::Sender<bool>,
}

/// Why work on a connection ended without an answer of the database.
pub(crate) enum Stopped {
    Silent,
    GivenUp,
}

impl Session {
    pub fn new(server: Server, derived: Option<Derived>) -> Self {
        Session { server, derived, transacts: false.into(), given_up: watch::Sender::new(false) }
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
        if self.transacts.load(Ordering::SeqCst) { Err(nested()) } else { Ok(()) }
    }

    /// Notes that the session has a transaction now.
    ///
    /// # Errors
    ///
    /// `nested` if the session already has one.
    pub fn claim(&self) -> Result<(), Error> {
        if self.transacts.swap(true, Ordering::SeqCst) { Err(nested()) } else { Ok(()) }
    }

    /// Notes that the session has no transaction any more.
    pub fn release(&self) {
        self.transacts.store(false, Ordering::SeqCst);
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
        answer: impl Future<Output = T>,
    ) -> Result<T, Stopped> {
        let mut given_up = self.given_up.subscribe();
        tokio::select! {
            answer = tokio::time::timeout(patience, answer) => answer.map_err(|_| Stopped::Silent),
            _ = given_up.wait_for(|given_up| *given_up) => Err(Stopped::GivenUp),
        }
    }
}

impl Stopped {
    pub fn error(self) -> Error {
        match self {
            Stopped::Silent => silent(),
            Stopped::GivenUp => {
                let message = "a statement of the database was stopped: the call was given up";
                Error::new(ErrorCode::Cancelled, message)
            }
        }
    }
}

impl Failed {
    /// Whether the connection cannot be used any more.
    pub fn is_lost(&self) -> bool {
        matches!(self, Failed::Database(error) if is_lost(error))
    }

    /// The error for the caller. `writes` says whether the transaction may change something.
    pub fn error(self, writes: bool) -> Error {
        match self {
            Failed::Refused(error) => error,
            Failed::Database(error) => {
                let found = storage_error(&error);
                if found.code == ErrorCode::ReadOnly && !writes {
                    let message = "a statement that changes something needs a write transaction";
                    return Error { message: message.to_owned(), ..found };
                }
                if is_lost(&error) { Error { message: lost(), ..found } } else { found }
            }
        }
    }
}

/// The error of a call that has a transaction already.
pub(crate) fn nested() -> Error {
    let message = "the call has a transaction already: a call takes one at a time";
    Error::new(ErrorCode::Nested, message)
}
