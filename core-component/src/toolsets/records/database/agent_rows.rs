//! Reading and writing all rows of an agent at once, for conversion and export.

use super::reader::find_agent;
use super::row::{COLUMNS, Row, timestamp};
use super::schema::has_tables;
use super::sql::{count, integer, into_optional_text, query_one, statement, text, unexpected};
use super::writer::{insert_agent, insert_all, set_copy_of};
use crate::storage::database::{Transaction, Value};
use crate::time::Timestamp;
use crate::toolsets::records::error::Error;
use crate::toolsets::records::json::{Outline, Section, empty_document, line, record_text};
use crate::toolsets::records::memory::Kind;
use crate::toolsets::records::store::Imported;

/// The number of rows that one query reads.
const BATCH: u32 = 1000;

/// The rows of one agent.
pub(in crate::toolsets::records) struct AgentRows<'a> {
    transaction: &'a dyn Transaction,
    name: &'a str,
}

/// An agent in the database.
pub(in crate::toolsets::records) struct StoredAgent {
    pub key: i64,
    /// The version of the file that the rows are a copy of. `None` if a row has changed since, or
    /// if the rows were not copied from a file.
    pub copy_of: Option<String>,
    /// The text of the agent's file without its records. `None` if the rows were never copied from
    /// a file.
    pub document: Option<String>,
}

impl<'a> AgentRows<'a> {
    /// The rows of the agent with this name. A caller that changes rows has to run
    /// [`prepare`](super::prepare) before.
    pub fn new(transaction: &'a dyn Transaction, name: &'a str) -> Self {
        Self { transaction, name }
    }

    /// Finds the agent. `None` if the database has no tables or no such agent.
    pub fn find(&self) -> Result<Option<StoredAgent>, Error> {
        let query = |statement: &_| self.transaction.query(statement, 1);
        let dialect = self.transaction.dialect();
        if !has_tables(dialect, query)? {
            return Ok(None);
        }
        let Some(agent) = find_agent(dialect, query, self.name)? else { return Ok(None) };
        let sql = "SELECT document FROM agents WHERE key = ?1";
        let row = query_one(self.transaction, statement(sql, [Value::Integer(agent.key)]))?;
        let document = row.and_then(|mut row| row.pop()).unwrap_or(Value::Null);
        Ok(Some(StoredAgent {
            key: agent.key,
            copy_of: agent.copy_of,
            document: into_optional_text(document)?,
        }))
    }

    /// The number of memories of the agent with this key, and their size in bytes.
    pub fn size(&self, key: i64) -> Result<(u64, u64), Error> {
        let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM memories WHERE agent = ?1";
        let row = query_one(self.transaction, statement(sql, [Value::Integer(key)]))?;
        let row = row.ok_or_else(|| unexpected("a count", &Value::Null))?;
        Ok((integer(&row[0])? as u64, integer(&row[1])? as u64))
    }

    /// All rows of the agent as the text of a file in the JSON format.
    pub fn document(&self, agent: &StoredAgent, now: Timestamp) -> Result<String, Error> {
        let pages = self.pages(agent, Style::Document, now)?;
        Ok(pages.page(Position::START, u64::MAX, usize::MAX)?.text)
    }

    /// The agent's records as pages of text.
    pub fn pages(
        &self,
        agent: &StoredAgent,
        style: Style,
        now: Timestamp,
    ) -> Result<Pages<'a>, Error> {
        Pages::new(self.transaction, agent, style, now)
    }

    /// Inserts the agent as the copy of a file and returns the agent's key. `version` is the
    /// version of the file, and `document` is the file's text without its records.
    pub fn begin_copy(&self, version: &str, document: &str) -> Result<i64, Error> {
        let key = insert_agent(self.transaction, self.name)?;
        let sql = "UPDATE agents SET document = ?2 WHERE key = ?1";
        let set = statement(sql, [Value::Integer(key), text(document)]);
        self.transaction.execute(&[set, set_copy_of(key, Some(version))])?;
        Ok(key)
    }

    /// Adds records after all others of the agent.
    pub fn add(&self, key: i64, records: &[&Imported]) -> Result<(), Error> {
        insert_all(self.transaction, key, records)
    }

    /// Clears the note that the rows are a copy of a file.
    pub fn forget_copy(&self, key: i64) -> Result<(), Error> {
        self.transaction.execute(&[set_copy_of(key, None)])?;
        Ok(())
    }

    /// Deletes the agent and all of its rows.
    pub fn delete(&self, key: i64) -> Result<(), Error> {
        let of_agent = [Value::Integer(key)];
        let delete = |sql: &str| statement(sql, of_agent.clone());
        self.transaction.execute(&[
            delete("DELETE FROM memory_tags WHERE agent = ?1"),
            delete("DELETE FROM memories WHERE agent = ?1"),
            delete("DELETE FROM agents WHERE key = ?1"),
        ])?;
        Ok(())
    }
}

/// The form of a text of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::toolsets::records) enum Style {
    /// JSON Lines: one record a line.
    Lines,
    /// One document of the JSON format.
    Document,
}

