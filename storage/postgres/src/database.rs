//! A database of a toolset: its tables on the server.

use std::sync::Arc;

use agent_memory_storage::Error;
use agent_memory_storage::database::{Rows, Statement};
use futures_util::future::join3;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::error::{is_lost, storage_error};
use super::lock::{Lock, State};
use super::server::Server;
use super::session::{Session, nested};
use super::statement::{Failed, Prepared};
use super::transaction::{Held, Transaction};

/// The tables of a toolset, for one call at a time. Clones share their transaction.
#[derive(Clone, Debug)]
pub struct Database(pub(crate) Arc<Session>);

impl Server {
    /// The tables of a toolset, for a call. Sends nothing to the server.
    pub fn database(&self) -> Database {
        Database(Arc::new(Session::new(self.clone(), None)))
    }
}

impl Database {
    /// Runs one statement that changes nothing, outside a transaction, and returns at most `max_rows`
    /// of its rows. Without rows, `columns` is empty. If the connection is found to be dead, the
    /// statement is sent once more.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; the errors of a query in a [`Transaction`] that reads.
    pub fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.0.check_free()?;
        let prepared = Prepared::new(statement)?;
        let database = self.clone();
        self.0.server.wait(async move { database.queried(&prepared, max_rows).await })
    }

    async fn queried(&self, prepared: &Prepared, max_rows: u32) -> Result<Rows, Error> {
        let server = &self.0.server;
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
            let (begun, rows, ended) = match self.0.bounded(self.0.patience(1), sent).await {
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
        // A transaction of a derived database never waits for another connection, so it needs no right
        // to wait.
        self.begin_snapshot(self.0.derived.is_none()).await
    }

    /// Begins a transaction that reads one snapshot, in a call that has a lock. The lock already has
    /// the right to hold a connection while it waits.
    ///
    /// # Errors
    ///
    /// Those of [`begin_read`](Database::begin_read).
    pub async fn begin_read_under(&self, _: &Lock) -> Result<Transaction, Error> {
        self.begin_snapshot(false).await
    }

    async fn begin_snapshot(&self, needs_right: bool) -> Result<Transaction, Error> {
        let begin = self.begin_read_only("REPEATABLE READ");
        let until = Instant::now() + self.0.server.statement_time();
        self.begin_alone(begin, until, needs_right, Held::Read).await
    }

    /// Begins a transaction on a connection of its own. `until` is the deadline for getting a free
    /// connection. The transaction needs the right to hold a connection while it waits if its call may
    /// ask for another connection meanwhile.
    pub(crate) async fn begin_alone(
        &self,
        begin: String,
        until: Instant,
        needs_right: bool,
        held: fn(Arc<Mutex<State>>) -> Held,
    ) -> Result<Transaction, Error> {
        self.0.claim()?;
        let claimed = Claimed(&self.0);
        let session = self.0.clone();
        let begun = self.0.server.run(async move {
            let pool = session.server.pool();
            let holder = if needs_right { Some(pool.holder(until).await?) } else { None };
            let mut is_repeated = false;
            loop {
                let mut connection = pool.connection(until).await?;
                connection.in_transaction = true;
                let sent = connection.client().batch_execute(&begin);
                match session.bounded(session.patience(1), sent).await {
                    Ok(Ok(())) => return Ok((connection, holder)),
                    Ok(Err(error)) if is_lost(&error) && !is_repeated => {
                        connection.close();
                        pool.close_idle();
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
        let (connection, holder) = begun.await?;
        let state = State { connection: Some(connection), transacts: true, _holder: holder };
        claimed.keep();
        Ok(Transaction::new(&self.0, held(Arc::new(Mutex::new(state)))))
    }

    /// Begins a transaction that writes, under a lock. It is the database transaction that holds the
    /// lock. If a commit has released the lock, it is taken anew.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction, of this database or of the lock; those of
    /// [`Tree::lock`](super::Tree::lock).
    pub async fn begin_write(&self, lock: Arc<Lock>) -> Result<Transaction, Error> {
        self.0.claim()?;
        let claimed = Claimed(&self.0);
        let held = lock.clone();
        let begun = self.0.server.run(async move {
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
        Ok(Transaction::new(&self.0, Held::Write(held)))
    }

    /// Ends the current statement, if any, and every later one with `cancelled`. A commit is not ended.
    pub fn give_up(&self) {
        self.0.give_up();
    }

    /// Checks that no transaction is open.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction.
    pub fn check_free(&self) -> Result<(), Error> {
        self.0.check_free()
    }

    fn begin_read_only(&self, isolation: &str) -> String {
        format!("BEGIN ISOLATION LEVEL {isolation} READ ONLY; {}", self.0.settings())
    }
}

/// The claim of a session on its transaction, until the transaction has begun. Dropping it releases the
/// session; [`keep`](Self::keep) does not.
struct Claimed<'a>(&'a Session);

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
