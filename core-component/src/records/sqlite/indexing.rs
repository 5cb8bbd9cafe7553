//! The full-text index. New memories are indexed in batches.
//!
//! FTS5 writes a segment for each transaction and merges segments later. So a text that is indexed
//! alone costs several times what it costs in a batch. A new memory is first pending: its key is in
//! the table `unindexed`. The memory whose key is a multiple of [`BATCH`], or an import, indexes all
//! pending memories. A search reads each pending memory; there are always fewer than [`BATCH`].

use super::sql::{statement, text};
use crate::storage::database::{Statement, Value};

/// The number of new memories in a batch.
const BATCH: i64 = 32;

/// Texts that are longer, in bytes, are indexed by their own call: a batch would save little of
/// their cost.
const LONG: usize = 4096;

/// The condition for rows that a search has to look at. `??` becomes the number of the
/// parameter with the FTS5 query.
pub(super) const CANDIDATES: &str = "m.key IN (\
    SELECT rowid FROM memories_text WHERE memories_text MATCH ?? \
    UNION ALL SELECT memory FROM unindexed)";

/// Makes the memory whose row was inserted last pending. A long one is indexed at once.
pub(super) fn index_new_text(folded: &str) -> Statement {
    match folded.len() > LONG {
        true => {
            let sql = "INSERT INTO memories_text (rowid, folded) VALUES (last_insert_rowid(), ?1)";
            statement(sql, [text(folded)])
        }
        false => statement("INSERT INTO unindexed (memory) VALUES (last_insert_rowid())", []),
    }
}

/// Whether the memory with this key ends a batch.
pub(super) fn ends_batch(key: i64) -> bool {
    key % BATCH == 0
}

/// Indexes all pending memories.
///
/// `folded` may lack the content (see `schema.rs`), so `lower(content)` is indexed with it. `ORDER
/// BY memory` keeps SQLite from reading all memories.
pub(super) fn index_batch() -> [Statement; 2] {
    let index = "INSERT INTO memories_text (rowid, folded) \
                 SELECT memory, lower(content) || folded \
                 FROM unindexed CROSS JOIN memories ON key = memory ORDER BY memory";
    [statement(index, []), statement("DELETE FROM unindexed", [])]
}

/// Indexes one memory, which must not be in the index yet.
pub(super) fn index_text(key: Value, folded: String) -> Statement {
    let sql = "INSERT INTO memories_text (rowid, folded) VALUES (?1, ?2)";
    statement(sql, [key, Value::Text(folded)])
}

/// Deletes memories from the index and from the pending ones. `keys` is SQL for the list of their
/// keys.
pub(super) fn delete_texts(keys: &str, parameters: &[Value]) -> [Statement; 2] {
    [("memories_text", "rowid"), ("unindexed", "memory")].map(|(table, key)| {
        statement(&format!("DELETE FROM {table} WHERE {key} IN ({keys})"), parameters)
    })
}
