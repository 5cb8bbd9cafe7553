//! Changing an agent's rows.

use std::collections::BTreeSet;

use super::indexing::{delete_texts, gather, index_new_text, index_text, is_time_to_gather};
use super::reader::{SqliteReader, find_agent};
use super::row::{Row, VALUE_COLUMNS, folded, tags_text, values};
use super::sql::{flag, integer, query_one, statement, text};
use super::whole::copy_of_set;
use crate::context::Context;
use crate::records::error::{Code, Error, RAISE_LIMITS};
use crate::records::json::rewritten;
use crate::records::memory::{Kind, Memory};
use crate::records::query::{Page, Query};
use crate::records::settings::RecordsSettings;
use crate::records::stats::Stats;
use crate::records::store::{Imported, Reader, Writer};
use crate::storage::database::{Effect, Statement, Transaction, Value};
use crate::time::Timestamp;

/// Changes to an agent's rows in a write transaction.
pub(in crate::records) struct SqliteWriter<'a> {
    transaction: &'a dyn Transaction,
    name: &'a str,
    agent: Option<i64>,
    is_copy: bool,
    settings: RecordsSettings,
    has_changed: bool,
}

impl<'a> SqliteWriter<'a> {
    /// In a transaction that has seen all migrations.
    pub fn of(
        transaction: &'a dyn Transaction,
        name: &'a str,
        context: &Context,
    ) -> Result<Self, Error> {
        let found = find_agent(|statement| transaction.query(statement, 1), name)?;
        let is_copy = found.as_ref().is_some_and(|agent| agent.copy_of.is_some());
        let agent = found.map(|agent| agent.key);
        let settings = RecordsSettings::of(context);
        Ok(Self { transaction, name, agent, is_copy, settings, has_changed: false })
    }

    /// Whether there is anything to commit.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    fn reader(&self) -> SqliteReader<'a> {
        SqliteReader::with_key(self.transaction, self.agent)
    }

    /// The agent's key; its row is made where it has none.
    fn key(&mut self) -> Result<i64, Error> {
        if let Some(key) = self.agent {
            return Ok(key);
        }
        let key = insert_agent(self.transaction, self.name)?;
        self.agent = Some(key);
        Ok(key)
    }

    /// Makes sure that so many more memories and bytes are allowed.
    fn check_limits(&self, agent: i64, adding: u64, bytes: u64) -> Result<(), Error> {
        let RecordsSettings { max_bytes, max_memories, .. } = self.settings;
        if max_bytes.is_none() && max_memories.is_none() {
            return Ok(());
        }
        let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM memories WHERE agent = ?1";
        let row = query_one(self.transaction, statement(sql, [Value::Integer(agent)]))?;
        let row = row.unwrap_or_else(|| vec![Value::Integer(0), Value::Integer(0)]);
        let memories = integer(&row[0])? as u64 + adding;
        let bytes = integer(&row[1])? as u64 + bytes;
        let limit = match (max_memories, max_bytes) {
            (Some(most), _) if memories > most => format!("{most} memories"),
            (_, Some(most)) if bytes > most => format!("{most} bytes"),
            _ => return Ok(()),
        };
        Err(Error::over_limit(self.name, &limit, RAISE_LIMITS))
    }

    /// Rows that change are no copy of a file any more.
    fn note_change(&mut self) -> Result<(), Error> {
        self.has_changed = true;
        if let (Some(key), true) = (self.agent, std::mem::take(&mut self.is_copy)) {
            self.transaction.execute(&[copy_of_set(key, None)])?;
        }
        Ok(())
    }

    fn execute(&mut self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.note_change()?;
        Ok(self.transaction.execute(statements)?)
    }

    /// Adds a memory, with the record that another program wrote where the memory does not say all
    /// of it.
    fn insert_record(&mut self, memory: &Memory, original: Option<&str>) -> Result<(), Error> {
        let agent = self.key()?;
        self.check_limits(agent, 1, memory.bytes())?;
        let folded = folded(memory);
        let mut statements = vec![insert_row(agent, memory, original, &folded)];
        // The key is that of the row inserted last: a table without row ids does not change it.
        if !memory.tags.is_empty() {
            statements.push(insert_tags("last_insert_rowid()", agent, memory, None));
        }
        statements.push(index_new_text(&folded));
        let effects = self.execute(&statements)?;
        if effects.first().is_some_and(|row| is_time_to_gather(row.last_insert_id)) {
            self.execute(&gather())?;
        }
        Ok(())
    }

    fn delete_row(&mut self, agent: i64, row: &Row) -> Result<(), Error> {
        let mut statements = vec![delete_tags(agent, row)];
        let key = [Value::Integer(row.key)];
        statements.extend(delete_texts("?1", &key));
        statements.push(statement("DELETE FROM memories WHERE key = ?1", key));
        self.execute(&statements).map(drop)
    }

    fn row(&self, memory: &Memory) -> Result<Row, Error> {
        self.reader().row(&memory.id)?.ok_or_else(|| Error::no_memory(self.name, &memory.id))
    }
}

