//! The tables of spec 002, and this toolset's own tables in the same database.

use std::collections::BTreeSet;

use super::sql::{integer, into_text, statement};
use crate::storage::database::{Dialect, Statement, Transaction};
use crate::toolsets::layers::error::{Code, Error};

/// The tables and indexes: those of spec 002, word for word, and our own. SQLite's `user_version`
/// stays free for the program of spec 002.
///
/// - `layers_agents` has the name of each agent.
/// - `layers_summaries` is the log of summarisations: the id of a summary in the compost, the first and
///   the last id of the recent memories that it replaced, and its author.
/// - `layers_batches` has the recent memories that wait for a summary by a model, at most one batch an
///   agent: their ids as a JSON array, and a digest of their texts. `leased_until` is in milliseconds
///   since 1970.
///
/// No table is `STRICT`: SQLite before 3.37, which the program of spec 002 may use, could not open
/// a database with such a table.
pub(in crate::toolsets::layers) const SQLITE_TABLES: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS core_memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL,
    memory TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    UNIQUE(agent_id, memory)
)",
    "CREATE INDEX IF NOT EXISTS idx_core_agent ON core_memories(agent_id)",
    "CREATE TABLE IF NOT EXISTS recent_memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL,
    memory TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
)",
    "CREATE INDEX IF NOT EXISTS idx_recent_agent ON recent_memories(agent_id)",
    "CREATE TABLE IF NOT EXISTS current_task (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    started_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
)",
    "CREATE TABLE IF NOT EXISTS episodic_memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL,
    memory TEXT NOT NULL,
    tags TEXT,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
)",
    "CREATE INDEX IF NOT EXISTS idx_episodic_agent ON episodic_memories(agent_id)",
    "CREATE INDEX IF NOT EXISTS idx_episodic_created ON episodic_memories(created_at)",
    "CREATE TABLE IF NOT EXISTS memory_compost (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL,
    summary TEXT NOT NULL,
    original_count INTEGER DEFAULT 0,
    archived_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
)",
    "CREATE INDEX IF NOT EXISTS idx_compost_agent ON memory_compost(agent_id)",
    // This toolset's own tables.
    "CREATE TABLE IF NOT EXISTS layers_schema (version INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS layers_agents (agent_id TEXT PRIMARY KEY)",
    "CREATE INDEX IF NOT EXISTS layers_agents_by_name ON layers_agents (agent_id COLLATE NOCASE)",
    "CREATE TABLE IF NOT EXISTS layers_summaries (
    id INTEGER PRIMARY KEY,
    agent_id TEXT NOT NULL,
    compost_id INTEGER NOT NULL,
    original_count INTEGER NOT NULL,
    first_id INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    summarizer TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
)",
    "CREATE TABLE IF NOT EXISTS layers_batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL UNIQUE,
    ids TEXT NOT NULL,
    digest TEXT NOT NULL,
    leased_until INTEGER NOT NULL DEFAULT 0,
    created_at TIMESTAMP NOT NULL
)",
    // Adds the agents whose rows the program of spec 002 has written.
    "INSERT OR IGNORE INTO layers_agents (agent_id)
    SELECT agent_id FROM core_memories UNION SELECT agent_id FROM recent_memories
    UNION SELECT agent_id FROM current_task UNION SELECT agent_id FROM episodic_memories
    UNION SELECT agent_id FROM memory_compost",
    "DELETE FROM layers_schema",
    "INSERT INTO layers_schema (version) VALUES (1)",
];

/// The tables of spec 002.
const SPEC_TABLES: [&str; 5] =
    ["core_memories", "recent_memories", "current_task", "episodic_memories", "memory_compost"];

