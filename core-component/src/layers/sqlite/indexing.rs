//! The index of words and of their stems: which rows it has, and how it catches up.
//!
//! There is no trigger on the tables of spec 002: its program writes to them without FTS5. So our tables
//! say for each agent up to which id its rows are indexed, and a writer of the layer indexes those
//! that wait: many at a time, because each transaction that writes to FTS5 costs a segment. A search
//! looks at each row beyond.

use super::sql::{integer, into_text, statement, text};
use crate::layers::error::Error;
use crate::ranking::each_stem;
use crate::storage::database::{Statement, Transaction, Value};
use crate::words::{index_text, words};

/// So many rows wait before a writer indexes them.
const GATHERED: i64 = 32;

/// The most rows that are indexed at once.
const MOST: i64 = 256;

/// A longer text is indexed up to here, in characters. Later words of it are found while the row
/// waits, or while the layer is short enough to be read. [`MOST`] such texts fit in one answer of
/// storage (16 MiB).
const MAX_TEXT: usize = 10_000;

/// A layer that is searched.
pub(super) struct Layer {
    pub table: &'static str,
    /// In the order in which a row is read.
    pub columns: &'static str,
    /// SQL for the text that is searched. Empty if the row cannot be read.
    text: &'static str,
    /// When a row was made.
    pub moment: &'static str,
    /// Whether spec 002 has an index of them.
    pub has_index_of_moments: bool,
    pub index: &'static str,
    /// Of `layers_agents`.
    cursor: &'static str,
}

pub(super) const EPISODES: Layer = Layer {
    table: "episodic_memories",
    columns: "m.id, m.memory, m.tags, m.created_at",
    text: "CASE WHEN typeof(memory) = 'text' AND typeof(tags) <> 'blob' \
           THEN memory || char(10) || coalesce(tags, '') ELSE '' END",
    moment: "m.created_at",
    has_index_of_moments: true,
    index: "layers_episode_words",
    cursor: "episodes_indexed",
};

pub(super) const COMPOST: Layer = Layer {
    table: "memory_compost",
    columns: "m.id, m.summary, m.original_count, m.archived_at",
    text: "CASE WHEN typeof(summary) = 'text' THEN summary ELSE '' END",
    moment: "m.archived_at",
    has_index_of_moments: false,
    index: "layers_compost_words",
    cursor: "compost_indexed",
};

/// Indexes rows of an agent beyond an id, where enough of them wait.
pub(super) fn catch_up(
    transaction: &dyn Transaction,
    agent: &str,
    layer: &Layer,
    indexed: i64,
) -> Result<(), Error> {
    let Layer { table, text: searched, cursor, .. } = layer;
    let waiting = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {table} WHERE agent_id = ?1 AND id > ?2 LIMIT ?3)"
    );
    let of_agent = |most: i64| [text(agent), Value::Integer(indexed), Value::Integer(most)];
    let rows = transaction.query(&statement(&waiting, of_agent(GATHERED)), 1)?.rows;
    if rows.first().map_or(Ok(0), |row| integer(&row[0]))? < GATHERED {
        return Ok(());
    }
    let next = format!(
        "SELECT id, substr({searched}, 1, {MAX_TEXT}) FROM {table} \
         WHERE agent_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
    );
    let rows = transaction.query(&statement(&next, of_agent(MOST)), MOST as u32)?.rows;
    let (last, mut statements) = insertions(agent, layer, rows)?;
    let advance = format!("UPDATE layers_agents SET {cursor} = ?2 WHERE agent_id = ?1");
    statements.push(statement(&advance, [text(agent), Value::Integer(last.unwrap_or(indexed))]));
    transaction.execute(&statements)?;
    Ok(())
}

/// Indexes changed rows anew, a JSON array of their ids, and wipes out what the index had of them:
/// FTS5 only marks what is deleted, until all of it is written anew.
pub(super) fn index_again(
    transaction: &dyn Transaction,
    agent: &str,
    layer: &Layer,
    indexed: i64,
    ids: Value,
) -> Result<(), Error> {
    let Layer { table, text: searched, index, .. } = layer;
    let changed = format!(
        "SELECT id, substr({searched}, 1, {MAX_TEXT}) FROM {table} WHERE agent_id = ?1 AND id <= ?2 \
         AND id > ?3 AND id IN (SELECT value FROM json_each(?4)) ORDER BY id LIMIT {MOST}"
    );
    let mut after = i64::MIN;
    loop {
        let bounds = [Value::Integer(indexed), Value::Integer(after)];
        let parameters: Vec<Value> =
            [text(agent)].into_iter().chain(bounds).chain([ids.clone()]).collect();
        let rows = transaction.query(&statement(&changed, parameters), MOST as u32)?.rows;
        let (last, statements) = insertions(agent, layer, rows)?;
        let Some(last) = last else { break };
        transaction.execute(&statements)?;
        after = last;
    }
    let optimize = format!("INSERT INTO {index} ({index}) VALUES ('optimize')");
    transaction.execute(&[statement(&optimize, [])])?;
    Ok(())
}

/// The statements that index rows of id and text; the last id.
fn insertions(
    agent: &str,
    layer: &Layer,
    rows: Vec<Vec<Value>>,
) -> Result<(Option<i64>, Vec<Statement>), Error> {
    let insert = format!("INSERT OR REPLACE INTO {} (rowid, words) VALUES (?1, ?2)", layer.index);
    let (mut last, mut statements) = (None, Vec::new());
    for row in rows {
        let id = integer(&row[0])?;
        let searched = into_text(row.into_iter().nth(1).unwrap_or(Value::Null))?;
        let mut stems = Vec::new();
        each_stem(&searched, |_, stem| stems.push(stem.to_owned()));
        let tokens = Value::Text(index_text(agent, &words(&searched), &stems));
        statements.push(statement(&insert, [Value::Integer(id), tokens]));
        last = Some(id);
    }
    Ok((last, statements))
}
