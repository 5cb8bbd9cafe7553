//! A memory as a row of the database.

use super::sql::{
    count, flag, integer, into_optional_text, into_text, optional_text, text, unexpected,
};
use crate::storage::database::Value;
use crate::time::Timestamp;
use crate::toolsets::records::error::Error;
use crate::toolsets::records::memory::{Importance, Kind, Memory};
use crate::words::fold;

/// The columns of a row, in the order in which [`Row::read`] takes them.
pub(super) const COLUMNS: &str = "m.key, m.id, m.type, m.content, m.category, m.created_at, \
     m.updated_at, m.accessed_at, m.access_count, m.tags, m.importance, m.archived, m.original";

/// A memory with the other columns of its row.
pub(super) struct Row {
    pub key: i64,
    pub memory: Memory,
    /// The text of the record as another program wrote it, if the record holds more than the
    /// memory.
    pub original: Option<String>,
}

impl Row {
    pub fn read(values: Vec<Value>) -> Result<Self, Error> {
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or(Value::Null);
        let key = integer(&next())?;
        let memory = Memory {
            id: into_text(next())?,
            kind: one_of(&Kind::ALL, &next())?,
            content: into_text(next())?,
            category: into_optional_text(next())?,
            created_at: timestamp(&next())?,
            updated_at: timestamp(&next())?,
            accessed_at: timestamp(&next())?,
            access_count: u64::try_from(integer(&next())?).unwrap_or(0),
            tags: tags(next())?,
            importance: one_of(&Importance::ALL, &next())?,
            archived: integer(&next())? != 0,
        };
        Ok(Self { key, memory, original: into_optional_text(next())? })
    }
}

/// The columns whose values are computed from the memory.
pub(super) const VALUE_COLUMNS: [&str; 14] = [
    "id",
    "type",
    "content",
    "category",
    "created_at",
    "updated_at",
    "accessed_at",
    "access_count",
    "tags",
    "importance",
    "archived",
    "bytes",
    "folded",
    "stamp",
];

/// The values of [`VALUE_COLUMNS`]. `folded` is the [`folded`] text of the memory.
pub(super) fn values(memory: &Memory, folded: &str) -> [Value; 14] {
    [
        text(&memory.id),
        Value::Integer(memory.kind as i64),
        text(&memory.content),
        optional_text(memory.category.as_deref()),
        Value::Integer(memory.created_at.milliseconds()),
        Value::Integer(memory.updated_at.milliseconds()),
        Value::Integer(memory.accessed_at.milliseconds()),
        count(memory.access_count),
        Value::Text(tags_text(memory)),
        Value::Integer(memory.importance as i64),
        flag(memory.archived),
        count(memory.bytes()),
        text(stored_folded(memory, folded)),
        Value::Integer(memory.stamp()),
    ]
}

/// The part of the folded text that the column `folded` holds. An ASCII content is left out: SQL
/// folds it by `lower(content)`.
fn stored_folded<'a>(memory: &Memory, folded: &'a str) -> &'a str {
    if memory.content.is_ascii() { &folded[memory.content.len()..] } else { folded }
}

/// The text of a memory that a search looks through, folded. Content, category and each tag
/// are on lines of their own, so that no term matches across two of them.
pub(super) fn folded(memory: &Memory) -> String {
    memory.searched_texts().map(fold).collect::<Vec<_>>().join("\n")
}

pub(super) fn tags_text(memory: &Memory) -> String {
    serde_json::to_string(&memory.tags).expect("tags are JSON")
}

pub(super) fn tags(value: Value) -> Result<Vec<String>, Error> {
    let stored = into_text(value)?;
    serde_json::from_str(&stored).map_err(|_| unexpected("a JSON array", &Value::Text(stored)))
}

fn one_of<T: Copy>(all: &[T], value: &Value) -> Result<T, Error> {
    let index = usize::try_from(integer(value)?).ok();
    index
        .and_then(|index| all.get(index).copied())
        .ok_or_else(|| unexpected("a smaller integer", value))
}

pub(super) fn timestamp(value: &Value) -> Result<Timestamp, Error> {
    Timestamp::from_milliseconds(integer(value)?).ok_or_else(|| unexpected("a timestamp", value))
}
