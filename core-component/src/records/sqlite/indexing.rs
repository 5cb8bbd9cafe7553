//! The index of texts. New memories are indexed in batches.
//!
//! FTS5 writes a segment for each transaction and merges segments later. So a text that is indexed
//! alone costs several times what it costs in a batch. A new or changed memory is first pending: its
//! key is in the table `unindexed`. As soon as [`BATCH`] memories are pending, the write indexes
//! them. A search reads each pending memory.
//!
//! After the migration of an old database, all memories are pending. Each write indexes some of them.

use std::collections::BTreeSet;

use super::row::tags;
use super::sql::{integer, into_optional_text, into_text, query_one, statement};
use super::vocabulary::{Words, delete_unused_words, json};
use crate::records::error::Error;
use crate::records::memory::Memory;
use crate::storage::database::{Statement, Transaction, Value};

/// As long as fewer memories are pending, none is indexed.
const BATCH: i64 = 32;

/// The most pending memories that a call indexes, besides as many as it adds.
pub(super) const MOST: usize = 256;

/// The number of memories that are read at once: the longest that the tools accept fit in one answer.
const PAGE: usize = 100;

/// Makes memories pending. `keys` is SQL for the rows with their keys.
pub(super) fn make_pending(keys: &str, parameters: &[Value]) -> Statement {
    statement(&format!("INSERT OR IGNORE INTO unindexed (memory) {keys}"), parameters)
}

/// Indexes at most so many pending memories, the oldest first, unless there are too few for a batch.
/// Returns their number.
pub(super) fn index_pending(transaction: &dyn Transaction, most: usize) -> Result<usize, Error> {
    let batch = statement("SELECT 1 FROM unindexed LIMIT 1 OFFSET ?1", [Value::Integer(BATCH - 1)]);
    if query_one(transaction, batch)?.is_none() {
        return Ok(0);
    }
    let mut indexed = 0;
    while indexed < most {
        match index_page(transaction, PAGE.min(most - indexed))? {
            0 => break,
            more => indexed += more,
        }
    }
    Ok(indexed)
}

/// Indexes the first pending memories, and returns their number.
///
/// All words are inserted before the first text: the statement for words opens a savepoint, at which
/// FTS5 writes a segment.
fn index_page(transaction: &dyn Transaction, most: usize) -> Result<usize, Error> {
    let sql = "SELECT u.memory, m.agent, m.content, m.category, m.tags \
               FROM unindexed AS u CROSS JOIN memories AS m ON m.key = u.memory \
               ORDER BY u.memory LIMIT ?1";
    let page = statement(sql, [Value::Integer(most as i64)]);
    let rows = transaction.query(&page, most as u32)?.rows;
    let mut words = Words::default();
    let memories =
        rows.into_iter().map(|row| words_of_row(row, &mut words)).collect::<Result<Vec<_>, _>>()?;
    let Some(last) = memories.last().map(|(key, _)| Value::Integer(*key)) else { return Ok(0) };
    let keys = words.keys(transaction)?;
    let texts = memories.iter().map(|(memory, words)| {
        let tokens: Vec<String> = words.iter().map(|number| keys[*number].to_string()).collect();
        (memory, tokens.join(" "))
    });
    let index = "INSERT INTO memories_words (rowid, words) \
                 SELECT value->>0, value->>1 FROM json_each(?1)";
    transaction.execute(&[
        statement(index, [json(&texts.collect::<Vec<_>>())]),
        statement("DELETE FROM unindexed WHERE memory <= ?1", [last]),
    ])?;
    Ok(memories.len())
}

/// The key of a pending memory, and the numbers of its words.
fn words_of_row(row: Vec<Value>, words: &mut Words) -> Result<(i64, BTreeSet<usize>), Error> {
    let mut values = row.into_iter();
    let mut next = || values.next().unwrap_or(Value::Null);
    let (key, agent) = (integer(&next())?, integer(&next())?);
    let mut of_memory = Vec::new();
    words.add(agent, &into_text(next())?, &mut of_memory);
    let category = into_optional_text(next())?;
    for text in category.into_iter().chain(tags(next())?) {
        words.add(agent, &text, &mut of_memory);
    }
    Ok((key, of_memory.into_iter().collect()))
}

/// Deletes a memory from the index and from the pending ones, with the words that no other memory of
/// the agent has.
pub(super) fn delete_text(
    transaction: &dyn Transaction,
    agent: i64,
    key: i64,
    memory: &Memory,
) -> Result<(), Error> {
    transaction.execute(&delete_texts("VALUES (?1)", &[Value::Integer(key)]))?;
    let mut words = Words::default();
    memory.searched_texts().for_each(|text| words.add(agent, text, &mut Vec::new()));
    delete_unused_words(transaction, agent, &words.texts())
}

/// Deletes memories from the index and from the pending ones. `keys` is SQL for the rows with their
/// keys.
pub(super) fn delete_texts(keys: &str, parameters: &[Value]) -> [Statement; 2] {
    [("memories_words", "rowid"), ("unindexed", "memory")].map(|(table, key)| {
        statement(&format!("DELETE FROM {table} WHERE {key} IN ({keys})"), parameters)
    })
}
