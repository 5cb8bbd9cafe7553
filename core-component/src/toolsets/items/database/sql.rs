//! Converts the values of columns.

use crate::sql::type_of;
pub(super) use crate::sql::{is_in_integers, is_in_query, statement, text};
use crate::storage::database::Value;
use crate::time::Timestamp;
use crate::toolsets::items::error::{Code, Error};

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

pub(super) fn optional<T>(
    value: Value,
    read: impl FnOnce(Value) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    if value == Value::Null { Ok(None) } else { read(value).map(Some) }
}

/// Returns a list of ids as a parameter, in JSON.
pub(super) fn json(list: &[i64]) -> Value {
    Value::Text(serde_json::to_string(list).expect("numbers are JSON"))
}

pub(super) fn moment(value: &Value) -> Result<Timestamp, Error> {
    let milliseconds = integer(value)?;
    Timestamp::from_milliseconds(milliseconds)
        .ok_or_else(|| damaged("a moment outside of all years"))
}

pub(super) fn milliseconds(moment: Timestamp) -> Value {
    Value::Integer(moment.milliseconds())
}

fn unexpected(expected: &str, found: &Value) -> Error {
    damaged(&format!("{} where {expected} is expected", type_of(found)))
}

/// The error for a row that this program cannot have written.
pub(super) fn damaged(what: &str) -> Error {
    let message = format!(
        "the database of items holds {what}: another program changed it, mend that row or restore \
         the file from a backup"
    );
    Error::new(Code::CorruptedData, message)
}
