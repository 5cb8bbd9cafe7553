//! The schema of the database.

use super::sql::{integer, statement};
use crate::storage;
use crate::storage::database::{Dialect, Rows, Statement, Transaction};
use crate::toolsets::items::error::{Code, Error};

/// The version of the schema, stored in `user_version`. The last statement of [`SQLITE_TABLES`]
/// sets it.
const VERSION: i64 = 1;

/// The tables and indexes on SQLite. The schema of a released version never changes.
///
/// - Times are milliseconds since 1970 in UTC.
/// - `namespace` is the JSON list of the labels, `value` the JSON of the object.
/// - `paths` is the JSON list of the fields that a search reads. Null means all fields.
/// - `stamp` is [`stamp`](crate::toolsets::items::item::stamp): a change of it tells a search that
///   the row has changed.
/// - No id is used twice, because a search index identifies rows by their ids.
pub(in crate::toolsets::items) const SQLITE_TABLES: &[&str] = &[
    "CREATE TABLE items (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        paths TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        ttl_seconds INTEGER,
        expires_at INTEGER,
        stamp INTEGER NOT NULL,
        UNIQUE (namespace, key)
    ) STRICT",
    "CREATE INDEX items_by_namespace ON items (namespace, id, stamp, expires_at)",
    "CREATE INDEX items_by_updated_at ON items (updated_at, id, namespace, expires_at)",
    "CREATE INDEX items_by_expires_at ON items (expires_at) WHERE expires_at IS NOT NULL",
    "PRAGMA user_version = 1",
];

/// The tables and indexes on PostgreSQL.
pub(in crate::toolsets::items) const POSTGRES_TABLES: &[&str] = &[
    r#"CREATE TABLE items (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        namespace text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        value text COLLATE "C" NOT NULL,
        paths text COLLATE "C",
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        ttl_seconds bigint,
        expires_at bigint,
        stamp bigint NOT NULL,
        PRIMARY KEY (tenant, id),
        UNIQUE (tenant, namespace, key)
    )"#,
    "CREATE INDEX items_by_updated_at ON items (tenant, updated_at, id)",
    "CREATE INDEX items_by_expires_at ON items (tenant, expires_at) WHERE expires_at IS NOT NULL",
];

/// Creates the tables if the database is empty.
///
/// # Errors
///
/// `STORAGE_ERROR` if a later version of this program made the database, `CORRUPTED_DATA` if
/// another program did.
pub(in crate::toolsets::items) fn prepare(transaction: &dyn Transaction) -> Result<(), Error> {
    if has_tables(transaction.dialect(), |statement| transaction.query(statement, 1))? {
        return Ok(());
    }
    let any = statement("SELECT 1 FROM sqlite_schema", []);
    if !transaction.query(&any, 1)?.rows.is_empty() {
        return Err(of_another_program());
    }
    let statements: Vec<Statement> = SQLITE_TABLES.iter().map(|sql| statement(sql, [])).collect();
    transaction.execute(&statements)?;
    Ok(())
}

/// Whether the database has the tables. Without tables, it may be new, or empty after an
/// interrupted call.
///
/// # Errors
///
/// `STORAGE_ERROR` if a later version of this program made the database, `CORRUPTED_DATA` if it has
/// this version but no table `items`.
pub(in crate::toolsets::items) fn has_tables(
    dialect: Dialect,
    query: impl Fn(&Statement) -> Result<Rows, storage::Error>,
) -> Result<bool, Error> {
    if dialect == Dialect::Postgres {
        return Ok(true);
    }
    let rows = query(&statement("PRAGMA user_version", []))?.rows;
    let version = rows.first().and_then(|row| row.first()).map_or(Ok(0), integer)?;
    if version > VERSION {
        let message = format!(
            "the database of items has version {version}, which a later version of this program \
             made: use that one"
        );
        return Err(Error::new(Code::StorageError, message));
    }
    if version == 0 {
        return Ok(false);
    }
    let table = statement("SELECT 1 FROM sqlite_schema WHERE name = 'items'", []);
    if query(&table)?.rows.is_empty() { Err(of_another_program()) } else { Ok(true) }
}

fn of_another_program() -> Error {
    let message = "the database of items is another program's: name another file in the settings of \
                   the host, or move it away";
    Error::new(Code::CorruptedData, message)
}
