//! Transactions, and their ends: by commit, rollback or drop.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_memory_storage::database::{self, Effect, Mode, Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};

use super::connection::Connection;
use super::control::COMMIT;
use super::error::StatementError;
use super::session::{Session, roll_back};
use super::statement;

/// The lock of a place, which a transaction holds until it ends.
pub type Held = Arc<dyn Debug + Send + Sync>;

/// A transaction. It is rolled back if it is dropped, or if the process ends, before its commit.
///
/// Share it (`Arc`) with the thread that runs a statement or a commit. The transaction then lasts
/// until that thread is done, even if the call has ended.
#[derive(Debug)]
pub struct Transaction {
    session: Arc<Session>,
    mode: Mode<'static>,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// The transaction is open. It has the lock of the place if it needs it.
    Open(Option<Held>),
    Committed,
    RolledBack,
}

impl Transaction {
    pub(super) fn try_begin(
        session: &Arc<Session>,
        mode: Mode<'_>,
        held: Option<Held>,
    ) -> Result<Option<Self>, Error> {
        let mode = mode.unscoped();
        Ok(session.try_begin(mode)?.then(|| Transaction {
            session: session.clone(),
            mode,
            state: Mutex::new(State::Open(held)),
        }))
    }
}

impl database::Transaction for Transaction {
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.with(|connection| statement::query(connection, statement, max_rows, self.mode))
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.with(|connection| {
            let effects = statements.iter();
            effects.map(|one| statement::execute(connection, one, self.mode)).collect()
        })
    }

    fn commit(&self) -> Result<(), Error> {
        let mut state = self.state();
        let State::Open(lock) = &mut *state else {
            return Err(self.ended(&state));
        };
        let lock = lock.take();
        let session = &self.session;
        let committed = session.connection().and_then(|connection| {
            let committed = self.commit_on(&connection);
            // A failed commit leaves the transaction open: roll back to release SQLite's own lock for
            // the next writer.
            if committed.is_err() {
                roll_back(connection);
            }
            committed
        });
        *state = if committed.is_ok() { State::Committed } else { State::RolledBack };
        drop(lock);
        committed
    }
}

impl Transaction {
    fn commit_on(&self, connection: &Connection) -> Result<(), Error> {
        let session = &self.session;
        if !connection.is_in_transaction() {
            return Err(self.lost());
        }
        if self.mode.is_write() && !connection.is_in_place() {
            let message =
                format!("`{}` was moved away while it was open: try again", session.file.location);
            return Err(Error::new(ErrorCode::Io, message));
        }
        session.retry(|| Ok(connection.run(COMMIT)?))
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StatementError>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        if !matches!(*state, State::Open(_)) {
            return Err(self.ended(&state));
        }
        let session = &self.session;
        let connection = session.connection()?;
        let done = if connection.is_in_transaction() {
            work(&connection).map_err(|error| session.report(error))
        } else {
            Err(self.lost())
        };
        if done.is_err() {
            roll_back(connection);
            // Drops the lock of the place only now, so that the next writer begins after the rollback.
            *state = State::RolledBack;
        }
        done
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self, state: &State) -> Error {
        match state {
            State::Committed => {
                Error::new(ErrorCode::Nested, "the transaction is committed already")
            }
            _ => self.lost(),
        }
    }

    fn lost(&self) -> Error {
        let location = &self.session.file.location;
        let message =
            format!("the transaction on `{location}` was rolled back after an error: begin again");
        Error::new(ErrorCode::Io, message)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(lock) = std::mem::replace(state, State::RolledBack) {
            if let Some(connection) = self.session.open_connection() {
                roll_back(connection);
            }
            drop(lock);
        }
    }
}
