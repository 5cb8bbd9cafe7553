//! The schema of the database.

use super::sql::{integer, statement};
use crate::storage;
use crate::storage::database::{Dialect, Rows, Statement, Transaction};
use crate::toolsets::records::error::{Code, Error};

/// The version of the schema, which is in `user_version`. The last statement sets it.
const VERSION: i64 = 1;

/// The most agents that a query lists.
pub(super) const MAX_AGENTS: u32 = 10_000;

/// The tables and indexes. Once a version is released, its schema never changes.
///
/// - Timestamps are milliseconds since 1970 in UTC.
/// - `type` and `importance` are indexes into `Kind::ALL` and `Importance::ALL`.
/// - `agents.document` is the text of the agent's file without its records.
/// - `agents.moving` is the version of the file that the rows are a copy of. It is null after a row
///   has changed, and if the rows were not copied from a file.
/// - `memories.original` is the text of a record of another program, if it holds more than the
///   columns.
/// - `memories.folded` has the texts that a search looks through, folded by this crate, each on a line.
///   It lacks an ASCII content, because SQL's `lower` folds that: a copy would double the size of the
///   database.
/// - `memory_tags` has no foreign key: SQLite would read all tags for each deleted memory.
/// - `stamp` is [`Memory::stamp`](crate::toolsets::records::memory::Memory::stamp). By it, a search
///   finds the rows that have changed since the last update of the index.
/// - Each order of `query_memories` has an index that also orders equal values, so that SQLite reads a
///   page without sorting. The filters by type and by category have indexes in the default order.
pub(in crate::toolsets::records) const SQLITE_TABLES: &[&str] = &[
    "CREATE TABLE agents (
        key INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE COLLATE NOCASE,
        document TEXT,
        moving TEXT
    ) STRICT",
    "CREATE TABLE memories (
        key INTEGER PRIMARY KEY,
        agent INTEGER NOT NULL REFERENCES agents,
        id TEXT NOT NULL,
        type INTEGER NOT NULL,
        content TEXT NOT NULL,
        category TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        accessed_at INTEGER NOT NULL,
        access_count INTEGER NOT NULL,
        tags TEXT NOT NULL,
        importance INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        folded TEXT NOT NULL,
        stamp INTEGER NOT NULL,
        original TEXT,
        UNIQUE (agent, id)
    ) STRICT",
    "CREATE TABLE memory_tags (
        agent INTEGER NOT NULL,
        tag TEXT NOT NULL,
        memory INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        PRIMARY KEY (agent, tag, memory)
    ) STRICT, WITHOUT ROWID",
    "CREATE INDEX memories_by_created_at
        ON memories (agent, created_at DESC, id, archived)",
    "CREATE INDEX memories_by_updated_at
        ON memories (agent, updated_at DESC, created_at DESC, id, archived)",
    "CREATE INDEX memories_by_accessed_at
        ON memories (agent, accessed_at DESC, created_at DESC, id, archived)",
    "CREATE INDEX memories_by_importance
        ON memories (agent, importance, created_at DESC, id, archived)",
    "CREATE INDEX memories_by_importance_descending
        ON memories (agent, importance DESC, created_at DESC, id, archived, type, bytes)",
    "CREATE INDEX memories_by_access_count
        ON memories (agent, access_count, created_at DESC, id, archived)",
    "CREATE INDEX memories_by_access_count_descending
        ON memories (agent, access_count DESC, created_at DESC, id, archived)",
    "CREATE INDEX memories_by_type
        ON memories (agent, type, accessed_at DESC, created_at DESC, id, archived)",
    "CREATE INDEX memories_by_category
        ON memories (agent, category, accessed_at DESC, created_at DESC, id, archived)
        WHERE category IS NOT NULL",
    "CREATE INDEX memories_by_key ON memories (agent, key, stamp)",
    "PRAGMA user_version = 1",
];