impl Reader for SqliteWriter<'_> {
    fn find(&self, id: &str) -> Result<Option<Memory>, Error> {
        self.reader().find(id)
    }

    fn has(&self, id: &str) -> Result<bool, Error> {
        self.reader().has(id)
    }

    fn query(&self, query: &Query) -> Result<Page, Error> {
        self.reader().query(query)
    }

    fn stats(&self) -> Result<Stats, Error> {
        self.reader().stats()
    }

    fn known(&self, ids: &[&str]) -> Result<BTreeSet<String>, Error> {
        self.reader().known(ids)
    }

    fn unused(
        &self,
        since: Timestamp,
        kind: Option<Kind>,
        most: u32,
    ) -> Result<Vec<Memory>, Error> {
        self.reader().unused(since, kind, most)
    }
}

impl Writer for SqliteWriter<'_> {
    fn insert(&mut self, memory: &Memory) -> Result<(), Error> {
        self.insert_record(memory, None)
    }

    fn insert_all(&mut self, records: &[&Imported]) -> Result<(), Error> {
        let agent = self.key()?;
        let bytes = records.iter().map(|record| record.memory.bytes()).sum();
        self.check_limits(agent, records.len() as u64, bytes)?;
        self.note_change()?;
        insert_all(self.transaction, agent, records)
    }

    fn update(&mut self, before: &Memory, after: &Memory) -> Result<(), Error> {
        let agent = self.key()?;
        let row = self.row(before)?;
        let original = row.original.as_ref().map(|record| rewritten(record, before, after));
        if before.kind != after.kind {
            // The order of the rows is that of the arrays.
            self.delete_row(agent, &row)?;
            return self.insert_record(after, original.as_deref());
        }
        if after.bytes() > before.bytes() {
            self.check_limits(agent, 0, after.bytes() - before.bytes())?;
        }
        let changes = Changes { agent, row: &row, original };
        self.execute(&changes.statements(before, after)).map(drop)
    }

    fn remove(&mut self, memory: &Memory) -> Result<(), Error> {
        let agent = self.key()?;
        let row = self.row(memory)?;
        self.delete_row(agent, &row)
    }

    fn keeps_backup(&self) -> bool {
        false
    }
}

/// Makes the database know an agent; its key.
pub(super) fn insert_agent(transaction: &dyn Transaction, name: &str) -> Result<i64, Error> {
    let insert = statement("INSERT INTO agents (name) VALUES (?1)", [text(name)]);
    let effects = transaction.execute(&[insert])?;
    let key = effects.first().map(|effect| effect.last_insert_id);
    key.ok_or_else(|| Error::new(Code::InternalError, "storage names no key of what it inserted"))
}

