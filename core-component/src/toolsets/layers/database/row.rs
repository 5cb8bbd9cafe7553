//! Rows as memories.

use super::sql::{integer, into_text, moment};
use crate::storage::database::Value;
use crate::toolsets::layers::error::Error;
use crate::toolsets::layers::memory::{Compost, Episode, Memory, Task};

/// The values of one row, in the order of its columns.
pub(in crate::toolsets::layers) struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub fn new(values: Vec<Value>) -> Self {
        Self(values.into_iter())
    }

    fn next(&mut self) -> Value {
        self.0.next().unwrap_or(Value::Null)
    }

    /// Reads the columns `id, memory, created_at`.
    pub fn memory(mut self) -> Result<Memory, Error> {
        Ok(Memory {
            id: integer(&self.next())?,
            memory: into_text(self.next())?,
            created_at: moment(self.next()),
        })
    }

    /// Reads the columns `id, memory, tags, created_at`.
    pub fn episode(mut self) -> Result<Episode, Error> {
        Ok(Episode {
            id: integer(&self.next())?,
            memory: into_text(self.next())?,
            tags: tags(self.next())?,
            created_at: moment(self.next()),
        })
    }

    /// Reads the columns `id, summary, original_count, archived_at`.
    pub fn compost(mut self) -> Result<Compost, Error> {
        Ok(Compost {
            id: integer(&self.next())?,
            summary: into_text(self.next())?,
            original_count: match self.next() {
                Value::Null => 0,
                count => integer(&count)?,
            },
            archived_at: moment(self.next()),
        })
    }

    /// Reads the columns `id, task, started_at, updated_at`.
    pub fn task(mut self) -> Result<Task, Error> {
        self.next();
        Ok(Task {
            task: into_text(self.next())?,
            started_at: moment(self.next()),
            updated_at: moment(self.next()),
        })
    }
}

/// The tags of a column, which holds them joined by commas.
fn tags(value: Value) -> Result<Vec<String>, Error> {
    if value == Value::Null {
        return Ok(Vec::new());
    }
    let joined = into_text(value)?;
    let tags = joined.split(',').map(str::trim).filter(|tag| !tag.is_empty());
    Ok(tags.map(str::to_owned).collect())
}
