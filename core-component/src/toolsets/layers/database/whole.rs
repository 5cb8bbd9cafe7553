//! All entries of an agent: reading them in pages, and adding imported entries.

use super::reader::Reader;
use super::row::Row;
use super::sql::{integer, text};
use super::writer::Writer;
use crate::storage::database::Value;
use crate::time::Timestamp;
use crate::toolsets::layers::error::Error;
use crate::toolsets::layers::line::Line;
use crate::toolsets::layers::memory::{Compost, Episode, Memory, Task, column_text};

/// Where a page begins: the number of a layer, and the id of the last row before the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::toolsets::layers) struct Position {
    layer: usize,
    after: i64,
}

impl Position {
    pub const START: Self = Self { layer: 0, after: i64::MIN };

    /// Parses what [`Position::cursor`] writes.
    pub fn parse(cursor: &str) -> Option<Self> {
        let (layer, after) = cursor.split_once(':')?;
        let position = Self { layer: layer.parse().ok()?, after: after.parse().ok()? };
        (position.layer < LAYERS.len()).then_some(position)
    }

    pub fn cursor(self) -> String {
        format!("{}:{}", self.layer, self.after)
    }
}

/// A table, its columns after the id, and the function that makes a line from a row.
type LayerRows = (&'static str, &'static str, fn(Row) -> Result<Line, Error>);

/// The layers in the order of an export.
const LAYERS: [LayerRows; 5] = [
    ("core_memories", "memory, created_at", |row| {
        let Memory { memory, created_at, .. } = row.memory()?;
        Ok(Line::Core { memory, created_at })
    }),
    ("recent_memories", "memory, created_at", |row| {
        let Memory { memory, created_at, .. } = row.memory()?;
        Ok(Line::Recent { memory, created_at })
    }),
    ("current_task", "task, started_at, updated_at", |row| {
        let Task { task, started_at, updated_at } = row.task()?;
        Ok(Line::Task { task, started_at, updated_at })
    }),
    ("episodic_memories", "memory, tags, created_at", |row| {
        let Episode { memory, tags, created_at, .. } = row.episode()?;
        Ok(Line::Episode { memory, tags, created_at })
    }),
    ("memory_compost", "summary, original_count, archived_at", |row| {
        let Compost { summary, original_count, archived_at, .. } = row.compost()?;
        Ok(Line::Compost { summary, original_count, archived_at })
    }),
];

impl Reader<'_> {
    /// Reads the entries of at most `most` rows from a position on. Also returns where the next
    /// page begins, if there may be one.
    pub fn page(&self, start: Position, most: u32) -> Result<(Vec<Line>, Option<Position>), Error> {
        let mut lines = Vec::new();
        let mut after = start.after;
        let mut room = most;
        for (number, (table, columns, line)) in LAYERS.iter().enumerate().skip(start.layer) {
            let sql = format!(
                "SELECT id, {columns} FROM {table} WHERE agent_id = ?1 AND id > ?2 \
                 ORDER BY id LIMIT ?3"
            );
            let parameters = [text(self.agent), Value::Integer(after), Value::Integer(room.into())];
            for row in self.rows(table, &sql, parameters, room)? {
                after = integer(&row[0])?;
                lines.extend(self.entry(table, row, line)?);
                room -= 1;
            }
            if room == 0 {
                return Ok((lines, Some(Position { layer: number, after })));
            }
            after = i64::MIN;
        }
        Ok((lines, None))
    }
}

impl Writer<'_> {
    /// Adds an imported entry after all others of its layer. Returns false and adds nothing if the
    /// agent has the same core memory already, or if the entry is a task and the agent has a task.
    pub fn import(&mut self, line: &Line) -> Result<bool, Error> {
        let moment = |moment: &Option<Timestamp>| {
            moment.map_or(Value::Null, |moment| Value::Text(column_text(moment)))
        };
        match line {
            Line::Core { memory, .. } if self.reader().core_id(memory)?.is_some() => {
                return Ok(false);
            }
            Line::Core { memory, created_at } => self.insert(
                "INSERT INTO core_memories (agent_id, memory, created_at) VALUES (?1, ?2, ?3) \
                 RETURNING id",
                [self.agent(), text(memory), moment(created_at)],
            )?,
            Line::Recent { memory, created_at } => self.insert(
                "INSERT INTO recent_memories (agent_id, memory, created_at) VALUES (?1, ?2, ?3) \
                 RETURNING id",
                [self.agent(), text(memory), moment(created_at)],
            )?,
            Line::Task { .. } if self.reader().has_task()? => return Ok(false),
            Line::Task { task, started_at, updated_at } => {
                let started_at = *started_at;
                let updated_at = *updated_at;
                self.set_task(&Task { task: task.clone(), started_at, updated_at })?;
                return Ok(true);
            }
            Line::Episode { memory, tags, created_at } => {
                let tags = (!tags.is_empty()).then(|| tags.join(","));
                let tags = tags.map_or(Value::Null, Value::Text);
                self.insert(
                    "INSERT INTO episodic_memories (agent_id, memory, tags, created_at) \
                     VALUES (?1, ?2, ?3, ?4) RETURNING id",
                    [self.agent(), text(memory), tags, moment(created_at)],
                )?
            }
            Line::Compost { summary, original_count, archived_at } => self.insert(
                "INSERT INTO memory_compost (agent_id, summary, original_count, archived_at) \
                 VALUES (?1, ?2, ?3, ?4) RETURNING id",
                [self.agent(), text(summary), Value::Integer(*original_count), moment(archived_at)],
            )?,
        };
        Ok(true)
    }
}
