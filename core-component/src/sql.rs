//! Building SQL statements, and naming values in errors.

use crate::storage::database::{Statement, Value};

pub(crate) fn statement(sql: &str, parameters: impl Into<Vec<Value>>) -> Statement {
    Statement { sql: sql.to_owned(), parameters: parameters.into() }
}

pub(crate) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// The type of a value, for a message.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Integer(_) => "an integer",
        Value::Real(_) => "a real number",
        Value::Text(_) => "text",
        Value::Blob(bytes) if std::str::from_utf8(bytes).is_err() => "bytes that are not UTF-8",
        Value::Blob(_) => "a blob",
    }
}
