//! The connections to a database, and the queues in front of them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode, UNCHANGED};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::{Client, NoTls};

use super::error::{is_lost, silent, storage_error};
use super::statement_error::StatementError;
use super::tls::Tls;
use super::url::{CANCEL_TIME, DatabaseUrl};

/// How long a transaction may take to be rolled back.
pub(crate) const ROLLBACK_TIME: Duration = Duration::from_secs(1);

/// A bounded number of connections.
///
/// Some calls hold a connection while they wait: a writer waits for a lock, and a transaction that
/// reads rows may wait for another connection to read a document. Such a call needs a permit of
/// `holders`. There is one permit fewer than connections, so one connection is always left for work
/// that does not wait. Transactions of derived databases are such work.
pub(crate) struct Pool {
    url: DatabaseUrl,
    tls: Option<Tls>,
    handle: Handle,
    idle: Mutex<Vec<Client>>,
    connections: Arc<Semaphore>,
    holders: Arc<Semaphore>,
}

impl Pool {
    pub fn new(url: DatabaseUrl, connections: usize, handle: Handle) -> Result<Self, Error> {
        let tls = url.uses_tls().then(Tls::new).transpose().map_err(|error| {
            let message = format!("the roots of this machine cannot be read for TLS: {error}");
            Error::new(ErrorCode::Io, message)
        })?;
        Ok(Self {
            url,
            tls,
            handle,
            idle: Mutex::default(),
            connections: Arc::new(Semaphore::new(connections)),
            holders: Arc::new(Semaphore::new(connections - 1)),
        })
    }

    /// Waits for the right to hold a connection while waiting for something else. Ask for it before the
    /// connection.
    ///
    /// # Errors
    ///
    /// `busy` at the deadline.
    pub async fn holder(&self, until: Instant) -> Result<OwnedSemaphorePermit, Error> {
        free(&self.holders, until).await
    }

    /// Waits until one of the connections is free. Connects to the database if no idle connection is
    /// open.
    ///
    /// # Errors
    ///
    /// `busy` if none is free at the deadline, or the database cannot be reached now; `permission`, `io`.
    pub async fn connection(self: &Arc<Self>, until: Instant) -> Result<Connection, Error> {
        let permit = free(&self.connections, until).await?;
        let client = match self.take_idle() {
            Some(client) => client,
            None => {
                let connected = timeout(self.url.connect_time(), self.connect()).await;
                connected.map_err(|_| silent())?.map_err(|error| storage_error(&error))?
            }
        };
        Ok(Connection { lent: Some((client, permit)), pool: self.clone(), in_transaction: false })
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
            Err(failed) => Err(failed.end(connection)),
        }
    }

    fn take_idle(&self) -> Option<Client> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).find(|client| !client.is_closed())
    }

    /// Closes the idle connections, after one of them was found to be dead.
    pub fn close_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn keep(&self, client: Client) {
        if !client.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }

    /// Asks the server to end the statement of a client, then closes the connection.
    async fn give_up(&self, client: Client) {
        let cancel = client.cancel_token();
        let cancelled = async {
            match &self.tls {
                None => cancel.cancel_query(NoTls).await,
                Some(tls) => cancel.cancel_query(tls.clone()).await,
            }
        };
        // Ignores an error: the server does not answer, or has already ended the statement.
        let _ = timeout(CANCEL_TIME, cancelled).await;
    }

    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let config = self.url.config();
        // The task of a connection ends when its client is dropped or the server closes it. The
        // statement that waits gets the error of a lost connection.
        match &self.tls {
            None => {
                let (client, connection) = config.connect(NoTls).await?;
                self.handle.spawn(async move { drop(connection.await) });
                Ok(client)
            }
            Some(tls) => {
                let (client, connection) = config.connect(tls.clone()).await?;
                self.handle.spawn(async move { drop(connection.await) });
                Ok(client)
            }
        }
    }
}

/// Waits for a permit of a semaphore.
async fn free(all: &Arc<Semaphore>, until: Instant) -> Result<OwnedSemaphorePermit, Error> {
    let permit = timeout_at(until, all.clone().acquire_owned()).await.map_err(|_| {
        let message =
            format!("all connections to the database are in use: allow more of them{UNCHANGED}");
        Error::new(ErrorCode::Busy, message)
    })?;
    Ok(permit.expect("it is never closed"))
}

/// A connection that only its owner uses. Dropping it rolls back an open transaction and returns the
/// connection to the pool.
pub(crate) struct Connection {
    lent: Option<(Client, OwnedSemaphorePermit)>,
    pool: Arc<Pool>,
    /// Whether a transaction may be open. If so, dropping the connection rolls it back.
    pub in_transaction: bool,
}

impl Connection {
    pub fn client(&self) -> &Client {
        &self.lent.as_ref().expect("lent until it is dropped").0
    }

    /// Closes the connection.
    pub fn close(mut self) {
        self.lent = None;
    }

    /// Closes the connection, and asks the server to end its statement. Until that is done, the
    /// connection counts as in use.
    pub fn give_up(mut self) {
        let Some((client, permit)) = self.lent.take() else { return };
        let pool = self.pool.clone();
        self.pool.handle.spawn(async move {
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
        self.pool.handle.spawn(async move {
            match timeout(ROLLBACK_TIME, client.batch_execute("ROLLBACK")).await {
                Ok(Ok(())) => pool.keep(client),
                Ok(Err(_)) => {}
                Err(_) => pool.give_up(client).await,
            }
            drop(permit);
        });
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({})", self.url)
    }
}
