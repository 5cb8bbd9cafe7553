//! Transactions on the tables of a toolset, and their ends: by commit, rollback or drop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_memory_storage::database::{self, Dialect, Effect, Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};
use tokio::sync::Mutex as AsyncMutex;

use super::ending;
use super::lock::{Lock, State};
use super::session::{Session, Stopped};
use super::statement::{self, Failed, Prepared};

/// A transaction. It is rolled back if it is dropped before its commit, or if a statement fails.
///
/// Share it (`Arc`) with the thread that runs a statement or a commit. The transaction then lasts until
/// that thread is done, even if the call has ended.
#[derive(Debug)]
pub struct Transaction {
    session: Arc<Session>,
    held: Held,
    state: Mutex<Status>,
}

/// The connection of a transaction.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    /// A connection of its own, for a transaction that reads.
    Read(Arc<AsyncMutex<State>>),
    /// A connection of its own, for a transaction that changes a derived database.
    Derived(Arc<AsyncMutex<State>>),
    /// The connection of the lock, for a transaction that changes a kept database.
    Write(Arc<Lock>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Open,
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

    fn writes(&self) -> bool {
        !matches!(self, Held::Read(_))
    }

    /// Handles an answer of the database. After an error, rolls back, or closes the connection if it is
    /// lost or gave no answer.
    fn settle<T>(
        &self,
        state: &mut State,
        answer: Result<Result<T, Failed>, Stopped>,
    ) -> Result<T, Error> {
        let answer = match answer {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(failed)) if failed.is_lost() => {
                state.close();
                failed.error(self.writes())
            }
            Ok(Err(failed)) => {
                let error = failed.error(self.writes());
                if matches!(self, Held::Derived(_)) {
                    // `Transaction::end` rolls back and waits for that.
                    return Err(error);
                }
                state.roll_back();
                error
            }
            Err(stopped) => {
                state.give_up();
                stopped.error()
            }
        };
        state.transacts = false;
        Err(answer)
    }
}

impl Transaction {
    pub(crate) fn new(session: &Arc<Session>, held: Held) -> Self {
        Transaction { session: session.clone(), held, state: Mutex::new(Status::Open) }
    }

    /// Runs work if the transaction is open. An error of the work ends the transaction.
    fn with<T, Work>(&self, work: impl FnOnce(Arc<Session>, Held) -> Work) -> Result<T, Error>
    where
        T: Send + 'static,
        Work: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut status = self.status();
        if *status != Status::Open {
            return Err(ended(*status));
        }
        let done = self.session.server.wait(work(self.session.clone(), self.held.clone()));
        if done.is_err() {
            *status = Status::RolledBack;
            self.end();
        }
        done
    }

    /// Rolls back the transaction if it is open. Afterwards the session and the lock can have another
    /// one.
    fn end(&self) {
        self.session.release();
        if let Held::Derived(state) = &self.held {
            let state = state.clone();
            let rolled_back = async move { ending::roll_back(&mut *state.lock().await).await };
            return self.session.server.wait(rolled_back);
        }
        match self.held.state().try_lock() {
            Ok(mut state) => roll_back(&mut state),
            // The state is locked while documents are read with the connection of the lock.
            Err(_) => {
                let held = self.held.clone();
                self.session.server.spawn(async move {
                    roll_back(&mut *held.state().lock().await);
                });
            }
        }
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rolls back the transaction on rows, unless it has ended.
fn roll_back(state: &mut State) {
    if std::mem::take(&mut state.transacts) {
        state.roll_back();
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
            let connection = state.connection.as_ref().ok_or_else(rolled_back)?;
            let rows = prepared.rows(connection.client(), max_rows);
            let rows = session.bounded(session.patience(1), rows).await;
            held.settle(&mut state, rows)
        })
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        let prepared: Result<Vec<_>, _> = statements.iter().map(Prepared::new).collect();
        self.with(|session, held| async move {
            let prepared = prepared?;
            let mut state = held.state().lock().await;
            let connection = state.connection.as_ref().ok_or_else(rolled_back)?;
            let patience = session.patience(prepared.len());
            let effects = statement::execute(connection.client(), &prepared);
            let effects = session.bounded(patience, effects).await;
            held.settle(&mut state, effects)
        })
    }

    fn commit(&self) -> Result<(), Error> {
        let mut status = self.status();
        if *status != Status::Open {
            return Err(ended(*status));
        }
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
            Held::Write(lock) => self.session.server.wait(async move {
                let mut state = lock.state.lock().await;
                let committed = match state.connection {
                    Some(_) => lock.conclude(&mut state).await,
                    None => Err(rolled_back()),
                };
                state.transacts = false;
                committed
            }),
        };
        *status = if committed.is_ok() { Status::Committed } else { Status::RolledBack };
        self.end();
        committed
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if *self.status() == Status::Open {
            self.end();
        }
    }
}

fn ended(status: Status) -> Error {
    match status {
        Status::Committed => Error::new(ErrorCode::Nested, "the transaction is committed already"),
        _ => rolled_back(),
    }
}

/// The error for a transaction that an earlier error has rolled back.
pub(crate) fn rolled_back() -> Error {
    let message = "the transaction was rolled back after an error: begin again";
    Error::new(ErrorCode::Io, message)
}
