//! Moving an agent's records between the formats: rows that nobody sees yet, or any more.
//!
//! Rows that are being copied belong to an agent whose name goes on after a `/`, as no agent's
//! does: `<agent>/<version of the file>` while they are copied from it, `<agent>/<key>` where they
//! are left to be deleted.
//!
//! An agent is [`Moving`] while both its file and its rows may be there. Where the file is there
//! the rows are not seen, and they may be deleted only if they are known to be what a conversion
//! left: nobody may lose rows to a file that another program put in place.

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

/// How far a conversion has come with an agent's rows; its text is in `agents.moving`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::records) enum Moving {
    /// The file was there in this version, and they are a copy of it: what a file that is there says
    /// is newer.
    CopyOf(String),
    /// The file is written or taken away next, or rows changed since. They are leftovers of a file
    /// only where it has the same records.
    Unproven,
}

impl Moving {
    fn read(text: String) -> Self {
        match text.as_str() {
            UNPROVEN => Self::Unproven,
            _ => Self::CopyOf(text),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::CopyOf(version) => version,
            Self::Unproven => UNPROVEN,
        }
    }
}

/// No version of a file is that.
const UNPROVEN: &str = "";

/// An agent that the database knows.
pub(in crate::records) struct Known {
    pub key: i64,
    /// None where the rows are settled.
    pub moving: Option<Moving>,
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
            moving: agent.moving.map(Moving::read),
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

    /// The key of the copy of a file; it is begun where there is none.
    pub fn begin_copy(&self, version: &str) -> Result<i64, Error> {
        let name = format!("{}/{version}", self.name);
        let query = |statement: &_| self.transaction.query(statement, 1);
        if let Some(copy) = find_agent(query, &name)? {
            return Ok(copy.key);
        }
        insert_agent(self.transaction, &name)
    }

    /// Adds records to a copy.
    pub fn add(&self, key: i64, records: &[&Imported]) -> Result<(), Error> {
        insert_all(self.transaction, key, records)
    }

    /// Makes a copy that is complete the agent, which is moving from then on.
    pub fn complete(&self, key: i64, version: &str, document: &str) -> Result<(), Error> {
        let sql = "UPDATE agents SET name = ?2, moving = ?3, document = ?4 WHERE key = ?1";
        let named = [Value::Integer(key), text(self.name), text(version), text(document)];
        self.transaction.execute(&[statement(sql, named)])?;
        Ok(())
    }

    pub fn set_moving(&self, key: i64, moving: Option<Moving>) -> Result<(), Error> {
        self.transaction.execute(&[moving_set(key, moving.as_ref())])?;
        Ok(())
    }

    /// Leaves an agent's rows to be deleted, under a name that no agent has.
    pub fn mark_deleted(&self, key: i64) -> Result<(), Error> {
        let sql = "UPDATE agents SET name = name || '/' || key, moving = NULL WHERE key = ?1";
        self.transaction.execute(&[statement(sql, [Value::Integer(key)])])?;
        Ok(())
    }

    /// Deletes at most so many of the rows that are marked, or of a copy that was not completed;
    /// whether there were any. The last ones go first: what stays of a copy is the beginning of it.
    pub fn delete_marked(&self, most: u32) -> Result<bool, Error> {
        if !has_tables(|statement| self.transaction.query(statement, 1))? {
            return Ok(false);
        }
        let prefix = format!("{}/", self.name);
        let sql = "SELECT key FROM agents WHERE substr(name, 1, length(?1)) = ?1";
        let Some(row) = query_one(self.transaction, statement(sql, [Value::Text(prefix)]))? else {
            return Ok(false);
        };
        let key = integer(&row[0])?;
        let some = "SELECT key FROM memories WHERE agent = ?1 ORDER BY key DESC LIMIT ?2";
        let of_agent = [Value::Integer(key), count(most.into())];
        let delete = |sql: String| statement(&sql, of_agent.clone());
        let [indexed, unindexed] = delete_texts(some, &of_agent);
        let effects = self.transaction.execute(&[
            delete(format!("DELETE FROM memory_tags WHERE agent = ?1 AND memory IN ({some})")),
            indexed,
            unindexed,
            delete(format!("DELETE FROM memories WHERE key IN ({some})")),
        ])?;
        if effects[3].changes < most.into() {
            let sql = "DELETE FROM agents WHERE key = ?1";
            self.transaction.execute(&[statement(sql, [Value::Integer(key)])])?;
        }
        Ok(true)
    }
}

/// Says how far a conversion has come with an agent's rows.
pub(super) fn moving_set(key: i64, moving: Option<&Moving>) -> Statement {
    let moving = optional_text(moving.map(Moving::text));
    statement("UPDATE agents SET moving = ?2 WHERE key = ?1", [Value::Integer(key), moving])
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
