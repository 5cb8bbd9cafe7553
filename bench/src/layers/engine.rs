//! The bare engine: SQLite with the table, indexes and word index of a plain program, with prepared
//! statements and the product's durability. It has no checks, no protocol and no component, and adds
//! each text to the word index at once.

use std::path::Path;
use std::process;
use std::rc::Rc;

use rusqlite::{Connection, ToSql, params};
use tempfile::TempDir;

use super::episodes::{AGENT, Episode};
use super::search::Search;
use crate::comparison::{Contestant, Cost};

/// The file of the plain program.
pub const DATABASE: &str = "plain.db";

/// How many rows one transaction adds when a database is filled.
const FILLED_AT_ONCE: usize = 5_000;

const TABLES: &str = "
    CREATE TABLE episodes (
        id INTEGER PRIMARY KEY, agent TEXT NOT NULL, memory TEXT NOT NULL, tags TEXT,
        created_at TEXT NOT NULL
    );
    CREATE INDEX episodes_by_moment ON episodes (agent, created_at);
    CREATE VIRTUAL TABLE episodes_text USING fts5 (
        memory, tags, content = 'episodes', content_rowid = 'id', detail = none
    );";

const COLUMNS: &str = "e.id, e.memory, e.tags, e.created_at";

/// A connection to the database of a plain program.
pub struct Engine(Connection);

/// Makes the database and adds episodes without syncing each.
pub fn fill(directory: &Path, episodes: impl Iterator<Item = Episode>) -> rusqlite::Result<()> {
    let Engine(database) = Engine::open(directory)?;
    database.pragma_update(None, "synchronous", "OFF")?;
    database.pragma_update(None, "cache_size", -500_000)?;
    database.execute_batch(TABLES)?;
    let engine = Engine(database);
    let mut episodes = episodes.peekable();
    while episodes.peek().is_some() {
        engine.0.execute_batch("BEGIN IMMEDIATE")?;
        for episode in episodes.by_ref().take(FILLED_AT_ONCE) {
            engine.insert(&episode)?;
        }
        engine.0.execute_batch("COMMIT")?;
    }
    engine.0.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

impl Engine {
    pub fn open(directory: &Path) -> rusqlite::Result<Self> {
        let database = Connection::open(directory.join(DATABASE))?;
        database.pragma_update(None, "journal_mode", "WAL")?;
        database.pragma_update(None, "synchronous", "FULL")?;
        database.set_prepared_statement_cache_capacity(64);
        Ok(Self(database))
    }

    fn add(&self, episode: &Episode) -> rusqlite::Result<()> {
        self.0.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        self.insert(episode)?;
        self.0.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    fn insert(&self, episode: &Episode) -> rusqlite::Result<()> {
        let Episode { memory, tags, .. } = episode;
        let row = "INSERT INTO episodes (agent, memory, tags, created_at) VALUES (?1, ?2, ?3, ?4)";
        self.0.prepare_cached(row)?.execute(params![AGENT, memory, tags, episode.created_at()])?;
        let text = "INSERT INTO episodes_text (rowid, memory, tags) VALUES (?1, ?2, ?3)";
        let id = self.0.last_insert_rowid();
        self.0.prepare_cached(text)?.execute(params![id, memory, tags]).map(drop)
    }

    /// The ids of the episodes found, the newest first. Reads every column.
    pub fn find(&self, search: &Search) -> rusqlite::Result<Vec<i64>> {
        let agent = AGENT.to_owned();
        let mut parameters: Vec<&dyn ToSql> = vec![&agent, &search.limit];
        let mut bind = |value| {
            parameters.push(value);
            format!("?{}", parameters.len())
        };
        let words = search.words.as_ref().map(|word| format!("{word}*"));
        let dates = search.dates();
        let mut condition = "e.agent = ?1".to_owned();
        if let Some(words) = &words {
            condition += &format!(" AND episodes_text MATCH {}", bind(words));
        }
        if let Some((from, to)) = &dates {
            let from = bind(from);
            let to = bind(to);
            condition += &format!(" AND e.created_at >= {from} AND e.created_at <= {to}");
        }
        let (from, order) = match words {
            None => ("episodes AS e", "e.created_at DESC, e.id DESC"),
            Some(_) => (
                "episodes_text CROSS JOIN episodes AS e ON e.id = episodes_text.rowid",
                "episodes_text.rowid DESC",
            ),
        };
        let sql =
            format!("SELECT {COLUMNS} FROM {from} WHERE {condition} ORDER BY {order} LIMIT ?2");
        let mut statement = self.0.prepare_cached(&sql)?;
        let columns = statement.column_count();
        let rows = statement.query_map(&*parameters, |row| {
            for column in 0..columns {
                std::hint::black_box(row.get::<_, rusqlite::types::Value>(column)?);
            }
            row.get(0)
        });
        rows?.collect()
    }
}

/// The work of the engine in a turn.
pub enum Task {
    /// Adds of episodes with these numbers.
    Add(std::ops::Range<usize>),
    Find(Search, usize),
}

/// The bare engine as a contestant.
pub struct BareEngine {
    engine: Engine,
    task: Task,
    _directory: Rc<TempDir>,
}

impl BareEngine {
    pub const NAME: &str = "bare engine";

    pub fn new(directory: Rc<TempDir>, task: Task) -> std::io::Result<Self> {
        let engine = Engine::open(directory.path()).map_err(std::io::Error::other)?;
        Ok(Self { engine, task, _directory: directory })
    }
}

impl Contestant for BareEngine {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn take_turn(&mut self) -> std::io::Result<Cost> {
        let Self { engine, task, .. } = self;
        let calls = match task {
            Task::Add(numbers) => numbers.len(),
            Task::Find(_, calls) => *calls,
        };
        Cost::between(process::id(), calls, || {
            let done = match task {
                Task::Add(numbers) => {
                    numbers.clone().map(Episode::new).try_for_each(|episode| engine.add(&episode))
                }
                Task::Find(search, _) => (0..calls).try_for_each(|_| engine.find(search).map(drop)),
            };
            done.map_err(std::io::Error::other)
        })
    }
}
