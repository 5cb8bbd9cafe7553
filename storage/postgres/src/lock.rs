//! The lock of a place or of one of its scopes: a row that a transaction has locked until it ends.

use std::sync::Arc;
use std::time::Duration;

use agent_memory_storage::{CallKey, Error};
use tokio::sync::{Mutex, OwnedSemaphorePermit};
use tokio::time::Instant;
use tokio_postgres::Row;

use super::connection::Connection;
use super::query::{self, Parameter, literal};
use super::server::Server;
use super::state::State;
use super::statement_error::answered;

/// The database ends a transaction whose client sends nothing for this time, in seconds, because the
/// client may hang.
pub(crate) const IDLE_SECONDS: u32 = 60;

/// The row that a writer of a whole place locks before it waits for the place. The names of the rows of
/// scopes begin with `/`.
const GATE: &str = "gate";

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
    /// The key of the call that has the lock.
    pub(crate) key: Option<Arc<CallKey>>,
    scope: Scope,
    /// How long taking the lock may take.
    wait: Duration,
    pub(crate) state: Mutex<State>,
    _holder: OwnedSemaphorePermit,
}

impl Lock {
    /// Waits for a connection and for the lock, each at most `wait`.
    pub(crate) async fn acquire(
        server: Server,
        place: String,
        key: Option<Arc<CallKey>>,
        scope: Scope,
        wait: Duration,
    ) -> Result<Self, Error> {
        let holder = server.pool().holder(Instant::now() + wait).await?;
        let state = Mutex::default();
        let lock = Self { server, place, key, scope, wait, state, _holder: holder };
        lock.ensure(&mut *lock.state.lock().await).await?;
        Ok(lock)
    }

    /// Takes the lock unless it is held: at first, or after a commit has released it.
    pub(crate) async fn ensure(&self, state: &mut State) -> Result<(), Error> {
        if let State::Released(idle) = state {
            *state = State::Locked(self.begin(idle.take()).await?);
        }
        Ok(())
    }

    /// Begins the transaction that has the lock.
    async fn begin(&self, idle: Option<Connection>) -> Result<Connection, Error> {
        let deadline = Instant::now() + self.wait;
        let begin = |mut connection: Connection| async move {
            let left = deadline.saturating_duration_since(Instant::now());
            let statements = self.statements(left);
            let begun = connection.begin(&statements);
            let begun = answered(left + self.server.answer_timeout(1), begun).await;
            (connection, begun)
        };
        let (connection, ()) = self.server.pool().with_connection(idle, deadline, begin).await?;
        Ok(connection)
    }

    /// The statements that begin a transaction and lock the row of the place, then the row of the
    /// scope. They take one round trip.
    ///
    /// Writers of scopes share the row of the place; a writer of the whole place needs it alone.
    /// PostgreSQL lets further writers share it meanwhile, so that writer could wait for ever. So it
    /// first locks the row `gate`, and keeps it. A writer of a scope also locks `gate`, in a savepoint:
    /// it has to wait there, but the rollback releases `gate` at once.
    fn statements(&self, wait: Duration) -> String {
        let lock =
            |scope: &str, strength: &str| lock_row(&self.server, &self.place, scope, strength);
        let locks = match &self.scope {
            None => lock(GATE, "UPDATE") + &lock("", "UPDATE"),
            Some(scope) => {
                let insert = insert_row(&self.server, &self.place, GATE);
                let wait = select_row(&self.server, &self.place, GATE, "SHARE");
                let gate = format!(
                    "{insert} SAVEPOINT gate; {wait} ROLLBACK TO SAVEPOINT gate; \
                     RELEASE SAVEPOINT gate; "
                );
                gate + &lock("", "SHARE") + &lock(&format!("/{scope}"), "UPDATE")
            }
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
        let rows = match &mut *state {
            State::Released(None) | State::RolledBack => {
                return self.server.rows(sql, parameters).await;
            }
            State::Released(Some(connection)) => {
                answered(
                    self.server.answer_timeout(1),
                    self.server.alone(connection, sql, parameters),
                )
                .await
            }
            State::Locked(connection) | State::Rows(connection) => {
                let rows = query::rows(connection.client(), sql, parameters);
                answered(self.server.answer_timeout(1), rows).await
            }
        };
        rows.map_err(|failed| state.fail(failed))
    }
}

/// The statements that insert the row of a scope if it is missing, and lock it. `strength` is `UPDATE`
/// or `SHARE`.
pub(crate) fn lock_row(server: &Server, place: &str, scope: &str, strength: &str) -> String {
    insert_row(server, place, scope) + &select_row(server, place, scope, strength)
}

/// The statement that inserts the row of a scope if it is missing.
fn insert_row(server: &Server, place: &str, scope: &str) -> String {
    let tenant = server.tenant();
    let [place, scope] = [place, scope].map(literal);
    format!(
        "INSERT INTO agent_memory.scopes (tenant, place, scope) \
         VALUES ({tenant}, {place}, {scope}) ON CONFLICT DO NOTHING; "
    )
}

/// The statement that locks the row of a scope, if there is one.
fn select_row(server: &Server, place: &str, scope: &str, strength: &str) -> String {
    let tenant = server.tenant();
    let [place, scope] = [place, scope].map(literal);
    format!(
        "SELECT 1 FROM agent_memory.scopes WHERE tenant = {tenant} AND place = {place} \
         AND scope = {scope} FOR {strength};"
    )
}
