//! A database with its pool, and the work that runs on it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode, MAY_STAND, path};
use futures_util::future::join3;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::error::{is_lost, slow, storage_error};
use super::pool::{Connection, Pool};
use super::query::{self, Parameter};
use super::statement_error::StatementError;
use super::url::DatabaseUrl;

/// The minimum number of connections: one for a writer, one for readers.
const LEAST_CONNECTIONS: usize = 2;

/// The options of a [`Server`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The URL of the database.
    pub url: DatabaseUrl,
    /// The maximum number of connections. Less than 2 counts as 2.
    pub connections: usize,
    /// The number of the tenant. Nothing of another tenant is read or changed.
    pub tenant: i64,
    /// The maximum run time of a statement.
    pub statement_time: Duration,
}

/// A database of agent memory, for one tenant. It connects when it is first used. Clones share their
/// connections.
///
/// Its functions block the thread. They may be called from any thread, also of a runtime.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
    tenant: Arc<Tenant>,
}

/// The parts that the servers of all tenants share.
#[derive(Debug)]
struct Shared {
    /// `None` only during the drop.
    runtime: Option<Runtime>,
    pool: Arc<Pool>,
    statement_time: Duration,
}

#[derive(Debug)]
struct Tenant {
    /// The tenant's number, by which statements select rows.
    number: i64,
    /// The number of the tenant whose rows row-level security lets through: the same number, except in
    /// tests.
    let_through: i64,
    /// A cache of the keys of existing places of groups. Places are never removed, so it never becomes
    /// wrong.
    known: Mutex<BTreeSet<String>>,
}

impl Tenant {
    fn new(number: i64, let_through: i64) -> Arc<Self> {
        Arc::new(Tenant { number, let_through, known: Mutex::default() })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // The thread that drops this may belong to another runtime, where waiting is not allowed.
            runtime.shutdown_background();
        }
    }
}

impl Server {
    /// A server that is not connected yet.
    ///
    /// # Errors
    ///
    /// `io` if no thread can be started, or the roots of the machine cannot be read for TLS.
    pub fn new(options: Options) -> Result<Self, Error> {
        let Options { url, connections, tenant, statement_time } = options;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("agent-memory-database")
            .enable_all()
            .build()
            .map_err(|error| {
                let message = format!("the thread of the database cannot start: {error}");
                Error::new(ErrorCode::Io, message)
            })?;
        let handle = runtime.handle().clone();
        let pool = Arc::new(Pool::new(url, connections.max(LEAST_CONNECTIONS), handle)?);
        let shared = Arc::new(Shared { runtime: Some(runtime), pool, statement_time });
        Ok(Self { shared, tenant: Tenant::new(tenant, tenant) })
    }

    /// The same database for another tenant, with the same connections.
    pub fn for_tenant(&self, number: i64) -> Self {
        Self { shared: self.shared.clone(), tenant: Tenant::new(number, number) }
    }

    /// The same database, but row-level security lets only the rows of the tenant `let_through`
    /// through, while statements select the rows of this tenant. For tests of row-level security.
    #[doc(hidden)]
    pub fn mistaken(&self, let_through: i64) -> Self {
        Self { shared: self.shared.clone(), tenant: Tenant::new(self.tenant(), let_through) }
    }

    /// The names of the places with a label, in byte order.
    ///
    /// # Errors
    ///
    /// `busy` if the database cannot be reached now; `permission`, `io`.
    pub fn places(&self, label: &str) -> Result<Vec<String>, Error> {
        let server = self.clone();
        let prefix = format!("{label}/");
        let end = format!("{label}0");
        self.wait(async move {
            let sql = "SELECT place FROM agent_memory.places \
                       WHERE tenant = $1 AND place > $2 AND place < $3 ORDER BY place";
            let parameters = [
                Parameter::integer(server.tenant()),
                Parameter::text(prefix.as_str()),
                Parameter::text(end),
            ];
            let rows = server.rows(sql, &parameters).await?;
            let name = |row: &Row| row.get::<_, &str>(0)[prefix.len()..].to_owned();
            Ok(rows.iter().map(name).collect())
        })
    }

    /// Whether a place of a group exists.
    ///
    /// # Errors
    ///
    /// As for [`places`](Server::places).
    pub fn has_place(&self, label: &str, name: &str) -> Result<bool, Error> {
        let key = place_key(label, name);
        if self.known().contains(&key) {
            return Ok(true);
        }
        let server = self.clone();
        let wanted = key.clone();
        let is_there = self.wait(async move { server.has_key(&wanted).await })?;
        if is_there {
            self.known().insert(key);
        }
        Ok(is_there)
    }

