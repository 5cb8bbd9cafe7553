//! Changing an agent's rows.

use super::reader::{Reader, returned_id};
use super::schema::prepare;
use super::sql::{is_in_integers, json, statement, text};
use crate::storage::database::{Statement, Transaction, Value};
use crate::time::Timestamp;
use crate::toolsets::layers::error::Error;
use crate::toolsets::layers::memory::{Memory, Task, column_text};

/// The id under which the vector of an agent's task is stored. An agent has at most one task.
pub(in crate::toolsets::layers) const OF_TASK: i64 = 0;

/// Changes to an agent's rows in a write transaction.
pub(in crate::toolsets::layers) struct Writer<'a> {
    pub(super) transaction: &'a dyn Transaction,
    reader: Reader<'a>,
    /// The moment of the call.
    pub now: Timestamp,
    has_changed: bool,
    /// The tables and ids of the rows whose old text is gone. After the commit, the index forgets
    /// these rows.
    pub(in crate::toolsets::layers) forgotten: Vec<(&'static str, Vec<i64>)>,
}

impl<'a> Writer<'a> {
    /// Creates the tables that are missing.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` if another agent's name differs only in case, and the errors of [`prepare`].
    pub fn new(
        transaction: &'a dyn Transaction,
        agent: &'a str,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let tables = prepare(transaction)?;
        let reader = Reader::with_tables(transaction, tables, agent)?;
        Ok(Self { transaction, reader, now, has_changed: false, forgotten: Vec::new() })
    }

    pub fn reader(&self) -> &Reader<'a> {
        &self.reader
    }

    /// Whether anything was changed.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    pub(super) fn execute(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.note_change()?;
        self.transaction.execute(statements)?;
        Ok(())
    }

    /// Inserts a row and returns its id.
    pub(super) fn insert(
        &mut self,
        sql: &str,
        parameters: impl Into<Vec<Value>>,
    ) -> Result<i64, Error> {
        self.note_change()?;
        returned_id(self.transaction, &statement(sql, parameters))
    }

    fn note_change(&mut self) -> Result<(), Error> {
        self.has_changed = true;
        if !self.reader.is_known {
            let sql = "INSERT INTO layers_agents (agent_id) VALUES (?1)";
            self.transaction.execute(&[statement(sql, [self.agent()])])?;
            self.reader.is_known = true;
        }
        Ok(())
    }

    pub(super) fn agent(&self) -> Value {
        text(self.reader.agent)
    }

    fn now_text(&self) -> Value {
        Value::Text(column_text(self.now))
    }

    /// Adds a core memory. Returns the id of the memory, and whether it is new.
    pub fn add_core(&mut self, memory: &str) -> Result<(i64, bool), Error> {
        if let Some(id) = self.reader.core_id(memory)? {
            return Ok((id, false));
        }
        let sql = "INSERT INTO core_memories (agent_id, memory, created_at) VALUES (?1, ?2, ?3) \
                   RETURNING id";
        let id = self.insert(sql, [self.agent(), text(memory), self.now_text()])?;
        Ok((id, true))
    }

    /// Deletes a core memory. Returns whether the agent had it.
    pub fn delete_core(&mut self, id: i64) -> Result<bool, Error> {
        let parameters = [self.agent(), Value::Integer(id)];
        let sql = "SELECT 1 FROM core_memories WHERE agent_id = ?1 AND id = ?2";
        if self.reader.rows("core_memories", sql, parameters.clone(), 1)?.is_empty() {
            return Ok(false);
        }
        let sql = "DELETE FROM core_memories WHERE agent_id = ?1 AND id = ?2";
        self.execute(&[statement(sql, parameters)])?;
        self.forgotten.push(("core_memories", vec![id]));
        Ok(true)
    }

    pub fn add_recent(&mut self, memory: &str) -> Result<i64, Error> {
        let sql = "INSERT INTO recent_memories (agent_id, memory, created_at) VALUES (?1, ?2, ?3) \
                   RETURNING id";
        self.insert(sql, [self.agent(), text(memory), self.now_text()])
    }

    /// Adds an episode with its comma-joined tags.
    pub fn add_episode(&mut self, memory: &str, tags: Option<&str>) -> Result<i64, Error> {
        let sql = "INSERT INTO episodic_memories (agent_id, memory, tags, created_at) \
                   VALUES (?1, ?2, ?3, ?4) RETURNING id";
        let tags = tags.map_or(Value::Null, text);
        self.insert(sql, [self.agent(), text(memory), tags, self.now_text()])
    }

    /// Makes a task the current one. It replaces the task before.
    pub fn set_task(&mut self, task: &Task) -> Result<(), Error> {
        let moment = |moment: Option<Timestamp>| {
            moment.map_or(Value::Null, |moment| Value::Text(column_text(moment)))
        };
        let sql = if self.reader.has_task()? {
            "UPDATE current_task SET task = ?2, started_at = ?3, updated_at = ?4 \
             WHERE agent_id = ?1"
        } else {
            "INSERT INTO current_task (agent_id, task, started_at, updated_at) \
             VALUES (?1, ?2, ?3, ?4)"
        };
        let parameters =
            [self.agent(), text(&task.task), moment(task.started_at), moment(task.updated_at)];
        self.execute(&[statement(sql, parameters)])
    }

    /// Removes the current task without making it an episode.
    pub fn remove_task(&mut self) -> Result<(), Error> {
        let sql = "DELETE FROM current_task WHERE agent_id = ?1";
        self.forgotten.push(("current_task", vec![OF_TASK]));
        self.execute(&[statement(sql, [self.agent()])])
    }

    /// Notes that the agent still works on the current task.
    pub fn refresh_task(&mut self, updated_at: Timestamp) -> Result<(), Error> {
        let sql = "UPDATE current_task SET updated_at = ?2 WHERE agent_id = ?1";
        self.execute(&[statement(sql, [self.agent(), Value::Text(column_text(updated_at))])])
    }

    /// Replaces recent memories by a summary, and logs its author, `by`. Returns the id of the
    /// summary. Also removes the agent's batch, whose memories have to be among `memories`.
    pub fn compost(&mut self, memories: &[Memory], summary: &str, by: &str) -> Result<i64, Error> {
        let count = Value::Integer(memories.len() as i64);
        let sql = "INSERT INTO memory_compost (agent_id, summary, original_count, archived_at) \
                   VALUES (?1, ?2, ?3, ?4) RETURNING id";
        let parameters = [self.agent(), text(summary), count.clone(), self.now_text()];
        let id = self.insert(sql, parameters)?;
        let ids: Vec<i64> = memories.iter().map(|memory| memory.id).collect();
        self.forgotten.push(("recent_memories", ids.clone()));
        let is_one = is_in_integers(self.transaction.dialect(), "id", "?2");
        let delete = format!("DELETE FROM recent_memories WHERE agent_id = ?1 AND {is_one}");
        let log = "INSERT INTO layers_summaries (agent_id, compost_id, original_count, first_id, \
                   last_id, summarizer, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let end = |id: Option<&i64>| Value::Integer(id.copied().unwrap_or_default());
        let logged = [
            self.agent(),
            Value::Integer(id),
            count,
            end(ids.first()),
            end(ids.last()),
            text(by),
            self.now_text(),
        ];
        self.execute(&[statement(&delete, [self.agent(), json(&ids)]), statement(log, logged)])?;
        if self.reader.batch()?.is_some() {
            self.remove_batch()?;
        }
        Ok(id)
    }
}
