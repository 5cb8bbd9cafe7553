//! The index of texts, which new memories come into many at a time.
//!
//! To index one text in a transaction of its own costs FTS5 several times what it costs among
//! others: each transaction writes a segment, which is merged with others again and again. So a new
//! memory is noted as `unindexed`, and the one whose key is a multiple of [`GATHERED`], or an
//! import, takes all of them into the index. A search looks at each of those that wait, which are
//! fewer than that: all their keys are between two multiples.

use super::sql::{statement, text};
use crate::storage::database::{Statement, Value};

/// The most texts that are indexed at once.
const GATHERED: i64 = 32;

/// Longer texts, in bytes, do not wait: they are most of what they cost by themselves.
const LONG: usize = 4096;

/// The rows that a search has to look at; `??` is what FTS5 is asked for.
pub(super) const CANDIDATES: &str = "m.key IN (\
    SELECT rowid FROM memories_text WHERE memories_text MATCH ?? \
    UNION ALL SELECT memory FROM unindexed)";

/// Notes or indexes the memory whose row was inserted last.
pub(super) fn index_new_text(folded: &str) -> Statement {
    match folded.len() > LONG {
        true => {
            let sql = "INSERT INTO memories_text (rowid, folded) VALUES (last_insert_rowid(), ?1)";
            statement(sql, [text(folded)])
        }
        false => statement("INSERT INTO unindexed (memory) VALUES (last_insert_rowid())", []),
    }
}

/// Whether it is time to gather, after the memory of this key.
pub(super) fn is_time_to_gather(key: i64) -> bool {
    key % GATHERED == 0
}

/// Indexes all that waits.
///
/// `folded` may leave the content out, see `schema.rs`; with both, trigrams that nobody asks for are
/// indexed as well. It is ordered by `memory` so that SQLite does not pass over all memories.
pub(super) fn gather() -> [Statement; 2] {
    let index = "INSERT INTO memories_text (rowid, folded) \
                 SELECT memory, lower(content) || folded \
                 FROM unindexed CROSS JOIN memories ON key = memory ORDER BY memory";
    [statement(index, []), statement("DELETE FROM unindexed", [])]
}

/// Indexes a memory that is not in the index.
pub(super) fn index_text(key: Value, folded: String) -> Statement {
    let sql = "INSERT INTO memories_text (rowid, folded) VALUES (?1, ?2)";
    statement(sql, [key, Value::Text(folded)])
}

/// Forgets the texts of these memories, wherever they are; `keys` is SQL that says which.
pub(super) fn delete_texts(keys: &str, parameters: &[Value]) -> [Statement; 2] {
    [("memories_text", "rowid"), ("unindexed", "memory")].map(|(table, key)| {
        statement(&format!("DELETE FROM {table} WHERE {key} IN ({keys})"), parameters)
    })
}