/// The records of an agent as pages of text. All pages together are one text.
pub(in crate::toolsets::records) struct Pages<'a> {
    transaction: &'a dyn Transaction,
    key: i64,
    style: Style,
    outline: Outline,
}

/// The end of a page: the index of a section, and the key of the last row of this section in the
/// page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::toolsets::records) struct Position {
    section: usize,
    after: Option<i64>,
}

impl Position {
    pub const START: Self = Self { section: 0, after: None };

    /// Parses the text that [`Display`](std::fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (section, after) = text.split_once(':')?;
        Some(Self { section: section.parse().ok()?, after: Some(after.parse().ok()?) })
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.section, self.after.unwrap_or(0))
    }
}

/// One page of the text.
#[derive(Debug, Default)]
pub(in crate::toolsets::records) struct TextPage {
    pub text: String,
    /// The number of records in the page.
    pub records: u64,
    /// The position where the next page begins. `None` on the last page.
    pub next: Option<Position>,
}

impl<'a> Pages<'a> {
    fn new(
        transaction: &'a dyn Transaction,
        agent: &StoredAgent,
        style: Style,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let outline = match style {
            Style::Lines => {
                let section = |kind| Section { before: String::new(), kind, empty: String::new() };
                Outline { sections: Kind::ALL.map(section).into(), end: String::new() }
            }
            Style::Document => {
                let mut has = [false; 3];
                for kind in Kind::ALL {
                    let sql = "SELECT key FROM memories WHERE agent = ?1 AND type = ?2 LIMIT 1";
                    let of_kind = [Value::Integer(agent.key), Value::Integer(kind as i64)];
                    has[kind as usize] = query_one(transaction, statement(sql, of_kind))?.is_some();
                }
                let document = match &agent.document {
                    Some(document) => document.clone(),
                    None => new_document(transaction, agent.key, now)?,
                };
                Outline::parse(&document, |kind| has[kind as usize])
                    .ok_or_else(|| unexpected("a document", &Value::Text(document)))?
            }
        };
        Ok(Self { transaction, key: agent.key, style, outline })
    }

    /// The page that begins at `start`. It ends as soon as it has `max_records` records or
    /// `max_bytes` bytes.
    pub fn page(
        &self,
        start: Position,
        max_records: u64,
        max_bytes: usize,
    ) -> Result<TextPage, Error> {
        let mut page = TextPage::default();
        let mut at = start;
        while let Some(section) = self.outline.sections.get(at.section) {
            if at.after.is_none() {
                page.text += &section.before;
            }
            loop {
                let rows = self.rows(section.kind, at.after)?;
                let is_last = rows.len() < BATCH as usize;
                for row in rows {
                    let is_full = page.records >= max_records || page.text.len() >= max_bytes;
                    // A position inside a section names a row. So a page that has begun a section
                    // contains at least one row of it.
                    if is_full && at.after.is_some() {
                        return Ok(TextPage { next: Some(at), ..page });
                    }
                    self.write(&mut page.text, &row, at.after.is_none());
                    page.records += 1;
                    at.after = Some(row.key);
                }
                if is_last {
                    break;
                }
            }
            if self.style == Style::Document {
                page.text += if at.after.is_some() { "\n  ]" } else { &section.empty };
            }
            at = Position { section: at.section + 1, after: None };
        }
        page.text += &self.outline.end;
        Ok(page)
    }

    fn write(&self, out: &mut String, Row { memory, original, .. }: &Row, is_first: bool) {
        match self.style {
            Style::Lines => {
                *out += &line(memory, original.as_deref());
                out.push('\n');
            }
            Style::Document => {
                *out += if is_first { "[\n    " } else { ",\n    " };
                match original {
                    Some(original) => *out += original,
                    None => *out += &record_text(memory),
                }
            }
        }
    }

    /// Reads the next [`BATCH`] rows of a type, in the order of their keys. The `+` excludes the
    /// indexes, so that SQLite reads the table by its keys.
    fn rows(&self, kind: Kind, after: Option<i64>) -> Result<Vec<Row>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memories AS m \
             WHERE +m.agent = ?1 AND +m.type = ?2 AND m.key > ?3 ORDER BY m.key LIMIT ?4"
        );
        let after = Value::Integer(after.unwrap_or(i64::MIN));
        let parameters =
            [Value::Integer(self.key), Value::Integer(kind as i64), after, count(BATCH.into())];
        let rows = self.transaction.query(&statement(&sql, parameters), BATCH)?.rows;
        rows.into_iter().map(Row::read).collect()
    }
}

/// The text of a file without records, for an agent that never had a file.
fn new_document(transaction: &dyn Transaction, key: i64, now: Timestamp) -> Result<String, Error> {
    let sql = "SELECT min(created_at), max(updated_at) FROM memories WHERE agent = ?1";
    let row = query_one(transaction, statement(sql, [Value::Integer(key)]))?;
    let [created_at, updated_at] = match row.as_deref() {
        Some([created @ Value::Integer(_), updated]) => [timestamp(created)?, timestamp(updated)?],
        _ => [now, now],
    };
    Ok(empty_document(created_at, updated_at))
}
