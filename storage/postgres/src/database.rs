//! A database of a toolset: its tables on the server.

use std::sync::Arc;

use agent_memory_storage::Error;
use agent_memory_storage::database::{Rows, Statement};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_postgres::Client;

use super::connection::Connection;
use super::lock::Lock;
use super::server::Server;
use super::session::{Session, error_of_reading, nested};
use super::state::State;
use super::statement::Prepared;
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
        let begin = self.begin_read_only("READ COMMITTED");
        let begin = begin.as_str();
        let query = |mut connection: Connection| async move {
            let query = async |client: &Client| prepared.rows(client, max_rows).await;
            let rows = connection.transact(begin, query);
            let rows = self.0.bounded(1, rows).await;
            (connection, rows)
        };
        let server = &self.0.server;
        let queried = server.pool().with_connection(None, server.until(), query).await;
        queried.map(|(_, rows)| rows).map_err(error_of_reading)
    }

    /// Begins a transaction that reads one snapshot.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction; `busy` if the database cannot be reached now; `permission`, `io`.
    pub async fn begin_read(&self) -> Result<Transaction, Error> {
        // A transaction of a derived database never waits for another connection, so it needs no permit
        // to hold its connection while it waits.
        self.begin_snapshot(self.0.derived.is_none()).await
    }

    /// Begins a transaction that reads one snapshot, in a call that has a lock. The lock already has
    /// the permit to hold a connection while the call waits.
    ///
    /// # Errors
    ///
    /// Those of [`begin_read`](Database::begin_read).
    pub async fn begin_read_under(&self, _: &Lock) -> Result<Transaction, Error> {
        self.begin_snapshot(false).await
    }

    async fn begin_snapshot(&self, needs_permit: bool) -> Result<Transaction, Error> {
        let begin = self.begin_read_only("REPEATABLE READ");
        let until = Instant::now() + self.0.server.statement_time();
        self.begin_alone(begin, until, needs_permit, Held::Read).await
    }

    /// Begins a transaction on its own connection. `until` is the deadline for getting a free
    /// connection. If the call may ask for another connection meanwhile, the transaction needs the
    /// permit to hold its connection while the call waits.
    pub(crate) async fn begin_alone(
        &self,
        begin: String,
        until: Instant,
        needs_permit: bool,
        held: fn(Arc<Mutex<State>>) -> Held,
    ) -> Result<Transaction, Error> {
        let claim = self.0.claim()?;
        let session = self.0.clone();
        let begun = self.0.server.run(async move {
            let pool = session.server.pool();
            let holder = if needs_permit { Some(pool.holder(until).await?) } else { None };
            let session = &session;
            let begin = begin.as_str();
            let begin = |mut connection: Connection| async move {
                let begun = connection.begin(begin);
                let begun = session.bounded(1, begun).await;
                (connection, begun)
            };
            let (connection, ()) = pool.with_connection(None, until, begin).await?;
            Ok((connection, holder))
        });
        let (connection, holder) = begun.await?;
        let held = held(Arc::new(Mutex::new(State::Rows(connection))));
        Ok(Transaction::new(&self.0, claim, held, holder))
    }

    /// Begins a transaction that writes, under a lock. It uses the database transaction that holds the
    /// lock. If a commit has released the lock, it is taken anew.
    ///
    /// # Errors
    ///
    /// `nested` during a transaction, of this database or of the lock; those of
    /// [`Tree::lock`](super::Tree::lock).
    pub async fn begin_write(&self, lock: Arc<Lock>) -> Result<Transaction, Error> {
        let claim = self.0.claim()?;
        let held = lock.clone();
        let begun = self.0.server.run(async move {
            let mut state = lock.state.lock().await;
            if state.has_rows() {
                return Err(nested());
            }
            lock.ensure(&mut state).await?;
            state.use_for_rows();
            Ok(())
        });
        begun.await?;
        Ok(Transaction::new(&self.0, claim, Held::Write(held), None))
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