    /// Creates a place of a group.
    ///
    /// # Errors
    ///
    /// `already-exists`; `invalid-path` if `name` is not a valid name for a place; those of
    /// [`places`](Server::places).
    pub fn create_place(&self, label: &str, name: &str) -> Result<(), Error> {
        if name.contains('/') || path::segments(name).is_err() {
            let message = format!("`{}` is not a name for a place", name.escape_debug());
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        let server = self.clone();
        let key = place_key(label, name);
        let is_created = self.wait(async move { server.insert_place(&key).await })?;
        if !is_created {
            let message = format!("the place `{name}` is registered already");
            return Err(Error::new(ErrorCode::AlreadyExists, message));
        }
        Ok(())
    }

    /// Inserts the row of a place. Returns false if the place exists already, perhaps in another case.
    /// If the connection was lost, tries once more: an existing row may then come from the first
    /// attempt, so it counts as created.
    async fn insert_place(&self, key: &str) -> Result<bool, Error> {
        let sql = "INSERT INTO agent_memory.places (tenant, place) VALUES ($1, $2) \
                   ON CONFLICT DO NOTHING RETURNING 1::smallint";
        let parameters = [Parameter::integer(self.tenant()), Parameter::text(key)];
        match self.insert(sql, &parameters).await {
            Ok(rows) => return Ok(!rows.is_empty()),
            Err(InsertError::Unknown(_)) => {}
            Err(InsertError::NotMade(error)) => return Err(error),
        }
        Ok(!self.insert(sql, &parameters).await?.is_empty() || self.has_key(key).await?)
    }

    async fn has_key(&self, key: &str) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM agent_memory.places WHERE tenant = $1 AND place = $2";
        let parameters = [Parameter::integer(self.tenant()), Parameter::text(key)];
        Ok(!self.rows(sql, &parameters).await?.is_empty())
    }

