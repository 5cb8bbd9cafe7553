//! A question of eight words, ranked by SQLite itself. Its index has nothing but the texts.

use std::io;
use std::path::Path;
use std::process;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::comparison::{Contestant, Cost};

/// Each of these words is in two thirds of the memories.
pub const QUESTION: &str = "parser outline failing cases runner mistake section figures";

/// SQLite's bm25 over Porter stems, with any word matching.
pub struct Bm25 {
    database: Connection,
    calls: usize,
    _directory: TempDir,
}

impl Bm25 {
    pub const NAME: &str = "bare bm25";

    pub fn new(
        within: &Path,
        texts: impl Iterator<Item = String>,
        calls: usize,
    ) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("bench-search-").tempdir_in(within)?;
        let path = directory.path().join("texts.db");
        let database = filled(&path, texts).map_err(io::Error::other)?;
        Ok(Self { database, calls, _directory: directory })
    }
}

fn filled(path: &Path, texts: impl Iterator<Item = String>) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.execute_batch(
        "CREATE VIRTUAL TABLE texts USING fts5 (text, content = '', tokenize = 'porter unicode61'); \
         BEGIN",
    )?;
    for text in texts {
        database.prepare_cached("INSERT INTO texts (text) VALUES (?1)")?.execute([text])?;
    }
    database.execute_batch("COMMIT")?;
    Ok(database)
}

impl Contestant for Bm25 {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        let any = QUESTION.split(' ').collect::<Vec<_>>().join(" OR ");
        let sql = "SELECT rowid FROM texts WHERE texts MATCH ?1 ORDER BY rank LIMIT 8";
        Cost::between(process::id(), self.calls, || {
            for _ in 0..self.calls {
                let ranked = || -> rusqlite::Result<usize> {
                    let mut statement = self.database.prepare_cached(sql)?;
                    let rows = statement.query_map([&any], |row| row.get::<_, i64>(0))?;
                    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.len())
                };
                let found = ranked().map_err(io::Error::other)?;
                assert_eq!(found, 8);
            }
            Ok(())
        })
    }
}