/// The tables on PostgreSQL, where no other program writes to them. Moments are text, as in SQLite.
/// `lower_id` is the name with its ASCII letters in lower case, to compare names as `NOCASE` does:
/// with the collation `C`, `lower` changes only ASCII letters.
pub(in crate::toolsets::layers) const POSTGRES_TABLES: &[&str] = &[
    r#"CREATE TABLE core_memories (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent_id text COLLATE "C" NOT NULL,
        memory text COLLATE "C" NOT NULL,
        created_at text COLLATE "C",
        PRIMARY KEY (tenant, id)
    )"#,
    "CREATE INDEX core_memories_by_agent ON core_memories (tenant, agent_id, id)",
    r#"CREATE TABLE recent_memories (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent_id text COLLATE "C" NOT NULL,
        memory text COLLATE "C" NOT NULL,
        created_at text COLLATE "C",
        PRIMARY KEY (tenant, id)
    )"#,
    "CREATE INDEX recent_memories_by_agent ON recent_memories (tenant, agent_id, id)",
    r#"CREATE TABLE current_task (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent_id text COLLATE "C" NOT NULL,
        task text COLLATE "C" NOT NULL,
        started_at text COLLATE "C",
        updated_at text COLLATE "C",
        PRIMARY KEY (tenant, id),
        UNIQUE (tenant, agent_id)
    )"#,
    r#"CREATE TABLE episodic_memories (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent_id text COLLATE "C" NOT NULL,
        memory text COLLATE "C" NOT NULL,
        tags text COLLATE "C",
        created_at text COLLATE "C",
        PRIMARY KEY (tenant, id)
    )"#,
    "CREATE INDEX episodic_memories_by_agent ON episodic_memories (tenant, agent_id, id)",
    "CREATE INDEX episodic_memories_by_moment ON episodic_memories (tenant, created_at)",
    r#"CREATE TABLE memory_compost (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent_id text COLLATE "C" NOT NULL,
        summary text COLLATE "C" NOT NULL,
        original_count bigint,
        archived_at text COLLATE "C",
        PRIMARY KEY (tenant, id)
    )"#,
    "CREATE INDEX memory_compost_by_agent ON memory_compost (tenant, agent_id, id)",
    r#"CREATE TABLE layers_agents (
        tenant tenant,
        agent_id text COLLATE "C" NOT NULL,
        lower_id text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(agent_id)) STORED,
        PRIMARY KEY (tenant, agent_id)
    )"#,
    "CREATE INDEX layers_agents_by_lower_id ON layers_agents (tenant, lower_id)",
    r#"CREATE TABLE layers_summaries (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent_id text COLLATE "C" NOT NULL,
        compost_id bigint NOT NULL,
        original_count bigint NOT NULL,
        first_id bigint NOT NULL,
        last_id bigint NOT NULL,
        summarizer text COLLATE "C" NOT NULL,
        created_at text COLLATE "C" NOT NULL,
        PRIMARY KEY (tenant, id)
    )"#,
    r#"CREATE TABLE layers_batches (
        tenant tenant,
        id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        agent_id text COLLATE "C" NOT NULL,
        ids text COLLATE "C" NOT NULL,
        digest text COLLATE "C" NOT NULL,
        leased_until bigint NOT NULL DEFAULT 0,
        created_at text COLLATE "C" NOT NULL,
        PRIMARY KEY (tenant, id),
        UNIQUE (tenant, agent_id)
    )"#,
];

/// This toolset's own tables.
const OUR_TABLES: [&str; 4] =
    ["layers_schema", "layers_agents", "layers_summaries", "layers_batches"];

/// The version of this toolset's own tables. The last statement of [`SQLITE_TABLES`] stores it.
const VERSION: i64 = 1;

/// The tables that a database has.
pub(super) struct Tables(BTreeSet<String>);

impl Tables {
    pub fn none() -> Self {
        Self(BTreeSet::new())
    }

    /// Reads which tables the database has.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` for a database of another program.
    pub fn read(view: &dyn Transaction) -> Result<Self, Error> {
        if view.dialect() == Dialect::Postgres {
            let tables = SPEC_TABLES.iter().chain(&OUR_TABLES);
            return Ok(Self(tables.map(|table| (*table).to_owned()).collect()));
        }
        let tables = statement("SELECT name FROM sqlite_schema WHERE type = 'table'", []);
        let rows = view.query(&tables, 10_000)?.rows.into_iter();
        let names = rows.map(|mut row| into_text(row.swap_remove(0)));
        let tables = Self(names.collect::<Result<_, Error>>()?);
        tables.check()?;
        Ok(tables)
    }

    pub fn has(&self, table: &str) -> bool {
        self.0.contains(table)
    }

    /// Whether all of this toolset's own tables exist.
    pub fn has_ours(&self) -> bool {
        OUR_TABLES.iter().all(|table| self.has(table))
    }

    /// Checks that the database is empty or has a known table.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA` for a database of another program.
    fn check(&self) -> Result<(), Error> {
        let known = || SPEC_TABLES.iter().chain(&OUR_TABLES).any(|table| self.has(table));
        if self.0.is_empty() || known() {
            return Ok(());
        }
        let message = "the database of layers is another program's: name another file in the \
                       settings of the host, or move it away";
        Err(Error::new(Code::CorruptedData, message))
    }

    /// Whether all tables of spec 002 exist.
    pub fn has_spec(&self) -> bool {
        SPEC_TABLES.iter().all(|table| self.has(table))
    }
}

/// Creates the tables and indexes that are missing. Returns the tables that exist then.
///
/// # Errors
///
/// `STORAGE_ERROR` for tables of a later version of this program, `CORRUPTED_DATA` for a database
/// of another program.
pub(super) fn prepare(transaction: &dyn Transaction) -> Result<Tables, Error> {
    let tables = Tables::read(transaction)?;
    if tables.has("layers_schema") {
        check_version(transaction)?;
    }
    if tables.has_ours() && tables.has_spec() {
        return Ok(tables);
    }
    let statements: Vec<Statement> = SQLITE_TABLES.iter().map(|sql| statement(sql, [])).collect();
    transaction.execute(&statements)?;
    Tables::read(transaction)
}

/// Checks the version of this toolset's own tables.
///
/// # Errors
///
/// `STORAGE_ERROR` for tables of a later version of this program.
pub(super) fn check_version(view: &dyn Transaction) -> Result<(), Error> {
    if view.dialect() == Dialect::Postgres {
        // The host checks the version of all tables.
        return Ok(());
    }
    let rows = view.query(&statement("SELECT version FROM layers_schema", []), 1)?.rows;
    let version = rows.first().and_then(|row| row.first()).map_or(Ok(0), integer)?;
    if version <= VERSION {
        return Ok(());
    }
    let message = format!(
        "the index in the database of layers has version {version}, which a later version of this \
         program made: use that one"
    );
    Err(Error::new(Code::StorageError, message))
}
