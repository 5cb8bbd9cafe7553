//! The index of texts. New memories are indexed in batches.
//!
//! FTS5 writes a segment for each transaction and merges segments later. So a text that is indexed
//! alone costs several times what it costs in a batch. A new or changed memory is first pending: its
//! key is in the table `unindexed`. As soon as [`BATCH`] memories are pending, the write indexes
//! them. A search for terms reads each pending memory, a ranked search the newest of them.
//!
//! A long import leaves memories pending. Each later write indexes some of them. Very long ones stay
//! pending.

use std::collections::BTreeSet;

use super::row::tags;
use super::sql::{integer, into_optional_text, into_text, query_one, statement};
use super::vocabulary::{Words, delete_unused_words, json};
use crate::records::error::Error;
use crate::records::memory::Memory;
use crate::storage::database::{Statement, Transaction, Value};

/// As long as fewer memories are pending, none is indexed.
const BATCH: i64 = 32;

/// How much a call indexes of what was pending before, as [`cost`] counts it.
pub(super) const MOST: usize = 256 * OF_MEMORY;

/// The cost of a memory besides its texts.
const OF_MEMORY: usize = 1 << 10;

/// How much a call indexes at most, however much it adds. The rest stays pending.
const MOST_OF_CALL: usize = 2 << 20;

/// The most memories that are read at once, and their most bytes, unless one alone has more.
const PAGE: usize = 100;
const PAGE_BYTES: usize = 128 << 10;

/// A memory with more bytes stays pending: its words would take a call too long.
const MAX_INDEXED: usize = 512 << 10;

/// How much time it takes to index a memory, in bytes of ASCII. Other scripts take several times as
/// long.
pub(super) fn cost<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    let of_text = |text: &str| if text.is_ascii() { text.len() } else { 6 * text.len() };
    OF_MEMORY + texts.map(of_text).sum::<usize>()
}

/// Makes memories pending. `keys` is SQL for the rows with their keys.
pub(super) fn make_pending(keys: &str, parameters: &[Value]) -> Statement {
    statement(&format!("INSERT OR IGNORE INTO unindexed (memory) {keys}"), parameters)
}

/// Indexes pending memories, the oldest first, until they cost so much or none is left, unless there
/// are too few for a batch. Returns their cost.
pub(super) fn index_pending(transaction: &dyn Transaction, most: usize) -> Result<usize, Error> {
    let batch = statement("SELECT 1 FROM unindexed LIMIT 1 OFFSET ?1", [Value::Integer(BATCH - 1)]);
    if query_one(transaction, batch)?.is_none() {
        return Ok(0);
    }
    let most = most.min(MOST_OF_CALL);
    let mut indexed = 0;
    while indexed < most {
        match index_page(transaction, PAGE.min((most - indexed).div_ceil(OF_MEMORY)))? {
            0 => break,
            more => indexed += more,
        }
    }
    Ok(indexed)
}

/// Indexes the first pending memories, at most so many, and returns their cost.
///
/// All words are inserted before the first text: the statement for words opens a savepoint, at which
/// FTS5 writes a segment.
fn index_page(transaction: &dyn Transaction, most: usize) -> Result<usize, Error> {
    let page = json(&keys_of_page(transaction, most)?);
    let sql = "SELECT key, agent, content, category, tags FROM memories \
               WHERE key IN (SELECT value FROM json_each(?1)) ORDER BY key";
    let rows = transaction.query(&statement(sql, [page.clone()]), PAGE as u32)?.rows;
    let mut words = Words::default();
    let memories =
        rows.into_iter().map(|row| of_row(row, &mut words)).collect::<Result<Vec<_>, _>>()?;
    if memories.is_empty() {
        return Ok(0);
    }
    let keys = words.keys(transaction)?;
    let texts = memories.iter().map(|Pending { key, words, .. }| {
        let tokens: Vec<String> = words.iter().map(|number| keys[*number].to_string()).collect();
        (key, tokens.join(" "))
    });
    let index = "INSERT INTO memories_words (rowid, words) \
                 SELECT value->>0, value->>1 FROM json_each(?1)";
    let no_longer = "DELETE FROM unindexed WHERE memory IN (SELECT value FROM json_each(?1))";
    transaction.execute(&[
        statement(index, [json(&texts.collect::<Vec<_>>())]),
        statement(no_longer, [page]),
    ])?;
    Ok(memories.iter().map(|memory| memory.cost).sum())
}

/// The keys of the first pending memories that are read at once, at most so many.
fn keys_of_page(transaction: &dyn Transaction, most: usize) -> Result<Vec<i64>, Error> {
    let sql = "SELECT u.memory, m.bytes FROM unindexed AS u CROSS JOIN memories AS m \
               ON m.key = u.memory WHERE m.bytes <= ?1 ORDER BY u.memory LIMIT ?2";
    let parameters = [MAX_INDEXED, most].map(|number| Value::Integer(number as i64));
    let mut room = PAGE_BYTES as i64;
    let mut keys = Vec::new();
    for row in transaction.query(&statement(sql, parameters), most as u32)?.rows {
        room -= integer(&row[1])?;
        if room < 0 && !keys.is_empty() {
            break;
        }
        keys.push(integer(&row[0])?);
    }
    Ok(keys)
}

/// A pending memory with the numbers of its words.
struct Pending {
    key: i64,
    words: BTreeSet<usize>,
    cost: usize,
}

fn of_row(row: Vec<Value>, words: &mut Words) -> Result<Pending, Error> {
    let mut values = row.into_iter();
    let mut next = || values.next().unwrap_or(Value::Null);
    let (key, agent) = (integer(&next())?, integer(&next())?);
    let content = into_text(next())?;
    let category = into_optional_text(next())?;
    let tags = tags(next())?;
    let texts = || [&content].into_iter().chain(&category).chain(&tags).map(String::as_str);
    let mut of_memory = Vec::new();
    texts().for_each(|text| words.add(agent, text, &mut of_memory));
    Ok(Pending { key, words: of_memory.into_iter().collect(), cost: cost(texts()) })
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
