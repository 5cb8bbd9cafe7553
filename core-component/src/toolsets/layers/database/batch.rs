//! The batches of recent memories that wait for a model's summary.

use sha2::{Digest, Sha256};

use super::reader::{IS_SUMMARISABLE, Reader};
use super::row::Row;
use super::schema::Tables;
use super::sql::{integer, into_text, is_in_integers, statement, text};
use super::writer::Writer;
use crate::storage::database::{Transaction, Value};
use crate::time::Timestamp;
use crate::toolsets::layers::error::Error;
use crate::toolsets::layers::memory::{Memory, column_text};

/// The batch of an agent: recent memories for which a model was asked for a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::toolsets::layers) struct Batch {
    pub id: i64,
    /// The ids of the memories, as a JSON array.
    ids: String,
    /// The digest of the memories' texts when the batch was made.
    digest: String,
}

impl Batch {
    /// Whether `memories` are all memories of the batch, with the texts that a model got.
    pub fn is_of(&self, memories: &[Memory]) -> bool {
        self.ids == ids(memories) && self.digest == digest(memories)
    }
}

impl Reader<'_> {
    /// The agent's batch. `None` if the agent has none.
    pub fn batch(&self) -> Result<Option<Batch>, Error> {
        let sql = "SELECT id, ids, digest FROM layers_batches WHERE agent_id = ?1";
        let rows = self.rows("layers_batches", sql, [text(self.agent)], 1)?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        let mut row = row.into_iter();
        let mut next = || row.next().unwrap_or(Value::Null);
        Ok(Some(Batch {
            id: integer(&next())?,
            ids: into_text(next())?,
            digest: into_text(next())?,
        }))
    }

    /// The memories of a batch that still exist and can be summarised, the oldest first.
    pub fn memories_of(&self, batch: &Batch) -> Result<Vec<Memory>, Error> {
        let is_one = is_in_integers(self.dialect(), "id", "?2");
        let sql = format!(
            "SELECT id, memory, created_at FROM recent_memories WHERE agent_id = ?1 \
             AND {is_one} AND {IS_SUMMARISABLE} ORDER BY id"
        );
        let rows =
            self.rows("recent_memories", &sql, [text(self.agent), text(&batch.ids)], u32::MAX)?;
        rows.into_iter().map(|row| Row::new(row).memory()).collect()
    }
}

impl Writer<'_> {
    /// Makes a batch of these memories. The agent must not have one.
    pub fn add_batch(&mut self, memories: &[Memory]) -> Result<Batch, Error> {
        let ids = ids(memories);
        let digest = digest(memories);
        let sql = "INSERT INTO layers_batches (agent_id, ids, digest, created_at) \
                   VALUES (?1, ?2, ?3, ?4) RETURNING id";
        let parameters =
            [self.agent(), text(&ids), text(&digest), Value::Text(column_text(self.now))];
        Ok(Batch { id: self.insert(sql, parameters)?, ids, digest })
    }

    /// Removes the agent's batch, if there is one. The memories of the batch stay.
    pub fn remove_batch(&mut self) -> Result<(), Error> {
        let sql = "DELETE FROM layers_batches WHERE agent_id = ?1";
        self.execute(&[statement(sql, [self.agent()])])
    }
}

/// The agents whose batches have no lease at this moment, the oldest batch first.
pub(in crate::toolsets::layers) fn waiting(
    view: &dyn Transaction,
    now: Timestamp,
) -> Result<Vec<String>, Error> {
    let sql = "SELECT agent_id FROM layers_batches WHERE leased_until <= ?1 ORDER BY id";
    names(view, sql, vec![Value::Integer(now.milliseconds())])
}

/// The agent of a batch. `None` if the batch is no longer stored.
pub(in crate::toolsets::layers) fn agent_of(
    view: &dyn Transaction,
    batch: i64,
) -> Result<Option<String>, Error> {
    let sql = "SELECT agent_id FROM layers_batches WHERE id = ?1";
    Ok(names(view, sql, vec![Value::Integer(batch)])?.pop())
}

fn names(view: &dyn Transaction, sql: &str, with: Vec<Value>) -> Result<Vec<String>, Error> {
    if !Tables::read(view)?.has("layers_batches") {
        return Ok(Vec::new());
    }
    let rows = view.query(&statement(sql, with), u32::MAX)?.rows.into_iter();
    rows.map(|mut row| into_text(row.swap_remove(0))).collect()
}

/// Takes a lease of a batch for `seconds`, so that no other host asks a model for the same summary.
/// Returns false if another host has a lease, or if the batch is no longer stored.
pub(in crate::toolsets::layers) fn lease(
    transaction: &dyn Transaction,
    batch: i64,
    now: Timestamp,
    seconds: u32,
) -> Result<bool, Error> {
    let now = now.milliseconds();
    let until = now.saturating_add(i64::from(seconds) * 1_000);
    let sql = "UPDATE layers_batches SET leased_until = ?2 WHERE id = ?1 AND leased_until <= ?3";
    let parameters = [Value::Integer(batch), Value::Integer(until), Value::Integer(now)];
    let effects = transaction.execute(&[statement(sql, parameters)])?;
    Ok(effects.first().is_some_and(|effect| effect.changes > 0))
}

fn ids(memories: &[Memory]) -> String {
    let ids: Vec<i64> = memories.iter().map(|memory| memory.id).collect();
    serde_json::to_string(&ids).expect("ids are JSON")
}

fn digest(memories: &[Memory]) -> String {
    let texts: Vec<&str> = memories.iter().map(|memory| memory.memory.as_str()).collect();
    let texts = serde_json::to_string(&texts).expect("texts are JSON");
    Sha256::digest(texts).iter().map(|byte| format!("{byte:02x}")).collect()
}
