//! A database of a toolset: its tables on the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_memory_storage::database::{Rows, Statement};
use agent_memory_storage::{Error, ErrorCode};
use futures_util::future::join3;
use tokio::sync::{Mutex, watch};

use super::error::{is_lost, lost, silent, storage_error};
use super::lock::{IDLE_SECONDS, Lock, NETWORK_TIME, State};
use super::server::Server;
use super::statement::{Failed, Prepared};
use super::transaction::{Held, Transaction};

/// The tables of a toolset, for one call at a time. A clone is the same.
#[derive(Clone, Debug)]
pub struct Database(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    server: Server,
    /// Whether it has a transaction.
    transacts: AtomicBool,
    /// Whether nobody waits for its statements any more.
    given_up: watch::Sender<bool>,
}

/// Why work on a connection ended without an answer of the database.
pub(crate) enum Stopped {
    Silent,
    GivenUp,
}

impl Server {
    /// The tables of a toolset, for a call. It asks the server for nothing.
    pub fn database(&self) -> Database {
        let given_up = watch::Sender::new(false);
        Database(Arc::new(Shared { server: self.clone(), transacts: false.into(), given_up }))
    }
}

impl Database {
    /// Runs one statement that changes nothing, outside a transaction, and returns at most `max_rows` of
    /// its rows. The columns have no names if there is no row. It is repeated once if the connection was
    /// dead.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; those of [`query`](super::Transaction) in a transaction that reads.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.check_free()?;
        let prepared = Prepared::new(statement)?;
        let database = self.clone();
        self.server().wait(async move { database.queried(&prepared, max_rows).await })
    }

    async fn queried(&self, prepared: &Prepared, max_rows: u32) -> Result<Rows, Error> {
        let server = self.server();
        let begin = self.begin_read_only("READ COMMITTED");
        let mut is_repeated = false;
        loop {
            let mut connection = server.connection().await?;
            connection.in_transaction = true;
            let client = connection.client();
            let sent = join3(
                client.batch_execute(&begin),
                prepared.rows(client, max_rows),
                client.batch_execute("COMMIT"),
            );
            let (begun, rows, ended) = match self.bounded(self.patience(1), sent).await {
                Ok(answers) => answers,
                Err(stopped) => {
                    connection.give_up();
                    return Err(stopped.error());
                }
            };
            // After an error, COMMIT rolls back.
            connection.in_transaction = ended.is_err();
            let rows = begun.map_err(Failed::from).and(rows);
            match rows.and_then(|rows| ended.map(|()| rows).map_err(Failed::from)) {
                Ok(rows) => return Ok(rows),
                Err(Failed::Database(error)) if is_lost(&error) && !is_repeated => {
                    connection.close();
                    server.pool().close_idle();
                    is_repeated = true;
                }
                Err(failed) => return Err(failed.error(false)),
            }
        }
    }

    /// Begins a transaction that reads one snapshot.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `busy` if the database cannot be reached now; `permission`, `io`.
    pub async fn begin_read(&self) -> Result<Transaction, Error> {
        self.claim()?;
        let database = self.clone();
        let begin = self.begin_read_only("REPEATABLE READ");
        let begun = self.server().run(async move {
            let mut is_repeated = false;
            loop {
                let mut connection = database.server().connection().await?;
                connection.in_transaction = true;
                let sent = connection.client().batch_execute(&begin);
                match database.bounded(database.patience(1), sent).await {
                    Ok(Ok(())) => return Ok(connection),
                    Ok(Err(error)) if is_lost(&error) && !is_repeated => {
                        connection.close();
                        database.server().pool().close_idle();
                        is_repeated = true;
                    }
                    Ok(Err(error)) => return Err(storage_error(&error)),
                    Err(stopped) => {
                        connection.give_up();
                        return Err(stopped.error());
                    }
                }
            }
        });
        let claimed = Claimed(self);
        let state = State { connection: Some(begun.await?), transacts: true };
        claimed.keep();
        Ok(Transaction::new(self, Held::Read(Arc::new(Mutex::new(state)))))
    }

    /// Begins a transaction that writes, under a lock. Its changes are in the transaction that holds the
    /// lock, which is taken anew if a commit has released it.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction, of this database or of the lock; those of
    /// [`Tree::lock`](super::Tree::lock).
    pub async fn begin_write(&self, lock: Arc<Lock>) -> Result<Transaction, Error> {
        self.claim()?;
        let claimed = Claimed(self);
        let held = lock.clone();
        let begun = self.server().run(async move {
            let mut state = lock.state.lock().await;
            if state.transacts {
                return Err(nested());
            }
            lock.ensure(&mut state).await?;
            state.transacts = true;
            Ok(())
        });
        begun.await?;
        claimed.keep();
        Ok(Transaction::new(self, Held::Write(held)))
    }

    /// Ends the current statement, if any, and every later one. A commit is not ended.
    pub fn give_up(&self) {
        self.0.given_up.send_replace(true);
    }

    /// Fails where no transaction can begin.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction.
    pub fn check_free(&self) -> Result<(), Error> {
        if self.0.transacts.load(Ordering::SeqCst) { Err(nested()) } else { Ok(()) }
    }

    fn claim(&self) -> Result<(), Error> {
        if self.0.transacts.swap(true, Ordering::SeqCst) { Err(nested()) } else { Ok(()) }
    }

    /// Notes that it has no transaction any more.
    pub(crate) fn release(&self) {
        self.0.transacts.store(false, Ordering::SeqCst);
    }

    pub(crate) fn server(&self) -> &Server {
        &self.0.server
    }

    /// How long some statements may take until they are given up. The database gives them up before.
    pub(crate) fn patience(&self, statements: usize) -> Duration {
        let statements = u32::try_from(statements.max(1)).unwrap_or(u32::MAX);
        self.server().statement_time().saturating_mul(statements).saturating_add(NETWORK_TIME)
    }

    /// Waits for an answer of the database, for a time, and until it is given up.
    pub(crate) async fn bounded<T>(
        &self,
        patience: Duration,
        answer: impl Future<Output = T>,
    ) -> Result<T, Stopped> {
        let mut given_up = self.0.given_up.subscribe();
        tokio::select! {
            answer = tokio::time::timeout(patience, answer) => answer.map_err(|_| Stopped::Silent),
            _ = given_up.wait_for(|given_up| *given_up) => Err(Stopped::GivenUp),
        }
    }

    fn begin_read_only(&self, isolation: &str) -> String {
        let server = self.server();
        format!(
            "BEGIN ISOLATION LEVEL {isolation} READ ONLY; {}; \
             SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'; {}",
            server.set_tenant(),
            server.settings(),
        )
    }
}

/// A transaction that is about to begin. It ends with this, unless it is kept.
struct Claimed<'a>(&'a Database);

impl Claimed<'_> {
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.0.release();
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
    /// Whether the connection is of no use any more.
    pub fn is_lost(&self) -> bool {
        matches!(self, Failed::Database(error) if is_lost(error))
    }

    /// Its error, in a transaction that writes or that does not.
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

fn nested() -> Error {
    let message = "the call has a transaction already: a call takes one at a time";
    Error::new(ErrorCode::Nested, message)
}
