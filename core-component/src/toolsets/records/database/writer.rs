//! Changing an agent's rows.

use std::collections::BTreeSet;

use super::reader::{RowReader, find_agent};
use super::row::{Row, VALUE_COLUMNS, folded, tags_text, values};
use super::sql::{integer, is_in_texts, optional_text, query_one, statement, text};
use super::unreadable::UnreadableRows;
use crate::context::Context;
use crate::storage::database::{Dialect, Effect, Statement, Transaction, Value};
use crate::time::Timestamp;
use crate::toolsets::records::error::{Code, Error, RAISE_LIMITS};
use crate::toolsets::records::json::rewritten;
use crate::toolsets::records::memory::{Kind, Memory};
use crate::toolsets::records::query::{Page, Query};
use crate::toolsets::records::settings::RecordsSettings;
use crate::toolsets::records::stats::Stats;
use crate::toolsets::records::store::{Imported, Reader, WithAnyTerm, Writer};

/// Changes an agent's rows in a write transaction.
pub(in crate::toolsets::records) struct RowWriter<'a> {
    pub(super) transaction: &'a dyn Transaction,
    name: &'a str,
    /// The agent's key; `None` if the database has no such agent yet.
    pub(super) agent: Option<i64>,
    /// Whether `agents.moving` says that the rows are a copy of a file. The first change clears
    /// this note.
    is_copy: bool,
    settings: RecordsSettings,
    has_changed: bool,
    unreadable: UnreadableRows,
    /// The keys of the memories that were removed, or from which a text was removed.
    pub(super) removed: Vec<i64>,
}

impl<'a> RowWriter<'a> {
    /// The caller has to run [`prepare`](super::prepare) in the transaction before.
    pub fn new(
        transaction: &'a dyn Transaction,
        name: &'a str,
        context: &Context,
    ) -> Result<Self, Error> {
        let query = |statement: &Statement| transaction.query(statement, 1);
        let found = find_agent(transaction.dialect(), query, name)?;
        let is_copy = found.as_ref().is_some_and(|agent| agent.copy_of.is_some());
        let agent = found.map(|agent| agent.key);
        let settings = RecordsSettings::from_context(context);
        Ok(Self {
            transaction,
            name,
            agent,
            is_copy,
            settings,
            has_changed: false,
            unreadable: UnreadableRows::default(),
            removed: Vec::new(),
        })
    }

    /// Whether any row was changed.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// The keys of the memories that were removed, or from which a text was removed.
    pub fn removed(&self) -> &[i64] {
        &self.removed
    }

    fn reader(&self) -> RowReader<'a> {
        RowReader::with_key(self.transaction, self.agent, self.unreadable.clone())
    }

    /// The agent's key. Inserts the agent if the database does not have it.
    fn key(&mut self) -> Result<i64, Error> {
        if let Some(key) = self.agent {
            return Ok(key);
        }
        let key = insert_agent(self.transaction, self.name)?;
        self.agent = Some(key);
        Ok(key)
    }

    /// Fails if the agent would exceed a limit with the new memories and bytes.
    fn check_limits(&self, agent: i64, new_memories: u64, new_bytes: u64) -> Result<(), Error> {
        let RecordsSettings { max_bytes, max_memories, .. } = self.settings;
        if max_bytes.is_none() && max_memories.is_none() {
            return Ok(());
        }
        let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM memories WHERE agent = ?1";
        let row = query_one(self.transaction, statement(sql, [Value::Integer(agent)]))?;
        let row = row.unwrap_or_else(|| vec![Value::Integer(0), Value::Integer(0)]);
        let memories = integer(&row[0])? as u64 + new_memories;
        let bytes = integer(&row[1])? as u64 + new_bytes;
        let (size, limit) = match (max_memories, max_bytes) {
            (Some(max), _) if memories > max => (memories, format!("{max} memories")),
            (_, Some(max)) if bytes > max => (bytes, format!("{max} bytes")),
            _ => return Ok(()),
        };
        Err(Error::over_limit(self.name, size, &limit, RAISE_LIMITS))
    }

    /// Keeps the note that the rows are a copy of a file: later changes of this writer do not clear
    /// it.
    pub fn keep_note_of_copy(&mut self) {
        self.is_copy = false;
    }

    /// Notes a change, and clears the note that the rows are a copy of a file.
    fn note_change(&mut self) -> Result<(), Error> {
        self.has_changed = true;
        if let (Some(key), true) = (self.agent, std::mem::take(&mut self.is_copy)) {
            self.transaction.execute(&[set_copy_of(key, None)])?;
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, statements: &[Statement]) -> Result<Vec<Effect>, Error> {
        self.note_change()?;
        Ok(self.transaction.execute(statements)?)
    }

    /// Adds a memory. `original` is the text of the memory's record, if the record holds more than
    /// the memory.
    fn insert_record(&mut self, memory: &Memory, original: Option<&str>) -> Result<(), Error> {
        let agent = self.key()?;
        self.check_limits(agent, 1, memory.bytes())?;
        let folded = folded(memory);
        let mut statements = vec![insert_row(agent, memory, original, &folded)];
        statements.extend(insert_tags(agent, memory));
        self.execute(&statements).map(drop)
    }

    fn delete_row(&mut self, agent: i64, row: &Row) -> Result<(), Error> {
        let delete = statement("DELETE FROM memories WHERE key = ?1", [Value::Integer(row.key)]);
        let dialect = self.transaction.dialect();
        self.execute(&[delete_tags(dialect, agent, row), delete])?;
        self.removed.push(row.key);
        Ok(())
    }

    fn row(&self, memory: &Memory) -> Result<Row, Error> {
        self.reader().row(&memory.id)?.ok_or_else(|| Error::no_memory(self.name, &memory.id))
    }
}

