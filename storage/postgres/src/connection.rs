//! A connection that a call uses, and the transaction on it.

use std::sync::Arc;
use std::time::Duration;

use agent_memory_storage::Error;
use futures_util::future::join;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};
use tokio_postgres::Client;

use super::error::is_lost;
use super::pool::Pool;
use super::statement_error::StatementError;

/// How long a transaction may take to be rolled back.
const ROLLBACK_TIME: Duration = Duration::from_secs(1);

/// A connection that only its owner uses. Dropping it rolls back an open transaction and returns the
/// connection to the pool.
pub(crate) struct Connection {
    lent: Option<(Client, OwnedSemaphorePermit)>,
    pool: Arc<Pool>,
    /// Whether a transaction may be open. If so, dropping the connection rolls it back.
    in_transaction: bool,
}

impl Pool {
    /// Waits until one of the connections is free. Connects to the database if no idle connection is
    /// open.
    ///
    /// # Errors
    ///
    /// Those of [`lend`](Pool::lend).
    pub async fn connection(self: &Arc<Self>, until: Instant) -> Result<Connection, Error> {
        let lent = Some(self.lend(until).await?);
        Ok(Connection { lent, pool: self.clone(), in_transaction: false })
    }

    /// Does work on `first`, or on a free connection, and returns the connection, too. If the
    /// connection is found to be dead, does the work once more on another one. So the work must change
    /// nothing that outlives its connection.
    ///
    /// # Errors
    ///
    /// Those of [`connection`](Self::connection) and of the work.
    pub async fn with_connection<T, Work>(
        self: &Arc<Self>,
        first: Option<Connection>,
        until: Instant,
        work: impl Fn(Connection) -> Work,
    ) -> Result<(Connection, T), Error>
    where
        Work: Future<Output = (Connection, Result<T, StatementError>)>,
    {
        let connection = match first {
            Some(first) => first,
            None => self.connection(until).await?,
        };
        let (mut connection, mut done) = work(connection).await;
        if matches!(&done, Err(StatementError::Database(error)) if is_lost(error)) {
            connection.close();
            // The other idle connections are probably dead, too.
            self.close_idle();
            (connection, done) = work(self.connection(until).await?).await;
        }
        match done {
            Ok(done) => Ok((connection, done)),
            Err(failed) => Err(connection.end(failed)),
        }
    }
}

impl Connection {
    /// The client, for statements of the open transaction.
    pub fn client(&self) -> &Client {
        &self.lent.as_ref().expect("lent until it is dropped").0
    }

    /// Begins a transaction. `begin` is BEGIN and what else opens the transaction.
    pub async fn begin(&mut self, begin: &str) -> Result<(), tokio_postgres::Error> {
        self.in_transaction = true;
        self.client().batch_execute(begin).await
    }

    /// Does the last work of the open transaction and commits it. The statements of the work and COMMIT
    /// are sent together, so they take one round trip. If the work fails, COMMIT rolls back.
    pub async fn commit_after<T, E: From<tokio_postgres::Error>>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> Result<T, E>,
    ) -> Result<T, E> {
        let client = self.client();
        let (done, ended) = join(work(client), client.batch_execute("COMMIT")).await;
        self.in_transaction = ended.is_err();
        let done = done?;
        ended?;
        Ok(done)
    }

    /// Commits the open transaction.
    pub async fn commit(&mut self) -> Result<(), tokio_postgres::Error> {
        self.commit_after(async |_| Ok(())).await
    }

    /// Does work in a transaction of its own. `begin`, the statements of the work and COMMIT are sent
    /// together, so they take one round trip.
    pub async fn transact<T, E: From<tokio_postgres::Error>>(
        &mut self,
        begin: &str,
        work: impl AsyncFnOnce(&Client) -> Result<T, E>,
    ) -> Result<T, E> {
        self.in_transaction = true;
        let begun_and_done = async |client: &Client| {
            let (begun, done) = join(client.batch_execute(begin), work(client)).await;
            begun?;
            done
        };
        self.commit_after(begun_and_done).await
    }

    /// Runs statements that begin and end their transactions themselves. If one fails, its transaction is
    /// rolled back.
    pub async fn run(&mut self, statements: &str) -> Result<(), tokio_postgres::Error> {
        self.begin(statements).await?;
        self.in_transaction = false;
        Ok(())
    }

    /// Rolls back the open transaction, and waits for that a short time. After an error, dropping the
    /// connection tries again.
    pub async fn roll_back(mut self) {
        let ended = timeout(ROLLBACK_TIME, self.client().batch_execute("ROLLBACK")).await;
        self.in_transaction = !matches!(ended, Ok(Ok(())));
    }

    /// Closes the connection.
    pub fn close(mut self) {
        self.lent = None;
    }

    /// Ends the use of a connection on which a statement failed: closes one that was lost or may still run
    /// a statement, and otherwise rolls back an open transaction. Returns the error for the caller.
    pub fn end(self, failed: StatementError) -> Error {
        match &failed {
            StatementError::Database(error) if is_lost(error) => self.close(),
            StatementError::Stopped(_) => self.give_up(),
            StatementError::Database(_) | StatementError::Refused(_) => drop(self),
        }
        failed.error()
    }

    /// Closes the connection, and asks the server to end its statement. Until that is done, the
    /// connection counts as in use.
    pub fn give_up(mut self) {
        let Some((client, permit)) = self.lent.take() else { return };
        let pool = self.pool.clone();
        self.pool.spawn(async move {
            pool.give_up(client).await;
            drop(permit);
        });
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some((client, permit)) = self.lent.take() else { return };
        if !self.in_transaction {
            self.pool.keep(client);
            return;
        }
        let pool = self.pool.clone();
        self.pool.spawn(async move {
            match timeout(ROLLBACK_TIME, client.batch_execute("ROLLBACK")).await {
                Ok(Ok(())) => pool.keep(client),
                Ok(Err(_)) => {}
                Err(_) => pool.give_up(client).await,
            }
            drop(permit);
        });
    }
}
