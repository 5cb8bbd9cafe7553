//! The tables, their version, and the migration.

use std::time::Duration;

use agent_memory_storage::{Error, ErrorCode, UNCHANGED};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::error::storage_error;
use super::query::{self, Parameter};
use super::server::Server;
use super::toolset_tables::{self, ToolsetTables};

/// The version of the tables.
pub const VERSION: i32 = STEPS.len() as i32;

/// The steps to this version: each brings the tables to the next version. The first one starts without
/// tables.
///
/// A step that changes rows has to turn off `FORCE ROW LEVEL SECURITY` for their table before, because
/// row-level security hides the rows. A table with a column `tenant` gets row-level security after the
/// last step.
const STEPS: [&str; 3] = [TABLES, TENANTS, KEYS_AND_PLACES];

/// The key of the advisory lock of migrations. The lock ends with the transaction, so it works through
/// a pooler, too.
const MIGRATIONS: i64 = 0x6167_656e_742d_6d65;

/// The tables of version 1. The tenant is the first column of every key.
///
/// `bytes` is not compressed, so that its length is known without reading it.
const TABLES: &str = r#"
CREATE SCHEMA IF NOT EXISTS agent_memory;
CREATE TABLE agent_memory.version (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    version integer NOT NULL,
    database text NOT NULL
);
CREATE TABLE agent_memory.places (
    tenant bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, place)
);
CREATE UNIQUE INDEX places_in_any_case ON agent_memory.places (tenant, lower(place));
CREATE TABLE agent_memory.documents (
    tenant bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    area smallint NOT NULL,
    path text COLLATE "C" NOT NULL,
    version text NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant, place, area, path)
);
ALTER TABLE agent_memory.documents ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE agent_memory.scopes (
    tenant bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, place, scope)
);
CREATE TABLE agent_memory.calls (
    tenant bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    made boolean NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, key)
);
CREATE INDEX calls_by_time ON agent_memory.calls (answered_at);
"#;

/// The table of version 2.
const TENANTS: &str = r#"
CREATE TABLE agent_memory.tenants (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX tenants_in_any_case ON agent_memory.tenants (lower(name));
"#;

/// The step to version 3: the table of the keys of calls that are made once; the type of the column
/// `place` of derived databases; and `each_numbered`, which reads pairs of a number and bytes in
/// hexadecimal digits.
const KEYS_AND_PLACES: &str = r#"
CREATE TABLE agent_memory.call_keys (
    tenant bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, key)
);
CREATE INDEX call_keys_by_time ON agent_memory.call_keys (answered_at);
CREATE DOMAIN agent_memory.place AS text COLLATE "C"
    DEFAULT pg_catalog.current_setting('agent_memory.place');
CREATE FUNCTION agent_memory.each_numbered(text) RETURNS TABLE (number bigint, bytes bytea)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT (a.value->>0)::bigint, decode(a.value->>1, 'hex')
        FROM json_array_elements($1::json) AS a(value) $$;
"#;

/// Row-level security of every table with a column `tenant`, also for the owner of the tables. A
/// statement fails if the setting `agent_memory.tenant` is missing.
const ROW_SECURITY: &str = r#"
DO $$
DECLARE
    found regclass;
BEGIN
    FOR found IN
        SELECT c.oid FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_attribute AS a
            ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
        WHERE c.relnamespace = 'agent_memory'::regnamespace AND c.relkind IN ('r', 'p')
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy AS p
                WHERE p.polrelid = c.oid AND p.polname = 'of_tenant')
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', found);
        EXECUTE format('CREATE POLICY of_tenant ON %s '
            'USING (tenant = current_setting(''agent_memory.tenant'')::bigint)', found);
    END LOOP;
END
$$;
"#;

/// The effect of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrated {
    /// The migration made the tables.
    Created,
    /// The migration brought the tables from an earlier version to this one. Programs of that version
    /// no longer work with the database.
    Updated,
    /// The tables had this version already.
    UpToDate,
}

impl Server {
    /// Checks that the tables have the version of this program.
    ///
    /// # Errors
    ///
    /// `io` if the tables are missing or have another version: the message says what to do; `busy` if
    /// the database cannot be reached now; `permission`.
    pub fn check(&self) -> Result<(), Error> {
        let server = self.clone();
        self.wait(async move {
            check_encoding(&server).await?;
            let rows = server.rows("SELECT version FROM agent_memory.version", &[]).await?;
            match rows.first().map(|row| row.get(0)) {
                None => Err(no_version()),
                Some(VERSION) => Ok(()),
                Some(version) => Err(not_of_this_version(version)),
            }
        })
    }

