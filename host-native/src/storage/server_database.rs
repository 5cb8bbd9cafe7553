//! A database of a place on a database server: the tables of a toolset, or of a derived database.

use super::database::{Beginning, DatabaseBackend, Transaction};
use super::lock_key::LockKey;
use super::lock_timeout::LockTimeout;
use super::server_lock::{Locker, ServerLock};
use super::writer::WriterLock;
use agent_memory_storage::Error;
use agent_memory_storage::database::{self, Dialect, Effect, Mode, Rows, Statement};
use agent_memory_storage_postgres as postgres;
use std::sync::Arc;

/// A database on a server.
#[derive(Debug)]
pub(super) struct ServerDatabase {
    pub tables: postgres::Database,
    /// The lock for writing. `None` for a derived database, whose writers do not wait for a lock.
    pub lock: Option<(Locker, LockKey)>,
    pub location: String,
}

impl DatabaseBackend for ServerDatabase {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.tables.query(statement, max_rows)
    }

    fn check(&self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    fn begin(
        &self,
        mode: Mode<'_>,
        shared: Option<&WriterLock>,
        timeout: LockTimeout,
    ) -> Beginning {
        let tables = self.tables.clone();
        let shared = shared.and_then(WriterLock::as_server).cloned();
        let Mode::Write(scope) = mode else {
            return Box::pin(async move {
                Ok(Transaction::new(match shared {
                    Some(held) => tables.begin_read_under(&held.lock).await?,
                    None => tables.begin_read().await?,
                }))
            });
        };
        let Some((locker, _)) = &self.lock else {
            return Box::pin(async move { Ok(Transaction::new(tables.begin_derived().await?)) });
        };
        let acquiring = shared.is_none().then(|| locker.lock(scope, timeout));
        Box::pin(async move {
            let lock = match (shared, acquiring) {
                (None, Some(acquiring)) => Arc::new(acquiring.await?),
                (shared, _) => shared.expect("it is shared, or acquired"),
            };
            let transaction = tables.begin_write(lock.lock.clone()).await?;
            Ok(Transaction::new(ServerTransaction { transaction, _lock: lock }))
        })
    }

    fn lock_key(&self) -> Option<&LockKey> {
        self.lock.as_ref().map(|(_, key)| key)
    }

    fn check_writable(&self) -> Result<(), Error> {
        self.tables.check_free()
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn give_up(&self) {
        self.tables.give_up();
    }
}

/// A transaction that writes.
#[derive(Debug)]
struct ServerTransaction {
    // Dropped before `_lock`, so that the lock is held until the transaction has ended.
    transaction: postgres::Transaction,
    _lock: Arc<ServerLock>,
}

impl database::Transaction for ServerTransaction {
    fn dialect(&self) -> Dialect {
        self.transaction.dialect()
    }

    fn query(&self, statement: &Statement, max_rows: u32) -> Result<Rows, Error> {
        self.transaction.query(statement, max_rows)
    }

    fn execute(&self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.transaction.execute(statements)
    }

    fn commit(&self) -> Result<(), Error> {
        self.transaction.commit()
    }
}
