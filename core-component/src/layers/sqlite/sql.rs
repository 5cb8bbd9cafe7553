//! Statements and values.

use crate::layers::error::{Code, Error};
use crate::storage::database::{Statement, Value};
use crate::time::Timestamp;

pub(super) fn statement(sql: &str, parameters: impl Into<Vec<Value>>) -> Statement {
    Statement { sql: sql.to_owned(), parameters: parameters.into() }
}

pub(super) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

pub(super) fn integer(value: &Value) -> Result<i64, Error> {
    match value {
        Value::Integer(value) => Ok(*value),
        other => Err(unexpected("an integer", other)),
    }
}

pub(super) fn into_text(value: Value) -> Result<String, Error> {
    match value {
        Value::Text(value) => Ok(value),
        other => Err(unexpected("text", &other)),
    }
}

/// A moment; none where the column holds none that can be read.
pub(super) fn moment(value: Value) -> Option<Timestamp> {
    match value {
        Value::Text(text) => Timestamp::parse_stored(&text),
        _ => None,
    }
}

/// The database holds what no program of this schema writes.
fn unexpected(expected: &str, found: &Value) -> Error {
    let found = match found {
        Value::Null => "null",
        Value::Integer(_) => "an integer",
        Value::Real(_) => "a real number",
        Value::Text(_) => "text",
        Value::Blob(_) => "a blob",
    };
    let message = format!(
        "the database of layers holds {found} where {expected} is expected: another program changed \
         it, mend that row or restore the file from a backup"
    );
    Error::new(Code::CorruptedData, message)
}
