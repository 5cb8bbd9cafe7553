//! The space of records in SQLite, beside a plain table with a trigram index of its texts.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::{Connection, params};

use crate::figure::thousands;
use crate::records::{DATABASE, Filled, Memory};
use crate::sizes::Sizes;

/// The aim, relative to the trigram index.
const SPACE: f64 = 0.75;

const TABLES: &str = "
    CREATE TABLE memories (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type INTEGER NOT NULL,
        content TEXT NOT NULL, category TEXT, tags TEXT NOT NULL, importance INTEGER NOT NULL,
        created_at INTEGER NOT NULL
    );
    CREATE INDEX memories_by_created_at ON memories (created_at);
    CREATE VIRTUAL TABLE memories_text USING fts5 (
        text, content = '', detail = none, tokenize = 'trigram'
    );
    BEGIN;";

pub fn sizes(directory: &Path, filled: &Filled) -> io::Result<Sizes> {
    let scratch = tempfile::Builder::new().prefix("bench-search-").tempdir_in(directory)?;
    let plain = scratch.path().join("plain.db");
    fill(&plain, filled.memories()).map_err(io::Error::other)?;
    let ours = filled.directory.path().join(DATABASE);
    Ok(Sizes {
        title: format!("space of {} memories of 1 KB in SQLite", thousands(filled.memories())),
        rows: vec![
            ("plain, with trigrams", fs::metadata(plain)?.len()),
            ("ours", fs::metadata(ours)?.len()),
        ],
        at_most: SPACE,
    })
}

fn fill(path: &Path, memories: usize) -> rusqlite::Result<()> {
    let database = Connection::open(path)?;
    database.execute_batch(TABLES)?;
    for number in 0..memories {
        let memory = Memory::new(number);
        let row = memory.row();
        let key = number as i64;
        let insert = "INSERT INTO memories VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        database.prepare_cached(insert)?.execute(params![
            key,
            crate::records::id(number),
            row.kind,
            row.content,
            row.category,
            row.tags,
            row.importance,
            row.moment
        ])?;
        let index = "INSERT INTO memories_text (rowid, text) VALUES (?1, ?2)";
        database.prepare_cached(index)?.execute(params![key, row.folded])?;
    }
    database.execute_batch("COMMIT")
}