impl Reader for RowWriter<'_> {
    fn find(&self, id: &str) -> Result<Option<Memory>, Error> {
        self.reader().find(id)
    }

    fn has_id(&self, id: &str) -> Result<bool, Error> {
        self.reader().has_id(id)
    }

    fn query(&self, query: &Query) -> Result<Page, Error> {
        self.reader().query(query)
    }

    fn count_with_any_term(&self, query: &Query) -> Result<WithAnyTerm, Error> {
        self.reader().count_with_any_term(query)
    }

    fn stats(&self) -> Result<Stats, Error> {
        self.reader().stats()
    }

    fn existing_ids(&self, ids: &[&str]) -> Result<BTreeSet<String>, Error> {
        self.reader().existing_ids(ids)
    }

    fn unreadable(&self) -> Option<String> {
        self.unreadable.warning()
    }

    fn unused(
        &self,
        since: Timestamp,
        kind: Option<Kind>,
        limit: u32,
    ) -> Result<Vec<Memory>, Error> {
        self.reader().unused(since, kind, limit)
    }
}

impl Writer for RowWriter<'_> {
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
            // The keys of rows have the order of the records in the array of their type. The memory
            // moves to the end of its new type, so it gets a new row.
            self.delete_row(agent, &row)?;
            return self.insert_record(after, original.as_deref());
        }
        if after.bytes() > before.bytes() {
            self.check_limits(agent, 0, after.bytes() - before.bytes())?;
        }
        let dialect = self.transaction.dialect();
        let changes = Changes { dialect, agent, row: &row, original };
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

/// The statement that notes which version of a file an agent's rows are a copy of. `None` clears
/// the note.
pub(super) fn set_copy_of(key: i64, version: Option<&str>) -> Statement {
    let sql = "UPDATE agents SET moving = ?2 WHERE key = ?1";
    statement(sql, [Value::Integer(key), optional_text(version)])
}

/// Inserts an agent and returns its key.
pub(super) fn insert_agent(transaction: &dyn Transaction, name: &str) -> Result<i64, Error> {
    let insert = statement("INSERT INTO agents (name) VALUES (?1) RETURNING key", [text(name)]);
    match query_one(transaction, insert)?.as_deref() {
        Some([key]) => integer(key),
        _ => Err(Error::new(Code::InternalError, "storage returned no key of an inserted row")),
    }
}

/// Adds records after all other records of an agent.
pub(super) fn insert_all(
    transaction: &dyn Transaction,
    agent: i64,
    records: &[&Imported],
) -> Result<(), Error> {
    let rows = records.iter().map(|Imported { memory, original, .. }| {
        insert_row(agent, memory, original.as_deref(), &folded(memory))
    });
    let tags = records.iter().filter_map(|record| insert_tags(agent, &record.memory));
    transaction.execute(&rows.chain(tags).collect::<Vec<_>>())?;
    Ok(())
}

/// The statement that inserts the row of a memory, without the memory's tags.
fn insert_row(agent: i64, memory: &Memory, original: Option<&str>, folded: &str) -> Statement {
    let mut parameters = vec![Value::Integer(agent)];
    parameters.extend(values(memory, folded));
    parameters.push(original.map_or(Value::Null, text));
    let insert = format!(
        "INSERT INTO memories (agent, {}, original) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        VALUE_COLUMNS.join(", ")
    );
    statement(&insert, parameters)
}

/// The statement that inserts the tags of a memory whose row exists. `None` if the memory has no
/// tags.
fn insert_tags(agent: i64, memory: &Memory) -> Option<Statement> {
    let sql = "INSERT INTO memory_tags (agent, tag, memory, archived) \
               SELECT m.agent, tags.value, m.key, m.archived \
               FROM memories AS m CROSS JOIN json_each(?3) AS tags \
               WHERE m.agent = ?1 AND m.id = ?2 ON CONFLICT DO NOTHING";
    let tags = Value::Text(tags_text(memory));
    let parameters = [Value::Integer(agent), text(&memory.id), tags];
    (!memory.tags.is_empty()).then(|| statement(sql, parameters))
}

/// The statement that deletes the tags of a row.
fn delete_tags(dialect: Dialect, agent: i64, row: &Row) -> Statement {
    let is_one = is_in_texts(dialect, "tag", "?3");
    let sql = format!("DELETE FROM memory_tags WHERE agent = ?1 AND memory = ?2 AND {is_one}");
    let tags = Value::Text(tags_text(&row.memory));
    statement(&sql, [Value::Integer(agent), Value::Integer(row.key), tags])
}

/// A change of a row that leaves the memory's type as it is.
struct Changes<'a> {
    dialect: Dialect,
    agent: i64,
    row: &'a Row,
    /// The new text of the record, if the row has the record of another program.
    original: Option<String>,
}

impl Changes<'_> {
    /// The statements of the change. They set only the columns that differ, so that SQLite updates
    /// only the indexes of these columns.
    fn statements(&self, before: &Memory, after: &Memory) -> Vec<Statement> {
        let old_text = folded(before);
        let new_text = folded(after);
        let old = values(before, &old_text);
        let new = values(after, &new_text);
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
            statements.push(delete_tags(self.dialect, self.agent, self.row));
            statements.extend(insert_tags(self.agent, after));
        }
        statements
    }
}
