//! Removing a text from an agent's rows.

use super::row::{COLUMNS, Row};
use super::sql::{count, integer, into_optional_text, query_one, statement, text};
use super::writer::RowWriter;
use crate::forget::{MAX_ROWS, in_json, without};
use crate::storage::database::Value;
use crate::toolsets::records::error::Error;
use crate::toolsets::records::json::{json_without, rewritten};
use crate::toolsets::records::memory::Memory;
use crate::toolsets::records::store::Writer;

/// The number of rows that are read at once.
const PAGE: u32 = 500;

/// The outcome of the removal of a text or a record from an agent's rows.
#[derive(Debug, Default)]
pub(in crate::toolsets::records) struct ForgottenRows {
    pub ids: Vec<String>,
    /// Whether `agents.document`, the agent's file without its records, had the text.
    pub in_document: bool,
    /// The rows that could not be read, each with the reason.
    pub unreadable: Vec<String>,
    /// Whether the text may also be in rows that this call did not read.
    pub has_more: bool,
}

impl RowWriter<'_> {
    /// Replaces a text by a mark in at most [`MAX_ROWS`] memories of the agent, also in fields that
    /// other programs added. A dry run changes nothing.
    pub fn forget_text(&mut self, secret: &str, dry_run: bool) -> Result<ForgottenRows, Error> {
        let mut forgotten = ForgottenRows::default();
        let Some(agent) = self.agent else { return Ok(forgotten) };
        let mut after = i64::MIN;
        loop {
            let rows = self.rows_with(agent, secret, after)?;
            let is_last = rows.len() < PAGE as usize;
            for row in rows {
                if forgotten.ids.len() == MAX_ROWS as usize {
                    forgotten.has_more = true;
                    return Ok(forgotten);
                }
                after = integer(&row[0])?;
                match Row::read(row) {
                    Ok(row) if self.forget_in_row(&row, secret, dry_run)? => {
                        forgotten.ids.push(row.memory.id);
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let message = error.message();
                        forgotten.unreadable.push(format!("row {after} of `memories`: {message}"));
                    }
                }
            }
            if is_last {
                break;
            }
        }
        forgotten.in_document = self.forget_in_document(agent, secret, dry_run)?;
        Ok(forgotten)
    }

    /// The next rows that may have a text. All rows with fields of other programs are among them,
    /// because JSON can write a text in several ways: `forget_in_row` looks for it.
    fn rows_with(&self, agent: i64, secret: &str, after: i64) -> Result<Vec<Vec<Value>>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memories AS m WHERE m.agent = ?1 AND m.key > ?2 \
             AND (instr(replace(m.content, '\r\n', '\n'), ?3) > 0 \
             OR instr(m.category, ?3) > 0 OR instr(m.tags, ?4) > 0 OR m.original IS NOT NULL) \
             ORDER BY m.key LIMIT ?5"
        );
        // Tags are stored as JSON that this program wrote. So the query for tags has the text with
        // JSON escapes.
        let parameters = [
            Value::Integer(agent),
            Value::Integer(after),
            text(secret),
            text(&in_json(secret)),
            count(PAGE.into()),
        ];
        Ok(self.transaction.query(&statement(&sql, parameters), PAGE)?.rows)
    }

    fn forget_in_row(&mut self, row: &Row, secret: &str, dry_run: bool) -> Result<bool, Error> {
        let before = &row.memory;
        let after = memory_without(secret, before);
        let original = row.original.as_ref().map(|original| rewritten(original, before, &after));
        let original = original.and_then(|original| json_without(&original, secret));
        let has_it = after != *before || original.is_some();
        if dry_run || !has_it {
            return Ok(has_it);
        }
        if after != *before {
            self.update(before, &after)?;
        }
        if let Some(original) = original {
            let sql = "UPDATE memories SET original = ?2 WHERE key = ?1";
            self.execute(&[statement(sql, [Value::Integer(row.key), text(&original)])])?;
        }
        self.removed.push(row.key);
        Ok(true)
    }

    /// Replaces the text by a mark in `agents.document`, the agent's file without its records.
    /// Returns whether the text was found.
    fn forget_in_document(
        &mut self,
        agent: i64,
        secret: &str,
        dry_run: bool,
    ) -> Result<bool, Error> {
        let sql = "SELECT document FROM agents WHERE key = ?1";
        let row = query_one(self.transaction, statement(sql, [Value::Integer(agent)]))?;
        let document = row.and_then(|mut row| row.pop()).unwrap_or(Value::Null);
        let document = into_optional_text(document)?;
        let Some(document) = document.and_then(|document| json_without(&document, secret)) else {
            return Ok(false);
        };
        if !dry_run {
            let sql = "UPDATE agents SET document = ?2 WHERE key = ?1";
            self.execute(&[statement(sql, [Value::Integer(agent), text(&document)])])?;
        }
        Ok(true)
    }
}

fn memory_without(secret: &str, memory: &Memory) -> Memory {
    let cleaned = |text: &String| without(secret, text).unwrap_or_else(|| text.clone());
    Memory {
        content: cleaned(&memory.content),
        category: memory.category.as_ref().map(cleaned),
        tags: memory.tags.iter().map(cleaned).collect(),
        ..memory.clone()
    }
}