/// The tables of [`SQLITE_TABLES`] on PostgreSQL. `lower_name` is the name with its ASCII letters
/// in lower case, to compare names as `NOCASE` does: with the collation `C`, `lower` changes only
/// ASCII letters.
pub(in crate::toolsets::records) const POSTGRES_TABLES: &[&str] = &[
    r#"CREATE TABLE agents (
        tenant tenant,
        key bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        name text COLLATE "C" NOT NULL,
        lower_name text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
        document text COLLATE "C",
        moving text COLLATE "C",
        PRIMARY KEY (tenant, key),
        UNIQUE (tenant, lower_name)
    )"#,
    r#"CREATE TABLE memories (
        tenant tenant,
        key bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent bigint NOT NULL,
        id text COLLATE "C" NOT NULL,
        type bigint NOT NULL,
        content text COLLATE "C" NOT NULL,
        category text COLLATE "C",
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        accessed_at bigint NOT NULL,
        access_count bigint NOT NULL,
        tags text COLLATE "C" NOT NULL,
        importance bigint NOT NULL,
        archived bigint NOT NULL,
        bytes bigint NOT NULL,
        folded text COLLATE "C" NOT NULL,
        stamp bigint NOT NULL,
        original text COLLATE "C",
        PRIMARY KEY (tenant, key),
        UNIQUE (tenant, agent, id),
        FOREIGN KEY (tenant, agent) REFERENCES agents
    )"#,
    r#"CREATE TABLE memory_tags (
        tenant tenant,
        agent bigint NOT NULL,
        tag text COLLATE "C" NOT NULL,
        memory bigint NOT NULL,
        archived bigint NOT NULL,
        PRIMARY KEY (tenant, agent, tag, memory)
    )"#,
    "CREATE INDEX memories_by_key ON memories (tenant, agent, key, stamp)",
    "CREATE INDEX memories_by_created_at ON memories (tenant, agent, created_at DESC, id)",
    "CREATE INDEX memories_by_updated_at ON memories (tenant, agent, updated_at DESC)",
    "CREATE INDEX memories_by_accessed_at ON memories (tenant, agent, accessed_at DESC)",
    "CREATE INDEX memories_by_access_count ON memories (tenant, agent, access_count DESC)",
];

/// Creates the tables in a new SQLite database. In PostgreSQL, the tables exist already.
///
/// # Errors
///
/// `STORAGE_ERROR` for a database of a later version of this program, `CORRUPTED_DATA` for a
/// database of another program.
pub(in crate::toolsets::records) fn prepare(transaction: &dyn Transaction) -> Result<(), Error> {
    if transaction.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let version = version(|statement| transaction.query(statement, 1))?;
    if version == VERSION {
        return Ok(());
    }
    if version != 0 {
        let message = format!(
            "`memories.db` has version {version}, which a later version of this program made: use \
             that one"
        );
        return Err(Error::new(Code::StorageError, message));
    }
    if has_any_table(transaction)? {
        let message = "`memories.db` belongs to another program: move it away, and try again";
        return Err(Error::new(Code::CorruptedData, message));
    }
    let statements: Vec<Statement> = SQLITE_TABLES.iter().map(|sql| statement(sql, [])).collect();
    transaction.execute(&statements)?;
    Ok(())
}

/// Whether the database has a table, an index, a view or a trigger.
fn has_any_table(transaction: &dyn Transaction) -> Result<bool, Error> {
    let any = statement("SELECT 1 FROM sqlite_schema", []);
    Ok(!transaction.query(&any, 1)?.rows.is_empty())
}

/// The version of the schema; 0 if this program has not created the tables.
fn version(query: impl Fn(&Statement) -> Result<Rows, storage::Error>) -> Result<i64, Error> {
    let rows = query(&statement("PRAGMA user_version", []))?.rows;
    rows.first().and_then(|row| row.first()).map_or(Ok(0), integer)
}

/// Whether the tables exist. A call that was interrupted may have left a SQLite database empty.
pub(super) fn has_tables(
    dialect: Dialect,
    query: impl Fn(&Statement) -> Result<Rows, storage::Error>,
) -> Result<bool, Error> {
    Ok(dialect == Dialect::Postgres || version(query)? > 0)
}
