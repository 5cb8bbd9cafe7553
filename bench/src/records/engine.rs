//! The bare engine: SQLite with the product's tables, indexes and durability, with prepared
//! statements. It has no lock but SQLite's, no checks, no protocol and no component.

use std::path::Path;
use std::process;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Params, params};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::memories::{Filled, Memory, RARE, id};
use super::product::DATABASE;
use crate::comparison::{Contestant, Cost};

/// How many rows one transaction adds when a database is filled.
const FILLED_AT_ONCE: usize = 5_000;

const COLUMNS: &str = "m.key, m.id, m.type, m.content, m.category, m.created_at, m.updated_at, \
    m.accessed_at, m.access_count, m.tags, m.importance, m.archived, m.original";

/// The number of the first added memory, above those of all filled directories.
static NEXT: AtomicUsize = AtomicUsize::new(10_000_000);

/// The values of a memory's columns.
pub struct Row {
    pub kind: i64,
    pub content: String,
    pub category: &'static str,
    pub moment: i64,
    pub tags: String,
    pub importance: i64,
    pub bytes: i64,
    pub folded: String,
}

/// A query of `query_memories`, and its SQL condition.
pub struct Filter {
    pub name: &'static str,
    pub arguments: Value,
    condition: &'static str,
    parameters: Vec<Box<dyn rusqlite::ToSql>>,
}

impl Filter {
    /// One query for each filter. The last one searches for a text.
    pub fn all() -> Vec<Self> {
        let of = |name, arguments, condition, parameters| Self {
            name,
            arguments,
            condition,
            parameters,
        };
        vec![
            of("without a filter", json!({}), "m.agent = ?1 AND m.archived = 0", vec![]),
            of("by `archived`", json!({"archived": true}), "m.agent = ?1", vec![]),
            of(
                "by `type`",
                json!({"type": "learning"}),
                "m.agent = ?1 AND m.archived = 0 AND m.type = ?2",
                vec![Box::new(1)],
            ),
            of(
                "by `importance`",
                json!({"importance": "high"}),
                "m.agent = ?1 AND m.archived = 0 AND m.importance = ?2",
                vec![Box::new(2)],
            ),
            of(
                "by `category`",
                json!({"category": "plan"}),
                "m.agent = ?1 AND m.archived = 0 AND m.category = ?2",
                vec![Box::new("plan")],
            ),
            of(
                "by `tags`",
                json!({"tags": ["tag7"]}),
                "+m.agent = ?1 AND m.archived = 0 AND m.key IN \
                 (SELECT memory FROM memory_tags WHERE agent = ?1 AND tag = ?2)",
                vec![Box::new("tag7")],
            ),
            of(
                "by `search`, a rare term",
                json!({"search": RARE}),
                "m.agent = ?1 AND m.archived = 0 \
                 AND (instr(lower(m.content), ?2) > 0 OR instr(m.folded, ?2) > 0)",
                vec![Box::new(RARE)],
            ),
        ]
    }
}

/// A connection to the database of a directory of records.
pub struct Engine(Connection);

impl Engine {
    pub fn open(directory: &Path) -> rusqlite::Result<Self> {
        let database = Connection::open(directory.join(DATABASE))?;
        database.pragma_update(None, "foreign_keys", true)?;
        database.pragma_update(None, "synchronous", "FULL")?;
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        database.set_prepared_statement_cache_capacity(64);
        Ok(Self(database))
    }

