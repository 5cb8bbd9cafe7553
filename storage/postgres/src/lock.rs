//! The lock of a place or of one of its scopes: a locked row, until the transaction ends.

use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode, UNCHANGED};
use tokio::sync::{Mutex, OwnedSemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::Row;

use super::error::{is_lost, lost, silent, storage_error};
use super::pool::Connection;
use super::query::{self, Parameter, literal};
use super::server::Server;

/// How long a transaction may wait for its client, in seconds: for one that hangs.
pub(crate) const IDLE_SECONDS: u32 = 60;

/// How long an answer of the database may be under way.
pub(crate) const NETWORK_TIME: Duration = Duration::from_secs(5);

/// The part of a place that a writer locks: the whole place, or one scope of it.
pub type Scope = Option<String>;

/// The right to change a place or one of its scopes.
///
/// A commit releases the lock in the database, and the next commit takes it anew. Another server may
/// have changed the scope in between, so each commit expects the versions on which it depends.
#[derive(Debug)]
pub struct Lock {
    pub(crate) server: Server,
    pub(crate) place: String,
    scope: Scope,
    /// The time that a lock may take.
    wait: Duration,
    pub(crate) state: Mutex<State>,
    _writer: OwnedSemaphorePermit,
}

/// The connection of a lock, or of a transaction that reads.
#[derive(Default)]
pub(crate) struct State {
    pub connection: Option<Connection>,
    /// Whether a transaction on rows uses the lock now.
    pub transacts: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

impl Lock {
    /// Waits for a connection and for the lock, each at most `wait`.
    pub(crate) async fn acquire(
        server: Server,
        place: String,
        scope: Scope,
        wait: Duration,
    ) -> Result<Self, Error> {
        let writers = server.pool().writers.clone().acquire_owned();
        let writer = within(Instant::now() + wait, writers).await?;
        let writer = writer.expect("it is never closed");
        let state = Mutex::default();
        let lock = Self { server, place, scope, wait, state, _writer: writer };
        lock.ensure(&mut *lock.state.lock().await).await?;
        Ok(lock)
    }

    /// Takes the lock if a commit has released it. A connection that is found to be dead is replaced
    /// once: nothing was done on it.
    pub(crate) async fn ensure<'a>(
        &self,
        state: &'a mut State,
    ) -> Result<&'a mut Connection, Error> {
        let deadline = Instant::now() + self.wait;
        let mut is_repeated = false;
        loop {
            let connection = match state.connection.take() {
                Some(connection) => connection,
                None => within(deadline, self.server.pool().connection()).await??,
            };
            let connection = state.connection.insert(connection);
            if connection.in_transaction {
                break;
            }
            connection.in_transaction = true;
            let left = deadline.saturating_duration_since(Instant::now());
            let statements = self.statements(left);
            let begun = connection.client().batch_execute(&statements);
            let Ok(begun) = timeout(left + self.patience(), begun).await else {
                state.give_up();
                return Err(silent());
            };
            let Err(error) = begun else { break };
            if !is_lost(&error) {
                // It is rolled back.
                state.connection = None;
                return Err(storage_error(&error));
            }
            state.close();
            self.server.pool().close_idle();
            if std::mem::replace(&mut is_repeated, true) {
                return Err(storage_error(&error));
            }
        }
        Ok(state.connection.as_mut().expect("it was begun"))
    }

    /// How long a statement may take until it is given up. The database gives it up before.
    pub(crate) fn patience(&self) -> Duration {
        self.server.statement_time() + NETWORK_TIME
    }

    /// The statements that begin a transaction and lock its rows, the place before the scope. They are
    /// one round trip.
    fn statements(&self, wait: Duration) -> String {
        let tenant = self.server.tenant();
        let place = literal(&self.place);
        let lock = |scope: &str, strength: &str| {
            let scope = literal(scope);
            format!(
                "INSERT INTO agent_memory.scopes (tenant, place, scope) \
                 VALUES ({tenant}, {place}, {scope}) ON CONFLICT DO NOTHING; \
                 SELECT 1 FROM agent_memory.scopes WHERE tenant = {tenant} AND place = {place} \
                 AND scope = {scope} FOR {strength};"
            )
        };
        let locks = match &self.scope {
            None => lock("", "UPDATE"),
            Some(scope) => lock("", "SHARE") + &lock(&format!("/{scope}"), "UPDATE"),
        };
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; {}; SET LOCAL lock_timeout = {}; \
             SET LOCAL statement_timeout = {}; \
             SET LOCAL idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'; {locks} {}",
            self.server.set_tenant(),
            wait.as_millis().max(1),
            (wait + self.server.statement_time()).as_millis(),
            self.server.settings(),
        )
    }

    /// The rows of a statement that changes nothing, on the connection of the lock.
    pub(crate) async fn rows(
        &self,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Error> {
        let mut state = self.state.lock().await;
        let Some(connection) = &mut state.connection else {
            return self.server.rows(sql, parameters).await;
        };
        let rows = async {
            if connection.in_transaction {
                return query::rows(connection.client(), sql, parameters).await;
            }
            self.server.alone(connection, sql, parameters).await
        };
        let Ok(rows) = timeout(self.patience(), rows).await else {
            state.give_up();
            return Err(silent());
        };
        match rows {
            Ok(rows) => Ok(rows),
            Err(error) if is_lost(&error) => {
                state.close();
                Err(Error { message: lost(), ..storage_error(&error) })
            }
            Err(error) => {
                // The transaction has ended with it.
                state.connection = None;
                Err(storage_error(&error))
            }
        }
    }
}

impl State {
    /// Drops the connection and rolls back its transaction.
    pub fn roll_back(&mut self) {
        self.connection = None;
    }

    /// Closes the connection of a database that does not answer.
    pub fn give_up(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.give_up();
        }
    }

    /// Closes the connection.
    pub fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close();
        }
    }
}

/// Waits for a future until a deadline.
async fn within<T>(deadline: Instant, wait: impl Future<Output = T>) -> Result<T, Error> {
    timeout_at(deadline, wait).await.map_err(|_| {
        let message =
            format!("all connections to the database are in use: allow more of them{UNCHANGED}");
        Error::new(ErrorCode::Busy, message)
    })
}
