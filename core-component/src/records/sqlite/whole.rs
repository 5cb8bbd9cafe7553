//! All rows of an agent: as the text of a file, and as the copy of one.

use super::indexing::delete_texts;
use super::reader::find_agent;
use super::row::{COLUMNS, Row, moment};
use super::schema::has_tables;
use super::sql::{
    count, integer, into_optional_text, optional_text, query_one, statement, text, unexpected,
};
use super::writer::{insert_agent, insert_all};
use crate::records::error::Error;
use crate::records::json::{Outline, Section, empty_document, line, record_text};
use crate::records::memory::Kind;
use crate::records::store::Imported;
use crate::storage::database::{Statement, Transaction, Value};
use crate::time::Timestamp;

/// Rows that are read at once.
const ROWS: u32 = 1000;

/// The rows of one agent.
pub(in crate::records) struct AgentRows<'a> {
    transaction: &'a dyn Transaction,
    name: &'a str,
}

/// An agent that the database knows.
pub(in crate::records) struct Known {
    pub key: i64,
    /// The version of the file that the rows are a copy of, where no row changed since.
    pub copy_of: Option<String>,
    /// What its file held beside the records.
    pub document: Option<String>,
}

impl<'a> AgentRows<'a> {
    /// In a transaction that, where it changes something, has seen all migrations.
    pub fn of(transaction: &'a dyn Transaction, name: &'a str) -> Self {
        Self { transaction, name }
    }

    pub fn find(&self) -> Result<Option<Known>, Error> {
        let query = |statement: &_| self.transaction.query(statement, 1);
        if !has_tables(query)? {
            return Ok(None);
        }
        let Some(agent) = find_agent(query, self.name)? else { return Ok(None) };
        let sql = "SELECT document FROM agents WHERE key = ?1";
        let row = query_one(self.transaction, statement(sql, [Value::Integer(agent.key)]))?;
        let document = row.and_then(|mut row| row.pop()).unwrap_or(Value::Null);
        Ok(Some(Known {
            key: agent.key,
            copy_of: agent.copy_of,
            document: into_optional_text(document)?,
        }))
    }

    /// How many rows there are of a key, and how many bytes of memories.
    pub fn size(&self, key: i64) -> Result<(u64, u64), Error> {
        let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM memories WHERE agent = ?1";
        let row = query_one(self.transaction, statement(sql, [Value::Integer(key)]))?;
        let row = row.ok_or_else(|| unexpected("a count", &Value::Null))?;
        Ok((integer(&row[0])? as u64, integer(&row[1])? as u64))
    }

    /// Its records as the file of the JSON format.
    pub fn document(&self, agent: &Known, now: Timestamp) -> Result<String, Error> {
        let pages = self.pages(agent, Style::Document, now)?;
        Ok(pages.page(Position::START, u64::MAX, usize::MAX)?.text)
    }

    /// Its records as text.
    pub fn pages(&self, agent: &Known, style: Style, now: Timestamp) -> Result<Pages<'a>, Error> {
        Pages::of(self.transaction, agent, style, now)
    }

    /// Makes the database know the agent, as the copy of a file that holds `document` beside its
    /// records; its key.
    pub fn begin_copy(&self, version: &str, document: &str) -> Result<i64, Error> {
        let key = insert_agent(self.transaction, self.name)?;
        let sql = "UPDATE agents SET document = ?2 WHERE key = ?1";
        let set = statement(sql, [Value::Integer(key), text(document)]);
        self.transaction.execute(&[set, copy_of_set(key, Some(version))])?;
        Ok(key)
    }

    /// Adds records after all others.
    pub fn add(&self, key: i64, records: &[&Imported]) -> Result<(), Error> {
        insert_all(self.transaction, key, records)
    }

    /// Notes that the rows are no copy of a file.
    pub fn forget_copy(&self, key: i64) -> Result<(), Error> {
        self.transaction.execute(&[copy_of_set(key, None)])?;
        Ok(())
    }

    /// Deletes the agent with all of its rows.
    pub fn delete(&self, key: i64) -> Result<(), Error> {
        let of_agent = [Value::Integer(key)];
        let delete = |sql: &str| statement(sql, of_agent.clone());
        let [indexed, unindexed] =
            delete_texts("SELECT key FROM memories WHERE agent = ?1", &of_agent);
        self.transaction.execute(&[
            delete("DELETE FROM memory_tags WHERE agent = ?1"),
            indexed,
            unindexed,
            delete("DELETE FROM memories WHERE agent = ?1"),
            delete("DELETE FROM agents WHERE key = ?1"),
        ])?;
        Ok(())
    }
}