    /// Adds many rows without syncing each.
    pub fn fill(&self, memories: impl Iterator<Item = Memory>) -> rusqlite::Result<()> {
        self.0.pragma_update(None, "synchronous", "OFF")?;
        self.0.pragma_update(None, "cache_size", -500_000)?;
        let mut rows = memories.map(|memory| memory.row()).zip((1..).map(id)).peekable();
        while rows.peek().is_some() {
            let some: Vec<(Row, String)> = rows.by_ref().take(FILLED_AT_ONCE).collect();
            self.run("BEGIN IMMEDIATE", [])?;
            for (row, id) in &some {
                self.insert_row(row, id)?;
                self.insert_tags(row, self.0.last_insert_rowid())?;
            }
            self.run("COMMIT", [])?;
        }
        self.0.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    fn run(&self, sql: &str, parameters: impl Params) -> rusqlite::Result<()> {
        self.0.prepare_cached(sql)?.execute(parameters).map(drop)
    }

    fn add(&self, row: &Row, id: &str) -> rusqlite::Result<()> {
        self.run("BEGIN IMMEDIATE", [])?;
        let sql = format!("SELECT {COLUMNS} FROM memories AS m WHERE m.agent = ?1 AND m.id = ?2");
        assert!(!self.0.prepare_cached(&sql)?.exists(params![1, id])?, "no id is taken");
        self.insert_row(row, id)?;
        self.insert_tags(row, self.0.last_insert_rowid())?;
        self.run("COMMIT", [])
    }

    fn insert_row(&self, row: &Row, id: &str) -> rusqlite::Result<()> {
        let Row { kind, content, category, moment, tags, importance, bytes, folded } = row;
        // The column stores only the end of the folded text: the content is ASCII, so SQLite's `lower`
        // gives the rest.
        let folded = &folded[content.len()..];
        self.run(
            "INSERT INTO memories (agent, id, type, content, category, created_at, updated_at, \
             accessed_at, access_count, tags, importance, archived, bytes, folded, stamp) \
             VALUES (1, ?1, ?2, ?3, ?4, ?5, ?5, ?5, 0, ?6, ?7, 0, ?8, ?9, ?5)",
            params![id, kind, content, category, moment, tags, importance, bytes, folded],
        )
    }

    fn insert_tags(&self, row: &Row, key: i64) -> rusqlite::Result<()> {
        self.run(
            "INSERT OR IGNORE INTO memory_tags (agent, tag, memory, archived) \
             SELECT 1, value, ?1, 0 FROM json_each(?2)",
            params![key, row.tags],
        )
    }

    /// Reads the page of results, and counts all results.
    fn query(&self, filter: &Filter) -> rusqlite::Result<()> {
        let from = format!("FROM memories AS m WHERE {}", filter.condition);
        let mut parameters: Vec<&dyn rusqlite::ToSql> = vec![&1];
        parameters.extend(filter.parameters.iter().map(AsRef::as_ref));
        let count = format!("SELECT count(*) {from}");
        let total: i64 =
            self.0.prepare_cached(&count)?.query_row(&*parameters, |row| row.get(0))?;
        let page = format!(
            "SELECT {COLUMNS} {from} ORDER BY m.accessed_at DESC, m.created_at DESC, m.id LIMIT 10"
        );
        let found = self.keys(&page, &*parameters)?.len();
        assert_eq!(found as i64, total.min(10));
        Ok(())
    }

    /// Reads every column of some rows, and returns their keys.
    fn keys(&self, sql: &str, parameters: impl Params) -> rusqlite::Result<Vec<i64>> {
        let mut statement = self.0.prepare_cached(sql)?;
        let columns = statement.column_count();
        let rows = statement.query_map(parameters, |row| {
            for column in 0..columns {
                std::hint::black_box(row.get::<_, rusqlite::types::Value>(column)?);
            }
            row.get(0)
        });
        rows?.collect()
    }

    fn recall(&self, moment: i64) -> rusqlite::Result<()> {
        self.run("BEGIN IMMEDIATE", [])?;
        let page = format!(
            "SELECT {COLUMNS} FROM memories AS m WHERE m.agent = 1 AND m.archived = 0 \
             ORDER BY m.accessed_at DESC, m.created_at DESC, m.id LIMIT 20"
        );
        for key in self.keys(&page, [])? {
            let update = "UPDATE memories SET accessed_at = ?2, access_count = access_count + 1 \
                          WHERE key = ?1";
            self.run(update, [key, moment])?;
        }
        self.run("COMMIT", [])
    }
}

/// The work of the engine in a turn.
pub enum Task {
    /// Adds of these rows, with new ids.
    Add(Vec<Row>),
    Query(Filter, usize),
    /// Recalls: their number, and the time of the first. They are a millisecond apart.
    Recall(usize, i64),
}

/// The bare engine as a contestant.
pub struct BareEngine {
    name: String,
    engine: Engine,
    task: Task,
    _directory: Rc<TempDir>,
}

impl BareEngine {
    pub const NAME: &str = "bare engine";

    pub fn new(filled: Filled, task: Task) -> std::io::Result<Self> {
        let engine = Engine::open(filled.directory.path()).map_err(std::io::Error::other)?;
        Ok(Self { name: Self::NAME.to_owned(), engine, task, _directory: filled.directory })
    }

    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl Contestant for BareEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn take_turn(&mut self) -> std::io::Result<Cost> {
        let Self { engine, task, .. } = self;
        let calls = match task {
            Task::Add(rows) => rows.len(),
            Task::Query(_, calls) | Task::Recall(calls, _) => *calls,
        };
        Cost::between(process::id(), calls, || {
            let done = match task {
                Task::Add(rows) => rows
                    .iter()
                    .try_for_each(|row| engine.add(row, &id(NEXT.fetch_add(1, Ordering::Relaxed)))),
                Task::Query(filter, _) => (0..calls).try_for_each(|_| engine.query(filter)),
                Task::Recall(_, moment) => (0..calls).try_for_each(|_| {
                    *moment += 1;
                    engine.recall(*moment)
                }),
            };
            done.map_err(std::io::Error::other)
        })
    }
}
