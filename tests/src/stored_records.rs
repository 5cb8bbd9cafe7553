//! The contents of a directory of records, read without the product.

use std::fs;
use std::path::Path;

use agent_memory_conformance::case::Format;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// The agent whose tasks are read.
pub const AGENT: &str = "default";

/// The fields of a stored memory that tests compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMemory {
    /// Its text.
    pub content: String,
    /// How often it was recalled.
    pub access_count: u64,
}

/// The tasks of the [`AGENT`] in the order in which they were added.
///
/// # Panics
///
/// If the file or its backup is not JSON, or if the database is damaged or its tables contradict each
/// other.
pub fn tasks(directory: &Path, format: Format) -> Vec<StoredMemory> {
    match format {
        Format::Json => in_file(directory),
        Format::Sqlite => in_database(directory),
    }
}

/// The names of unexpected files: they belong neither to a format nor to the host.
pub fn strays(directory: &Path) -> Vec<String> {
    let expected = ["default.json", "default.json.backup", "memories.db", ".agent-memory"];
    let entries = fs::read_dir(directory).into_iter().flatten();
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.into_string().expect("names are UTF-8"));
    let is_ours = |name: &String| {
        let base = name.strip_suffix("-wal").or(name.strip_suffix("-shm")).unwrap_or(name);
        expected.contains(&base)
    };
    names.filter(|name| !is_ours(name)).collect()
}

fn in_file(directory: &Path) -> Vec<StoredMemory> {
    let parsed = |name: &str| -> Option<Value> {
        let text = fs::read(directory.join(name)).ok()?;
        let parsed = serde_json::from_slice(&text);
        Some(parsed.unwrap_or_else(|error| panic!("`{name}` is broken: {error}")))
    };
    parsed(&format!("{AGENT}.json.backup"));
    let Some(file) = parsed(&format!("{AGENT}.json")) else { return Vec::new() };
    let kept = |task: &Value| StoredMemory {
        content: task["content"].as_str().expect("text").to_owned(),
        access_count: task["access_count"].as_u64().expect("a count"),
    };
    file["tasks"].as_array().expect("an array").iter().map(kept).collect()
}

fn in_database(directory: &Path) -> Vec<StoredMemory> {
    let path = directory.join("memories.db");
    if !path.exists() {
        return Vec::new();
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let database = Connection::open_with_flags(path, flags).expect("the database opens");
    let text = |sql: &str| -> String {
        database.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|e| panic!("{sql}: {e}"))
    };
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    if text("SELECT count(*) || '' FROM sqlite_schema") == "0" {
        return Vec::new();
    }
    let contradictions = [
        "SELECT count(*) || '' FROM memory_tags WHERE memory NOT IN (SELECT key FROM memories)",
        "SELECT count(*) || '' FROM memories AS m, json_each(m.tags) AS t WHERE NOT EXISTS \
         (SELECT 1 FROM memory_tags WHERE agent = m.agent AND tag = t.value AND memory = m.key)",
    ];
    for sql in contradictions {
        assert_eq!(text(sql), "0", "{sql}");
    }
    let sql = "SELECT m.content, m.access_count FROM memories AS m \
               JOIN agents AS a ON a.key = m.agent WHERE a.name = ?1 ORDER BY m.key";
    let mut statement = database.prepare(sql).expect("the tables are there");
    let rows = statement.query_map([AGENT], |row| {
        Ok(StoredMemory { content: row.get(0)?, access_count: row.get::<_, i64>(1)? as u64 })
    });
    rows.and_then(Iterator::collect).expect("rows")
}
