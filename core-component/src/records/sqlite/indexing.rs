//! The index of texts, which new memories come into many at a time.
//!
//! To index one text in a transaction of its own costs FTS5 several times what it costs among
//! others: each transaction writes a segment, which is merged with others again and again. So a new
//! memory is noted as `unindexed`, and the one whose key is a multiple of [`GATHERED`] takes all of
//! them into the index. A search passes over those that wait, which are few.

use super::sql::{flag, statement, text};
use crate::records::memory::Memory;
use crate::storage::database::{Statement, Value};

/// So many texts are indexed at once.
const GATHERED: i64 = 32;

/// Longer texts, in bytes, do not wait: they are most of what they cost by themselves.
const LONG: usize = 4096;

/// The rows that a search has to look at, for what the index is asked (`??`).
pub(super) const CANDIDATES: &str = "m.key IN (\
    SELECT rowid FROM memories_text WHERE memories_text MATCH ?? \
    UNION ALL SELECT memory FROM unindexed)";

/// Notes or indexes the memory whose row was inserted last.
pub(super) fn with_new_text(memory: &Memory, folded: &str) -> Statement {
    if folded.len() > LONG {
        let sql = "INSERT INTO memories_text (rowid, folded) VALUES (last_insert_rowid(), ?1)";
        return statement(sql, [text(folded)]);
    }
    let sql = "INSERT INTO unindexed (memory, is_ascii) VALUES (last_insert_rowid(), ?1)";
    statement(sql, [flag(memory.content.is_ascii())])
}

/// Indexes what waits, where the key of the last row says that it is time.
pub(super) fn gather(key: i64) -> Vec<Statement> {
    if key % GATHERED != 0 {
        return Vec::new();
    }
    // `folded` leaves out a content in ASCII.
    let index = "INSERT INTO memories_text (rowid, folded) SELECT key, \
                 CASE WHEN is_ascii THEN lower(content) || folded ELSE folded END \
                 FROM unindexed JOIN memories ON key = memory ORDER BY key";
    vec![statement(index, []), statement("DELETE FROM unindexed", [])]
}

/// Indexes a memory that is not in the index.
pub(super) fn with_text(key: Value, folded: String) -> Statement {
    let sql = "INSERT INTO memories_text (rowid, folded) VALUES (?1, ?2)";
    statement(sql, [key, Value::Text(folded)])
}

/// Forgets the texts of these memories, wherever they are; `keys` is SQL that says which.
pub(super) fn without_texts(keys: &str, parameters: &[Value]) -> [Statement; 2] {
    [("memories_text", "rowid"), ("unindexed", "memory")].map(|(table, key)| {
        statement(&format!("DELETE FROM {table} WHERE {key} IN ({keys})"), parameters)
    })
}
