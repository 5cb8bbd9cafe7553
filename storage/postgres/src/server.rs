//! A database with its pool, and the thread that runs work on it.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::connection::Connection;
use super::known::Known;
use super::pool::Pool;
use super::url::DatabaseUrl;

/// The minimum number of connections: one for a writer, one for readers.
const LEAST_CONNECTIONS: usize = 2;

/// How long an answer of the database may take on the network, beside the time of the statement.
const NETWORK_TIME: Duration = Duration::from_secs(5);

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
    known: Known,
}

impl Tenant {
    fn new(number: i64, let_through: i64) -> Arc<Self> {
        Arc::new(Tenant { number, let_through, known: Known::default() })
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

    pub(crate) fn known(&self) -> &Known {
        &self.tenant.known
    }

    pub(crate) fn statement_time(&self) -> Duration {
        self.shared.statement_time
    }

    /// How long this program waits for the answer to this many statements. The database's own limit
    /// stops a statement earlier.
    pub(crate) fn answer_timeout(&self, statements: usize) -> Duration {
        let statements = u32::try_from(statements.max(1)).unwrap_or(u32::MAX);
        self.statement_time().saturating_mul(statements).saturating_add(NETWORK_TIME)
    }

    /// When a wait for a free connection that begins now has to end. The wait may take as long as a
    /// statement.
    pub(crate) fn until(&self) -> Instant {
        Instant::now() + self.statement_time()
    }

    /// A free connection. Waits at most the time of a statement for it.
    pub(crate) async fn connection(&self) -> Result<Connection, Error> {
        self.pool().connection(self.until()).await
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

/// A task that is aborted when this is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
