//! Removing a text from all layers of an agent, or one row of a layer.

use super::reader::Reader;
use super::sql::{integer, is_in_integers, json, statement, text};
use super::writer::{OF_TASK, Writer};
use crate::forget::REMOVED;
use crate::storage::database::Value;
use crate::toolsets::layers::error::Error;

/// A layer: its name in the hits of a search, its table, and the columns with text.
struct Layer {
    name: &'static str,
    table: &'static str,
    columns: &'static [&'static str],
}

/// The layers that `forget_memory` searches for a text.
const LAYERS: [Layer; 5] = [
    Layer { name: "core", table: CORE, columns: &["memory"] },
    Layer { name: "recent", table: RECENT, columns: &["memory"] },
    Layer { name: "task", table: "current_task", columns: &["task"] },
    Layer { name: "episodic", table: "episodic_memories", columns: &["memory", "tags"] },
    Layer { name: "compost", table: "memory_compost", columns: &["summary"] },
];

/// The table in which no two texts of an agent are equal.
const CORE: &str = "core_memories";

/// The table whose rows can be in a batch, which waits for a model's summary.
const RECENT: &str = "recent_memories";

/// The rows of an agent that have the text to forget, or the row to forget.
#[derive(Debug, Default)]
pub(in crate::toolsets::layers) struct Rows {
    /// The ids of the rows, by the name of their layer.
    pub rows: Vec<(String, Vec<i64>)>,
    /// Whether there may be further rows.
    pub has_more: bool,
}

impl Reader<'_> {
    /// The rows that have a text, at most `most` of each layer.
    pub fn with_text(&self, secret: &str, most: u32) -> Result<Rows, Error> {
        let mut found = Rows::default();
        for Layer { name, table, columns } in &LAYERS {
            let has = |column| format!("instr({column}, ?2) > 0 OR instr({column}, ?4) > 0");
            let has = columns.iter().map(has);
            let has = has.collect::<Vec<_>>().join(" OR ");
            let sql = format!(
                "SELECT id FROM {table} WHERE agent_id = ?1 AND ({has}) ORDER BY id LIMIT ?3"
            );
            let most_rows = Value::Integer(most.into());
            let asked = [text(self.agent), text(secret), most_rows, text(&with_crlf(secret))];
            let rows = self.rows(table, &sql, asked, most)?;
            found.has_more |= rows.len() == most as usize;
            if !rows.is_empty() {
                let ids = rows.iter().map(|row| integer(&row[0])).collect::<Result<_, _>>()?;
                found.rows.push(((*name).to_owned(), ids));
            }
        }
        Ok(found)
    }

    /// Whether the agent has a row. False if no layer has this name.
    pub fn has_row(&self, layer: &str, id: i64) -> Result<bool, Error> {
        let Some(Layer { table, .. }) = layer_of(layer) else { return Ok(false) };
        let sql = format!("SELECT 1 FROM {table} WHERE agent_id = ?1 AND id = ?2");
        let parameters = [text(self.agent), Value::Integer(id)];
        Ok(!self.rows(table, &sql, parameters, 1)?.is_empty())
    }
}

impl Writer<'_> {
    /// Replaces a text by the mark [`REMOVED`] in all layers, in at most `most` rows of each layer.
    /// Returns the rows that had the text.
    pub fn forget(&mut self, secret: &str, most: u32) -> Result<Rows, Error> {
        let found = self.reader().with_text(secret, most)?;
        for (name, ids) in &found.rows {
            let Some(Layer { table, columns, .. }) = layer_of(name) else { continue };
            if *table == CORE {
                self.forget_in_core(secret, ids)?;
            } else {
                let set = columns.iter().map(|column| format!("{column} = {}", without(column)));
                let set = set.collect::<Vec<_>>().join(", ");
                let is_one = is_in_integers(self.transaction.dialect(), "id", "?4");
                let update = format!("UPDATE {table} SET {set} WHERE {is_one}");
                self.execute(&[statement(&update, parameters_of_without(secret, ids))])?;
            }
            self.note_forgotten(table, ids.clone())?;
        }
        Ok(found)
    }

    /// Like [`forget`](Self::forget), in core memories. If two core memories become equal, only the
    /// last one stays.
    fn forget_in_core(&mut self, secret: &str, ids: &[i64]) -> Result<(), Error> {
        let is_one = is_in_integers(self.transaction.dialect(), "id", "?4");
        let without = without("memory");
        let sql = format!("SELECT id, {without} FROM {CORE} WHERE {is_one} ORDER BY id");
        let parameters = parameters_of_without(secret, ids);
        let rows = self.reader().rows(CORE, &sql, parameters, ids.len() as u32)?;
        let mut statements = Vec::new();
        for row in rows {
            let parameters = [vec![self.agent()], row].concat();
            for sql in [
                "DELETE FROM core_memories WHERE agent_id = ?1 AND id <> ?2 AND memory = ?3",
                "UPDATE core_memories SET memory = ?3 WHERE agent_id = ?1 AND id = ?2",
            ] {
                statements.push(statement(sql, parameters.clone()));
            }
        }
        self.execute(&statements)
    }

    /// Deletes a row of a layer for good. Returns whether the agent had the row.
    pub fn forget_row(&mut self, layer: &str, id: i64) -> Result<bool, Error> {
        let has_row = self.reader().has_row(layer, id)?;
        let Some(Layer { table, .. }) = layer_of(layer).filter(|_| has_row) else {
            return Ok(false);
        };
        let delete = format!("DELETE FROM {table} WHERE agent_id = ?1 AND id = ?2");
        self.execute(&[statement(&delete, [self.agent(), Value::Integer(id)])])?;
        self.note_forgotten(table, vec![id])?;
        Ok(true)
    }

    fn note_forgotten(&mut self, table: &'static str, ids: Vec<i64>) -> Result<(), Error> {
        if table == RECENT {
            // The batch has a digest of the old texts, so a model's summary of them could not be
            // used. The next add makes another batch.
            self.remove_batch()?;
        }
        let ids = if table == "current_task" { vec![OF_TASK] } else { ids };
        self.forgotten.push((table, ids));
        Ok(())
    }
}

/// SQL for the value of a column in which a mark replaces the text.
fn without(column: &str) -> String {
    format!("replace(replace({column}, ?1, ?2), ?3, ?2)")
}

/// The parameters 1 to 3 for the SQL of [`without`]. Parameter 4 has the ids of the rows.
fn parameters_of_without(secret: &str, ids: &[i64]) -> [Value; 4] {
    [text(secret), text(REMOVED), text(&with_crlf(secret)), json(ids)]
}

/// The text with Windows line ends: another program may have stored it so.
fn with_crlf(secret: &str) -> String {
    secret.replace('\n', "\r\n")
}

fn layer_of(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}
