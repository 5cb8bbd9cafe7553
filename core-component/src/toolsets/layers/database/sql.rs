//! Statements and values.

use crate::sql::type_of;
pub(super) use crate::sql::{is_in_integers, is_name, statement, text};
use crate::storage::database::Value;
use crate::time::Timestamp;
use crate::toolsets::layers::error::{Code, Error};

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

/// A list of ids as a parameter, in JSON.
pub(super) fn json(ids: &[i64]) -> Value {
    Value::Text(serde_json::to_string(ids).expect("ids are JSON"))
}

/// The moment in a column. `None` if the column has no readable moment.
pub(super) fn moment(value: Value) -> Option<Timestamp> {
    match value {
        Value::Text(text) => Timestamp::parse_stored(&text),
        _ => None,
    }
}

/// The error of a value that does not fit the schema.
fn unexpected(expected: &str, found: &Value) -> Error {
    let found = type_of(found);
    let message = format!(
        "the database of layers holds {found} where {expected} is expected: another program changed \
         it, mend that row or restore the file from a backup"
    );
    Error::new(Code::CorruptedData, message)
}
