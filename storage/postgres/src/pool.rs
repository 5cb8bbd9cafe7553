//! The connections to a database, and the queues in front of them.

use std::sync::{Arc, Mutex, PoisonError};

use agent_memory_storage::{Error, ErrorCode, UNCHANGED};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::{Client, Config, NoTls};

use super::error::{no_address, silent, storage_error};
use super::tls::Tls;
use super::url::{CANCEL_TIME, DatabaseUrl};

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

    /// Waits for the permit to hold a connection while the call waits for something else. A caller gets
    /// the permit before the connection.
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
    pub async fn lend(&self, until: Instant) -> Result<(Client, OwnedSemaphorePermit), Error> {
        let permit = free(&self.connections, until).await?;
        let client = match self.take_idle() {
            Some(client) => client,
            None => self.connect().await?,
        };
        Ok((client, permit))
    }

    /// Runs work on the runtime of the connections.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(work);
    }

    fn take_idle(&self) -> Option<Client> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).find(|client| !client.is_closed())
    }

    /// Closes the idle connections, after one of them was found to be dead.
    pub fn close_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Keeps a connection for later work, unless it is closed.
    pub fn keep(&self, client: Client) {
        if !client.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }

    /// Asks the server to end the statement of a client, then closes the connection.
    pub async fn give_up(&self, client: Client) {
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

    /// Connects to the first address that takes the connection. Each address has its own timeout, so a
    /// silent address does not prevent an attempt at the next.
    async fn connect(&self) -> Result<Client, Error> {
        let time = self.url.address_time();
        let mut failed = None;
        // Prefers the error of a database that answered to the error of one that did not.
        let mut fail = |error: Error| {
            if failed.is_none() || error.code != ErrorCode::Busy {
                failed = Some(error);
            }
        };
        for host in self.url.hosts() {
            let addresses = match timeout(time, self.url.addresses(host)).await {
                Ok(Ok(addresses)) => addresses,
                Ok(Err(error)) => {
                    fail(no_address(&error));
                    continue;
                }
                Err(_) => {
                    fail(silent());
                    continue;
                }
            };
            for address in addresses {
                match timeout(time, self.connect_to(&address)).await {
                    Ok(Ok(client)) => return Ok(client),
                    Ok(Err(error)) => fail(storage_error(&error)),
                    Err(_) => fail(silent()),
                }
            }
        }
        Err(failed.unwrap_or_else(silent))
    }

    async fn connect_to(&self, config: &Config) -> Result<Client, tokio_postgres::Error> {
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

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({})", self.url)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::super::server::{Options, Server};
    use super::*;

    /// A server that refuses each connection with a state and a message. Returns its port.
    fn refusing(state: &'static str, message: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // The beginning of the startup message.
                stream.read_exact(&mut [0; 8]).unwrap();
                let fields = format!("SFATAL\0VFATAL\0C{state}\0M{message}\0\0");
                let length = u32::try_from(fields.len()).unwrap() + 4;
                let answer = [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat();
                stream.write_all(&answer).unwrap();
            }
        });
        port
    }

    /// The error of a read in the database at these hosts.
    fn error_at(hosts: &str) -> Error {
        let url = format!("postgresql://ada:s3cret@{hosts}/memory?connect_timeout=1");
        let statement_time = Duration::from_secs(60);
        let options =
            Options { url: url.parse().unwrap(), connections: 2, tenant: 0, statement_time };
        let error = Server::new(options).unwrap().places("things").unwrap_err();
        assert!(!error.message.contains("ada") && !error.message.contains("s3cret"), "{error}");
        error
    }

    #[test]
    fn a_host_that_is_silent_does_not_prevent_the_next() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let next = refusing("28P01", "password authentication failed for user \"ada\"");
        let error = error_at(&format!("127.0.0.1:{port},127.0.0.1:{next}"));
        assert_eq!(error.code, ErrorCode::Permission, "{error}");
    }

    #[test]
    fn a_pooler_that_refuses_the_login_is_not_a_lost_connection() {
        for (message, code) in [
            ("password authentication failed", ErrorCode::Permission),
            ("SASL authentication failed", ErrorCode::Permission),
            ("no such database: ada", ErrorCode::Permission),
            (
                "server login has been failing, cached error: password authentication failed for \
                 user \"ada\" (server_login_retry)",
                ErrorCode::Permission,
            ),
            ("server login has been failing, try again later", ErrorCode::Busy),
        ] {
            let error = error_at(&format!("127.0.0.1:{}", refusing("08P01", message)));
            assert_eq!(error.code, code, "{error}");
            let refuses = error.message.contains("refuses the login: check the user, the password");
            assert_eq!(refuses, code == ErrorCode::Permission, "{error}");
            assert_eq!(error.message.ends_with(UNCHANGED), code == ErrorCode::Busy, "{error}");
        }
    }

    #[test]
    fn the_error_of_a_refused_connection_has_no_value_of_the_url() {
        let message = "invalid value for parameter \"work_mem\": \"s3cret\"";
        let error = error_at(&format!("127.0.0.1:{}", refusing("22023", message)));
        assert!(error.message.contains("correct the parameters of its URL"), "{error}");
    }
}
