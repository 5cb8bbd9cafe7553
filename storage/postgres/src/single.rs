//! Statements that run in transactions of their own.

use agent_memory_storage::{Error, ErrorCode, MAY_STAND};
use tokio_postgres::Row;

use super::connection::Connection;
use super::error::{is_lost, slow, storage_error};
use super::query::{self, Parameter};
use super::server::Server;
use super::statement_error::StatementError;

impl Server {
    /// Runs a statement in a transaction of its own, in one round trip.
    pub(crate) async fn alone(
        &self,
        connection: &mut Connection,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let begin = format!("BEGIN; {}", self.set_tenant());
        connection.transact(&begin, async |client| query::rows(client, sql, parameters).await).await
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
            connection.run(&sql).await.map_err(|error| storage_error(&error))
        })
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
