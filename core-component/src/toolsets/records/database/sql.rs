//! Building SQL statements, and converting values.

use crate::sql::type_of;
pub(super) use crate::sql::{is_in_integers, is_in_texts, is_name, statement, text};
use crate::storage::database::{Statement, Transaction, Value};
use crate::toolsets::records::error::{Code, Error};

/// The first row of a query's result.
pub(super) fn query_one(
    transaction: &dyn Transaction,
    statement: Statement,
) -> Result<Option<Vec<Value>>, Error> {
    Ok(transaction.query(&statement, 1)?.rows.into_iter().next())
}

pub(super) fn optional_text(value: Option<&str>) -> Value {
    value.map_or(Value::Null, text)
}

/// A number as a value. A number that is too large for a column, which another program may have
/// written, becomes the largest integer.
pub(super) fn count(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// A list as a parameter, in JSON.
pub(super) fn json(list: &impl serde::Serialize) -> Value {
    Value::Text(serde_json::to_string(list).expect("lists are JSON"))
}

pub(super) fn flag(value: bool) -> Value {
    Value::Integer(value.into())
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

pub(super) fn into_optional_text(value: Value) -> Result<Option<String>, Error> {
    match value {
        Value::Null => Ok(None),
        other => into_text(other).map(Some),
    }
}

/// The error of a value that this program never writes.
pub(super) fn unexpected(expected: &str, found: &Value) -> Error {
    let found = type_of(found);
    let message = format!(
        "`memories.db` holds {found} where {expected} is expected: another program changed it, \
         mend that row or restore the file from a backup"
    );
    Error::new(Code::CorruptedData, message)
}
