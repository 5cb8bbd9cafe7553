//! The end of a transaction that changes something: its commit, and finding out whether it was made.

use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode, MAY_STAND};
use futures_util::future::join;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::Client;

use super::error::{is_lost, lost, rolled_back, silent, storage_error};
use super::lock::Lock;
use super::query::{self, Parameter};
use super::server::Server;
use super::state::State;

/// How long the outcome of a commit is looked up after its connection broke.
const LOOK_FOR: Duration = Duration::from_secs(30);

/// The time between two attempts to look up the outcome.
const PAUSE: Duration = Duration::from_millis(100);

/// The row that tells the outcome of a commit is kept for this time, in hours. The outcome is looked up
/// within a minute.
const REMEMBERED_HOURS: u32 = 1;

/// The key of a call is remembered for this time, in hours: as long as a client may repeat it.
const KEY_REMEMBERED_HOURS: u32 = 24;

/// One in this many commits removes old rows.
const FORGETS_EVERY: u64 = 1_000;

impl Server {
    /// Whether a commit has stored the key of a call.
    ///
    /// # Errors
    ///
    /// `busy` if the database cannot be reached now; `permission`, `io`.
    pub fn has_call_key(&self, key: &str) -> Result<bool, Error> {
        let server = self.clone();
        let parameters = [Parameter::integer(self.tenant()), Parameter::text(key)];
        self.wait(async move {
            let sql =
                "SELECT 1::smallint FROM agent_memory.call_keys WHERE tenant = $1 AND key = $2";
            Ok(!server.rows(sql, &parameters).await?.is_empty())
        })
    }
}

impl Lock {
    /// Commits the open transaction of the lock, in one round trip. Inserts a row by which [`find_out`]
    /// learns the outcome if the connection breaks.
    ///
    /// # Errors
    ///
    /// `busy` if the connection was lost and nothing was changed; `io` if the outcome is not known;
    /// those of the database. The transaction has ended in each case.
    pub(crate) async fn conclude(&self, state: &mut State) -> Result<(), Error> {
        let (State::Locked(mut connection) | State::Rows(mut connection)) = std::mem::take(state)
        else {
            return Err(rolled_back());
        };
        let number = getrandom::u64().and_then(|high| Ok((high, getrandom::u64()?)));
        let Ok((high, low)) = number else {
            return Err(Error::new(ErrorCode::Io, "no random number"));
        };
        let key = format!("{high:016x}{low:016x}");
        let sql = "INSERT INTO agent_memory.calls (tenant, key, made) VALUES ($1, $2, true)";
        let parameters = [Parameter::integer(self.server.tenant()), Parameter::text(key.as_str())];
        let insert = async |client: &Client| {
            let inserted =
                join(self.store_key(client), query::execute(client, sql, &parameters)).await;
            inserted.0.and(inserted.1)
        };
        match timeout(self.server.answer_timeout(1), connection.commit_after(insert)).await {
            Ok(Ok(_)) => *state = State::Released(Some(connection)),
            Err(_) => {
                connection.give_up();
                find_out(&self.server, &key).await?;
            }
            Ok(Err(error)) if is_lost(&error) => {
                connection.close();
                self.server.pool().close_idle();
                find_out(&self.server, &key).await?;
            }
            // After an error of an inserted row, COMMIT has rolled back.
            Ok(Err(error)) => return Err(self.refused(&error)),
        }
        if let Some(key) = &self.key {
            key.note_stored();
        }
        if high % FORGETS_EVERY == 0 {
            self.server.spawn(forget_old(self.server.clone()));
        }
        Ok(())
    }

    /// Inserts the key of the call, if it has one, unless an earlier commit of the call has done so.
    async fn store_key(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        let Some(key) = self.key.as_ref().and_then(|key| key.to_store()) else { return Ok(()) };
        let sql = "INSERT INTO agent_memory.call_keys (tenant, key) VALUES ($1, $2)";
        let parameters = [Parameter::integer(self.server.tenant()), Parameter::text(key)];
        query::execute(client, sql, &parameters).await.map(drop)
    }

    /// The error of a commit that the database refused. A key of the call that is already stored means
    /// that the call was made before.
    fn refused(&self, error: &tokio_postgres::Error) -> Error {
        let refused = error.as_db_error();
        let is_repeated = refused.is_some_and(|error| error.table() == Some("call_keys"));
        match &self.key {
            Some(key) if is_repeated => key.note_repeated(),
            _ => storage_error(error),
        }
    }
}

/// Finds out whether a commit was made after its connection broke. Inserts the key of the commit with
/// `made = false`; this waits while the commit is under way. If the row exists already, the commit was
/// made. Otherwise the commit can never be made, because its own insert of the key would fail.
///
/// # Errors
///
/// `busy` if the commit was not made; `io` if that is not known.
async fn find_out(server: &Server, key: &str) -> Result<(), Error> {
    let sql = "INSERT INTO agent_memory.calls AS c (tenant, key, made) VALUES ($1, $2, false) \
        ON CONFLICT (tenant, key) DO UPDATE SET made = c.made RETURNING made";
    let parameters = [Parameter::integer(server.tenant()), Parameter::text(key)];
    let until = Instant::now() + LOOK_FOR;
    // The last refusal, for the log.
    let mut last = None;
    while Instant::now() < until {
        match made(server, sql, &parameters, until).await {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(Error::new(ErrorCode::Busy, lost())),
            Err(error) if error.code == ErrorCode::Busy => {}
            Err(error) => last = Some(error.message),
        }
        tokio::time::sleep(PAUSE).await;
    }
    let message = format!("the connection to the database was lost during the commit{MAY_STAND}");
    Err(Error { code: ErrorCode::Io, message, detail: last })
}

/// Asks the database once whether the commit was made.
async fn made(
    server: &Server,
    sql: &str,
    parameters: &[Parameter],
    until: Instant,
) -> Result<bool, Error> {
    let connected = timeout_at(until, server.pool().connection(until)).await;
    let mut connection = connected.map_err(|_| silent())??;
    let rows = timeout_at(until, server.alone(&mut connection, sql, parameters)).await;
    let made = match rows {
        Ok(Ok(rows)) => rows.first().map(|row| row.get(0)).ok_or_else(silent),
        Ok(Err(error)) => Err(storage_error(&error)),
        Err(_) => Err(silent()),
    };
    if made.is_err() {
        connection.close();
    }
    made
}

async fn forget_old(server: Server) {
    for (table, hours) in
        [("agent_memory.calls", REMEMBERED_HOURS), ("agent_memory.call_keys", KEY_REMEMBERED_HOURS)]
    {
        let sql = format!(
            "DELETE FROM {table} WHERE tenant = {} \
             AND answered_at < now() - interval '{hours} hours'",
            server.tenant()
        );
        // Ignores an error: a later commit tries again.
        drop(server.rows(&sql, &[]).await);
    }
}