/// Notes of which version of a file an agent's rows are a copy.
pub(super) fn copy_of_set(key: i64, version: Option<&str>) -> Statement {
    let sql = "UPDATE agents SET moving = ?2 WHERE key = ?1";
    statement(sql, [Value::Integer(key), optional_text(version)])
}

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::records) enum Style {
    /// One a line.
    Lines,
    /// One document, as the JSON format has it.
    Document,
}

/// The records of an agent as text, page by page.
pub(in crate::records) struct Pages<'a> {
    transaction: &'a dyn Transaction,
    key: i64,
    style: Style,
    outline: Outline,
}

/// Where a page ends: the section, and the key of the last row of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::records) struct Position {
    section: usize,
    after: Option<i64>,
}

impl Position {
    pub const START: Self = Self { section: 0, after: None };

    /// Reads what [`Display`](std::fmt::Display) writes.
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

/// One page.
#[derive(Debug, Default)]
pub(in crate::records) struct TextPage {
    pub text: String,
    pub records: u64,
    /// Where the next one begins; none after the last.
    pub next: Option<Position>,
}

impl<'a> Pages<'a> {
    fn of(
        transaction: &'a dyn Transaction,
        agent: &Known,
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
                Outline::of(&document, |kind| has[kind as usize])
                    .ok_or_else(|| unexpected("a document", &Value::Text(document)))?
            }
        };
        Ok(Self { transaction, key: agent.key, style, outline })
    }

    /// The page that begins at a position, of at most so many records and about so many bytes.
    pub fn page(
        &self,
        start: Position,
        most_records: u64,
        most_bytes: usize,
    ) -> Result<TextPage, Error> {
        let mut page = TextPage::default();
        let mut at = start;
        while let Some(section) = self.outline.sections.get(at.section) {
            if at.after.is_none() {
                page.text += &section.before;
            }
            loop {
                let rows = self.rows(section.kind, at.after)?;
                let is_last = rows.len() < ROWS as usize;
                for row in rows {
                    let is_full = page.records >= most_records || page.text.len() >= most_bytes;
                    // A page that begins a section has a row of it.
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

    /// In the order of the keys, which no index of an agent has: the table is passed over once.
    fn rows(&self, kind: Kind, after: Option<i64>) -> Result<Vec<Row>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memories AS m \
             WHERE +m.agent = ?1 AND +m.type = ?2 AND m.key > ?3 ORDER BY m.key LIMIT ?4"
        );
        let after = Value::Integer(after.unwrap_or(i64::MIN));
        let parameters =
            [Value::Integer(self.key), Value::Integer(kind as i64), after, count(ROWS.into())];
        let rows = self.transaction.query(&statement(&sql, parameters), ROWS)?.rows;
        rows.into_iter().map(Row::read).collect()
    }
}

/// What the file of an agent that never had one holds beside its records.
fn new_document(transaction: &dyn Transaction, key: i64, now: Timestamp) -> Result<String, Error> {
    let sql = "SELECT min(created_at), max(updated_at) FROM memories WHERE agent = ?1";
    let row = query_one(transaction, statement(sql, [Value::Integer(key)]))?;
    let [created_at, updated_at] = match row.as_deref() {
        Some([created @ Value::Integer(_), updated]) => [moment(created)?, moment(updated)?],
        _ => [now, now],
    };
    Ok(empty_document(created_at, updated_at))
}
