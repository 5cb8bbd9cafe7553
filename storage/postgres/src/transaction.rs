//! Transactions on the tables of a toolset, and their ends: by commit, rollback or drop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_memory_storage::database::{self, Dialect, Effect, Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit};

use super::ending;
use super::error::rolled_back;
use super::lock::Lock;
use super::session::{Claim, Session, error_of_reading};
use super::state::State;
use super::statement::{self, Prepared};
use super::statement_error::StatementError;

/// A transaction. It is rolled back if it is dropped before its commit, or if a statement fails.
///
/// Share it (`Arc`) with the thread that runs a statement or a commit. The transaction then lasts until
/// that thread is done, even if the call has ended.
#[derive(Debug)]
pub struct Transaction {
    session: Arc<Session>,
    held: Held,
    status: Mutex<Status>,
    /// The permit to hold a connection while the call waits for another one. `None` if the transaction
    /// needs no permit.
    _holder: Option<OwnedSemaphorePermit>,
}

/// The connection of a transaction.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    /// The transaction's own connection: the transaction only reads.
    Read(Arc<AsyncMutex<State>>),
    /// The transaction's own connection: the transaction changes a derived database.
    Derived(Arc<AsyncMutex<State>>),
    /// The connection of the lock: the transaction changes a kept database.
    Write(Arc<Lock>),
}

#[derive(Debug)]
enum Status {
    Open { _claim: Claim },
    Committed,
    RolledBack,
}

impl Held {
    fn state(&self) -> &AsyncMutex<State> {
        match self {
            Held::Read(state) | Held::Derived(state) => state,
            Held::Write(lock) => &lock.state,
        }
    }

    /// Handles the failure of a statement. Returns the error for the caller.
    fn fail(&self, state: &mut State, failed: StatementError) -> Error {
        if matches!(self, Held::Derived(_)) && failed.leaves_usable() {
            // `Transaction::end` rolls back and waits for that.
            return failed.error();
        }
        let error = state.fail(failed);
        state.end_rows();
        match self {
            Held::Read(_) => error_of_reading(error),
            Held::Derived(_) | Held::Write(_) => error,
        }
    }
}

impl Transaction {
    pub(crate) fn new(
        session: &Arc<Session>,
        claim: Claim,
        held: Held,
        holder: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let status = Mutex::new(Status::Open { _claim: claim });
        Transaction { session: session.clone(), held, status, _holder: holder }
    }

    /// Runs work if the transaction is open. An error of the work ends the transaction.
    fn with<T, Work>(&self, work: impl FnOnce(Arc<Session>, Held) -> Work) -> Result<T, Error>
    where
        T: Send + 'static,
        Work: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut status = self.open()?;
        let done = self.session.server.wait(work(self.session.clone(), self.held.clone()));
        if done.is_err() {
            *status = Status::RolledBack;
            self.end();
        }
        done
    }

    /// Rolls back the transaction if it is open. Afterwards, another transaction can use the lock.
    fn end(&self) {
        if let Held::Derived(state) = &self.held {
            let state = state.clone();
            let rolled_back = async move { ending::roll_back(&mut *state.lock().await).await };
            return self.session.server.wait(rolled_back);
        }
        match self.held.state().try_lock() {
            Ok(mut state) => state.end_rows(),
            // The state is locked while documents are read with the connection of the lock. So a task
            // ends the transaction as soon as they are read.
            Err(_) => {
                let held = self.held.clone();
                self.session.server.spawn(async move {
                    held.state().lock().await.end_rows();
                });
            }
        }
    }

    /// # Errors
    ///
    /// `nested` after the commit, `io` after a rollback.
    fn open(&self) -> Result<MutexGuard<'_, Status>, Error> {
        let status = self.status();
        match *status {
            Status::Open { .. } => Ok(status),
            Status::Committed => {
                Err(Error::new(ErrorCode::Nested, "the transaction is committed already"))
            }
            Status::RolledBack => Err(rolled_back()),
        }
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl database::Transaction for Transaction {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    /// Without rows, `columns` is empty.
    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        let prepared = Prepared::new(statement);
        self.with(|session, held| async move {
            let prepared = prepared?;
            let mut state = held.state().lock().await;
            let rows = prepared.rows(state.client()?, max_rows);
            let rows = session.bounded(1, rows).await;
            rows.map_err(|failed| held.fail(&mut state, failed))
        })
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        let prepared: Result<Vec<_>, _> = statements.iter().map(Prepared::new).collect();
        self.with(|session, held| async move {
            let prepared = prepared?;
            let mut state = held.state().lock().await;
            let effects = statement::execute(state.client()?, &prepared);
            let effects = session.bounded(prepared.len(), effects).await;
            effects.map_err(|failed| held.fail(&mut state, failed))
        })
    }

    fn commit(&self) -> Result<(), Error> {
        let mut status = self.open()?;
        let held = self.held.clone();
        let committed = match held {
            // A transaction that reads has nothing to commit: `end` rolls it back.
            Held::Read(_) => Ok(()),
            Held::Derived(state) => {
                let session = self.session.clone();
                self.session
                    .server
                    .wait(async move { ending::commit(&session, &mut *state.lock().await).await })
            }
            Held::Write(lock) => self
                .session
                .server
                .wait(async move { lock.conclude(&mut *lock.state.lock().await).await }),
        };
        *status = if committed.is_ok() { Status::Committed } else { Status::RolledBack };
        self.end();
        committed
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let mut status = self.status();
        if let Status::Open { .. } = *status {
            *status = Status::RolledBack;
            self.end();
        }
    }
}