    /// Makes the tables, or brings them to the version of this program. If several programs migrate at
    /// once, the first one does it and the others wait, at most the time of a statement.
    ///
    /// # Errors
    ///
    /// `busy` if another migration takes longer; `io` if the tables have a later version, or the user
    /// may not make them; those of
    /// [`check`](Server::check). After an error nothing was changed.
    pub fn migrate(&self, tables: &ToolsetTables) -> Result<Migrated, Error> {
        let server = self.clone();
        let tables = tables.clone();
        self.wait(async move {
            check_encoding(&server).await?;
            let mut connection = server.connection().await?;
            let wait = server.statement_time();
            let begin = format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {}; \
                 SELECT pg_advisory_xact_lock({MIGRATIONS}); SET LOCAL lock_timeout TO DEFAULT",
                wait.as_millis().max(1)
            );
            connection.begin(&begin).await.map_err(|error| match error.code() {
                Some(&SqlState::LOCK_NOT_AVAILABLE) => other_migration(wait),
                _ => failed(error),
            })?;
            let client = connection.client();
            let before = version(client).await?;
            let done = match before {
                None => Migrated::Created,
                Some(VERSION) => return Ok(Migrated::UpToDate),
                Some(later) if later > VERSION => return Err(not_of_this_version(later)),
                Some(_) => Migrated::Updated,
            };
            let before = before.unwrap_or_default();
            for step in STEPS.iter().skip(usize::try_from(before).unwrap_or_default()) {
                client.batch_execute(step).await.map_err(failed)?;
            }
            toolset_tables::make(client, before, &tables).await.map_err(failed)?;
            client.batch_execute(ROW_SECURITY).await.map_err(failed)?;
            // Earlier versions kept a name of the database, which nothing reads any more.
            let dropped = "ALTER TABLE agent_memory.version DROP COLUMN IF EXISTS database";
            client.batch_execute(dropped).await.map_err(failed)?;
            let sql = "INSERT INTO agent_memory.version (version) VALUES ($1) \
                       ON CONFLICT (single) DO UPDATE SET version = excluded.version";
            let version = [Parameter::new(VERSION, Type::INT4)];
            query::execute(client, sql, &version).await.map_err(failed)?;
            connection.commit().await.map_err(failed)?;
            Ok(done)
        })
    }
}

/// The message for a user who may not make the tables.
const MAY_NOT_CREATE: &str = "the database's user may not make the schemas and tables of agent-memory: migrate as \
                              their owner, or as a user with the right CREATE on the database";

/// The error of a migration that has waited for another one for `wait`.
fn other_migration(wait: Duration) -> Error {
    let message = format!(
        "another migration has not ended for {} s: wait until it has, or end its connection, which \
         `SELECT pid FROM pg_locks WHERE locktype = 'advisory'` finds{UNCHANGED}",
        wait.as_secs()
    );
    Error::new(ErrorCode::Busy, message)
}

/// Checks that the encoding of the database can keep any text.
async fn check_encoding(server: &Server) -> Result<(), Error> {
    let rows = server.rows("SELECT current_setting('server_encoding')", &[]).await?;
    let encoding: &str = rows.first().map_or("UTF8", |row| row.get(0));
    if encoding == "UTF8" {
        return Ok(());
    }
    let message = format!(
        "the database has the encoding {encoding} and could not keep every text: make another one \
         with `CREATE DATABASE memory ENCODING 'UTF8' TEMPLATE template0`"
    );
    Err(Error::new(ErrorCode::Io, message))
}

/// The error of a statement of a migration.
fn failed(error: tokio_postgres::Error) -> Error {
    match storage_error(&error) {
        error if error.code == ErrorCode::Permission => {
            Error { message: MAY_NOT_CREATE.to_owned(), ..error }
        }
        error => error,
    }
}

/// The error of tables whose version is not known.
fn no_version() -> Error {
    let message = format!(
        "the table `agent_memory.version` has lost its row: restore it from a backup, or by `INSERT INTO \
         agent_memory.version (version) VALUES ({VERSION})` if the tables were made by this version of \
         the program"
    );
    Error::new(ErrorCode::Io, message)
}

/// The version of the tables. `None` if there are no tables. Asks the catalogue with a query, which
/// also sees tables that another migration made while this transaction waited for the lock.
async fn version(client: &Client) -> Result<Option<i32>, Error> {
    let sql = "SELECT 1 FROM pg_catalog.pg_tables \
               WHERE schemaname = 'agent_memory' AND tablename = 'version'";
    if query::rows(client, sql, &[]).await.map_err(failed)?.is_empty() {
        return Ok(None);
    }
    let sql = "SELECT version FROM agent_memory.version";
    let rows = query::rows(client, sql, &[]).await.map_err(failed)?;
    rows.first().map(|row| Some(row.get(0))).ok_or_else(no_version)
}

fn not_of_this_version(version: i32) -> Error {
    let message = if version < VERSION {
        "the tables of the database are of an earlier version: run `agent-memory database migrate`"
    } else {
        "a later version of agent-memory made the tables of the database: update this program"
    };
    Error::new(ErrorCode::Io, message)
}
