//! The schema of the database, and bringing one up to it.

use super::sql::{integer, statement};
use crate::records::error::{Code, Error};
use crate::storage;
use crate::storage::database::{Rows, Statement, Transaction};

/// What each version adds to the one before; the first creates everything. `user_version` says how
/// many a database has.
///
/// Moments are milliseconds since 1970 in UTC. `type` and `importance` are counted from 0 in
/// ascending order. A search looks through content, category and tags, folded by this crate, a line
/// each: `memories_text` finds rows that have all trigrams of a term, which `lower(content)` or
/// `folded` then confirms. `folded` leaves out a content in ASCII, which would be half of the
/// database. `unindexed` has the rows that are not in `memories_text` yet, see `indexing.rs`.
/// `original` is a record as another program wrote it, where the columns do not say all of it. An
/// agent's `document` is what its file held beside the records; `moving` is the version of the file
/// that its rows are a copy of, until a row changes.
///
/// The second version cleans up what conversions of the first left when they were interrupted: rows
/// of agents whose name goes on after a `/`, and `moving` that is empty.
///
/// `memory_tags` refers to no other table by a rule: each deleted memory would have all tags looked
/// through, which no index leads to by their memory.
///
/// FTS5 merges eight segments of a size at once, not four: most of what an add among many memories
/// costs is merging.
///
/// Each order of `query_memories` has an index that ends in its ties, so that a page is read off
/// it; each filter has one in the default order.
const MIGRATIONS: &[&[&str]] = &[TABLES, CLEANING];

const TABLES: &[&str] = &[
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
    "CREATE VIRTUAL TABLE memories_text USING fts5 (
        folded, content = '', contentless_delete = 1, detail = none,
        tokenize = 'trigram case_sensitive 1'
    )",
    "INSERT INTO memories_text (memories_text, rank) VALUES ('automerge', 8)",
    "CREATE TABLE unindexed (memory INTEGER PRIMARY KEY) STRICT",
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
];

const CLEANING: &[&str] = &[
    "DELETE FROM memory_tags WHERE agent IN (SELECT key FROM agents WHERE instr(name, '/'))",
    "DELETE FROM memories_text WHERE rowid IN (SELECT m.key FROM memories AS m
        JOIN agents AS a ON a.key = m.agent WHERE instr(a.name, '/'))",
    "DELETE FROM unindexed WHERE memory IN (SELECT m.key FROM memories AS m
        JOIN agents AS a ON a.key = m.agent WHERE instr(a.name, '/'))",
    "DELETE FROM memories WHERE agent IN (SELECT key FROM agents WHERE instr(name, '/'))",
    "DELETE FROM agents WHERE instr(name, '/')",
    "UPDATE agents SET moving = NULL WHERE moving = ''",
];

/// Brings the database up to this version.
///
/// # Errors
///
/// `STORAGE_ERROR` for a database of a later version of this program.
pub(in crate::records) fn migrate(transaction: &dyn Transaction) -> Result<(), Error> {
    let version = usize::try_from(version(|statement| transaction.query(statement, 1))?)
        .unwrap_or(usize::MAX);
    let Some(missing) = MIGRATIONS.get(version..) else {
        let message = format!(
            "`memories.db` has version {version}, which a later version of this program made: use \
             that one"
        );
        return Err(Error::new(Code::StorageError, message));
    };
    if missing.is_empty() {
        return Ok(());
    }
    if version == 0 && has_any_table(transaction)? {
        let message = "`memories.db` is another program's: move it away, and try again";
        return Err(Error::new(Code::CorruptedData, message));
    }
    let all = missing.iter().flat_map(|migration| migration.iter());
    let mut statements: Vec<Statement> = all.map(|sql| statement(sql, [])).collect();
    let current = MIGRATIONS.len();
    statements.push(statement(&format!("PRAGMA user_version = {current}"), []));
    transaction.execute(&statements)?;
    Ok(())
}

/// Whether anybody made a table, or something like one.
fn has_any_table(transaction: &dyn Transaction) -> Result<bool, Error> {
    let any = statement("SELECT 1 FROM sqlite_schema", []);
    Ok(!transaction.query(&any, 1)?.rows.is_empty())
}

/// How many migrations the database has seen: 0 for one that is empty.
fn version(query: impl Fn(&Statement) -> Result<Rows, storage::Error>) -> Result<i64, Error> {
    let rows = query(&statement("PRAGMA user_version", []))?.rows;
    rows.first().and_then(|row| row.first()).map_or(Ok(0), integer)
}

/// Whether the tables are there: a database may have been created and left.
pub(super) fn has_tables(
    query: impl Fn(&Statement) -> Result<Rows, storage::Error>,
) -> Result<bool, Error> {
    Ok(version(query)? > 0)
}