/// Adds these records after all others of an agent.
///
/// The index of texts comes last. A statement that can be undone by itself, as that of the tags,
/// makes FTS5 write what it has gathered: between two texts, a segment for each, to be merged.
pub(super) fn insert_all(
    transaction: &dyn Transaction,
    agent: i64,
    records: &[&Imported],
) -> Result<(), Error> {
    let folded: Vec<String> = records.iter().map(|record| folded(&record.memory)).collect();
    let rows = records.iter().zip(&folded).map(|(record, folded)| {
        insert_row(agent, &record.memory, record.original.as_deref(), folded)
    });
    let effects = transaction.execute(&rows.collect::<Vec<_>>())?;
    let keys = || effects.iter().map(|effect| Value::Integer(effect.last_insert_id));
    let tagged = records.iter().zip(keys()).filter(|(record, _)| !record.memory.tags.is_empty());
    let mut statements: Vec<Statement> =
        tagged.map(|(record, key)| insert_tags("?4", agent, &record.memory, Some(key))).collect();
    // Their keys are lower, and FTS5 wants them in order.
    statements.extend(gather());
    statements.extend(keys().zip(folded).map(|(key, folded)| index_text(key, folded)));
    transaction.execute(&statements)?;
    Ok(())
}

/// The row of a memory, but for its tags and its place in the index of texts.
fn insert_row(agent: i64, memory: &Memory, original: Option<&str>, folded: &str) -> Statement {
    let mut parameters = vec![Value::Integer(agent)];
    parameters.extend(values(memory, folded));
    parameters.push(original.map_or(Value::Null, text));
    let insert = format!(
        "INSERT INTO memories (agent, {}, original) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        VALUE_COLUMNS.join(", ")
    );
    statement(&insert, parameters)
}

fn delete_tags(agent: i64, row: &Row) -> Statement {
    let sql = "DELETE FROM memory_tags WHERE agent = ?1 AND memory = ?2 \
               AND tag IN (SELECT value FROM json_each(?3))";
    let tags = Value::Text(tags_text(&row.memory));
    statement(sql, [Value::Integer(agent), Value::Integer(row.key), tags])
}

/// The statements that make one memory of a row into another of the same type.
struct Changes<'a> {
    agent: i64,
    row: &'a Row,
    /// The record of another program, changed as well.
    original: Option<String>,
}

impl Changes<'_> {
    /// Only columns that differ are set, so that no other index is touched.
    fn statements(&self, before: &Memory, after: &Memory) -> Vec<Statement> {
        let (old_text, new_text) = (folded(before), folded(after));
        let (old, new) = (values(before, &old_text), values(after, &new_text));
        let mut set = Vec::new();
        let mut parameters = vec![Value::Integer(self.row.key)];
        let columns = VALUE_COLUMNS.iter().zip(old.iter().zip(new));
        for (column, (_, new)) in columns.filter(|(_, (old, new))| *old != new) {
            parameters.push(new);
            set.push(format!("{column} = ?{}", parameters.len()));
        }
        if let Some(original) = &self.original {
            parameters.push(text(original));
            set.push(format!("original = ?{}", parameters.len()));
        }
        let sql = format!("UPDATE memories SET {} WHERE key = ?1", set.join(", "));
        let mut statements = vec![statement(&sql, parameters)];
        if before.tags != after.tags || before.archived != after.archived {
            statements.push(delete_tags(self.agent, self.row));
            let key = Value::Integer(self.row.key);
            statements.push(insert_tags("?4", self.agent, after, Some(key)));
        }
        if old_text != new_text {
            let key = Value::Integer(self.row.key);
            statements.extend(delete_texts("?1", std::slice::from_ref(&key)));
            statements.push(index_text(key, new_text));
        }
        statements
    }
}

/// The rows of a memory's tags; `key` is SQL for the key of the memory.
fn insert_tags(key: &str, agent: i64, memory: &Memory, parameter: Option<Value>) -> Statement {
    let sql = format!(
        "INSERT OR IGNORE INTO memory_tags (agent, tag, memory, archived) \
         SELECT ?1, value, {key}, ?2 FROM json_each(?3)"
    );
    let tags = Value::Text(tags_text(memory));
    let mut parameters = vec![Value::Integer(agent), flag(memory.archived), tags];
    parameters.extend(parameter);
    statement(&sql, parameters)
}