    /// Runs a statement that inserts a row. The statement is not repeated after the connection was
    /// lost, because the row may have been inserted.
    pub(crate) async fn insert(
        &self,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, InsertError> {
        // Finds and replaces a dead connection first, because the insert cannot be repeated.
        self.rows("SELECT 1::smallint", &[]).await?;
        let mut connection = self.connection().await?;
        let rows = self.alone(&mut connection, sql, parameters);
        let problem = match tokio::time::timeout(self.statement_time(), rows).await {
            Ok(Ok(rows)) => return Ok(rows),
            Ok(Err(error)) if is_lost(&error) => {
                connection.close();
                "the connection to the database was lost"
            }
            Ok(Err(error)) => return Err(storage_error(&error).into()),
            Err(_) => {
                connection.give_up();
                "the database does not answer"
            }
        };
        Err(InsertError::Unknown(Error::new(ErrorCode::Io, format!("{problem}{MAY_STAND}"))))
    }

    /// Checks that the database answers and takes writes, and that the user may write documents and rows.
    ///
    /// # Errors
    ///
    /// `read-only`; `permission` names a right that the user lacks; those of [`places`](Server::places).
    pub fn check_writable(&self) -> Result<(), Error> {
        let server = self.clone();
        let rows = self.wait(async move {
            let sql = "SELECT current_setting('transaction_read_only') = 'on' \
                    OR NOT has_table_privilege('agent_memory.calls', 'INSERT'), \
                (SELECT a.needed || ' on ' || c.oid::regclass \
                    FROM pg_catalog.pg_class AS c CROSS JOIN \
                        unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS a(needed) \
                    WHERE c.relkind IN ('r', 'p', 'v') \
                        AND c.relnamespace::regnamespace::text IN ('agent_memory', 'agent_memory_rows') \
                        AND (c.relname = 'documents' OR EXISTS (SELECT FROM pg_catalog.pg_class AS v \
                            WHERE v.relnamespace::regnamespace::text = 'agent_memory_rows' \
                            AND v.relname = c.relname)) \
                        AND NOT has_table_privilege(c.oid, a.needed) \
                    ORDER BY 1 LIMIT 1)";
            server.rows(sql, &[]).await
        })?;
        match rows.first().map(|row| (row.get(0), row.get::<_, Option<String>>(1))) {
            Some((true, _)) => {
                Err(Error::new(ErrorCode::ReadOnly, "the database can only be read"))
            }
            Some((false, Some(missing))) => {
                let message =
                    format!("the database's user lacks the right {missing}: grant it that");
                Err(Error::new(ErrorCode::Permission, message))
            }
            _ => Ok(()),
        }
    }

    /// Runs a statement, as an administrator would. For tests.
    ///
    /// # Errors
    ///
    /// Those of the statement.
    #[doc(hidden)]
    pub fn execute(&self, sql: &str) -> Result<(), Error> {
        let server = self.clone();
        let sql = sql.to_owned();
        self.wait(async move {
            let mut connection = server.connection().await?;
            // The statement may begin a transaction. If it then fails, the transaction is rolled back.
            connection.in_transaction = true;
            let done = connection.client().batch_execute(&sql).await;
            connection.in_transaction = done.is_err();
            done.map_err(|error| storage_error(&error))
        })
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.shared.pool
    }

    /// The number of the tenant.
    pub fn tenant(&self) -> i64 {
        self.tenant.number
    }

    /// The statement after BEGIN that sets the tenant whose rows the transaction reads and inserts.
    /// Without it, row-level security lets no row through.
    pub(crate) fn set_tenant(&self) -> String {
        format!("SET LOCAL agent_memory.tenant = '{}'", self.tenant.let_through)
    }

    /// The settings of a transaction on rows: the schemas of the views and the functions, and the time of a
    /// statement.
    pub(crate) fn settings(&self) -> String {
        format!(
            "SET LOCAL search_path = agent_memory_rows, agent_memory, pg_catalog; \
             SET LOCAL statement_timeout = {}",
            self.statement_time().as_millis().max(1)
        )
    }

    pub(crate) fn statement_time(&self) -> Duration {
        self.shared.statement_time
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.tenant.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The deadline of a wait for a free connection that begins now: the time of a statement.
    pub(crate) fn until(&self) -> Instant {
        Instant::now() + self.statement_time()
    }

    /// A free connection. Waits at most the time of a statement for it.
    pub(crate) async fn connection(&self) -> Result<Connection, Error> {
        self.pool().connection(self.until()).await
    }

    /// Runs a statement in its own transaction. BEGIN, the statement and COMMIT are sent together, so
    /// that it takes one round trip.
    pub(crate) async fn alone(
        &self,
        connection: &mut Connection,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        connection.in_transaction = true;
        let client = connection.client();
        let begin = format!("BEGIN; {}", self.set_tenant());
        let (begun, rows, ended) = join3(
            client.batch_execute(&begin),
            query::rows(client, sql, parameters),
            client.batch_execute("COMMIT"),
        )
        .await;
        // After an error, COMMIT rolls back.
        connection.in_transaction = ended.is_err();
        begun?;
        let rows = rows?;
        ended?;
        Ok(rows)
    }

    /// The rows of a statement that changes nothing. If the connection is found to be dead, the
    /// statement is sent once more.
    pub(crate) async fn rows(
        &self,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Error> {
        let read = |mut connection: Connection| async move {
            let rows = self.alone(&mut connection, sql, parameters);
            let rows = match tokio::time::timeout(self.statement_time(), rows).await {
                Ok(rows) => rows.map_err(StatementError::from),
                Err(_) => Err(StatementError::Stopped(Error::new(ErrorCode::Busy, slow()))),
            };
            (connection, rows)
        };
        let (_, rows) = self.pool().with_connection(None, self.until(), read).await?;
        Ok(rows)
    }

    /// Runs work on the thread of the database, and waits for it.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let (done, result) = mpsc::channel();
        self.spawn(async move {
            // Sending fails only if the receiver is gone.
            let _ = done.send(work.await);
        });
        result.recv().expect("the work on the database ends")
    }

    /// Runs work on the thread of the database, and waits for it without blocking. Dropping the future
    /// aborts the work.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let mut running = AbortOnDrop(self.spawn(work));
        let done = (&mut running.0).await;
        done.map_err(|_| Error::new(ErrorCode::Cancelled, "the host is closing"))?
    }

    /// Runs work on the thread of the database.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.shared.runtime.as_ref().expect("it runs until this is dropped").spawn(work)
    }
}

/// The error of a statement that inserts a row.
pub(crate) enum InsertError {
    /// The row was not inserted.
    NotMade(Error),
    /// The row may have been inserted. The message says so.
    Unknown(Error),
}

impl From<Error> for InsertError {
    fn from(error: Error) -> Self {
        InsertError::NotMade(error)
    }
}

impl From<InsertError> for Error {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::NotMade(error) | InsertError::Unknown(error) => error,
        }
    }
}

/// A task that is aborted when this is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The text of the column `place` for a place, in every table.
pub(crate) fn place_key(label: &str, name: &str) -> String {
    if name.is_empty() { label.to_owned() } else { format!("{label}/{name}") }
}

/// A parameter with the texts of a list.
pub(crate) fn texts(texts: Vec<String>) -> Parameter {
    Parameter::new(texts, Type::TEXT_ARRAY)
}
