//! Running a single statement.

use agent_memory_storage::database::{Effect, Mode, Rows, Statement, Value};
use agent_memory_storage::{Error, ErrorCode};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Row};

use super::connection::{Connection, MAX_ROWS_BYTES};
use super::control::CONTROL;
use super::error::{StatementError, not_granted, not_one};

/// The size that each value counts towards the maximum, beside its text or blob, in bytes.
const VALUE_BYTES: usize = 8;

/// Runs a statement, and returns at most `max_rows` of its rows.
pub(super) fn query(
    connection: &Connection,
    statement: &Statement,
    max_rows: u32,
    mode: Mode<'_>,
) -> Result<Rows, StatementError> {
    connection.as_call(|| read(connection, statement, max_rows, mode))
}

/// Runs a statement, and returns the number of rows that it changed.
pub(super) fn execute(
    connection: &Connection,
    statement: &Statement,
    mode: Mode<'_>,
) -> Result<Effect, StatementError> {
    connection.as_call(|| change(connection, statement, mode))
}

fn read(
    connection: &Connection,
    statement: &Statement,
    max_rows: u32,
    mode: Mode<'_>,
) -> Result<Rows, StatementError> {
    let mut prepared = prepare(connection, statement, mode)?;
    let columns: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let mut answer = Rows { columns, ..Rows::default() };
    let mut room = MAX_ROWS_BYTES;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next()? {
        if answer.rows.len() == max_rows as usize {
            answer.truncated = true;
            break;
        }
        answer.rows.push(values(row, width, &mut room)?);
    }
    Ok(answer)
}

fn change(
    connection: &Connection,
    statement: &Statement,
    mode: Mode<'_>,
) -> Result<Effect, StatementError> {
    let mut prepared = prepare(connection, statement, mode)?;
    let connection = &connection.sqlite;
    let before = connection.total_changes();
    let mut rows = prepared.raw_query();
    while rows.next()?.is_some() {}
    // After a statement that changes no rows, `changes` still has the count of an older statement.
    let is_changed = connection.total_changes() != before;
    Ok(Effect { changes: if is_changed { connection.changes() } else { 0 } })
}

fn prepare<'connection>(
    connection: &'connection Connection,
    statement: &Statement,
    mode: Mode<'_>,
) -> Result<CachedStatement<'connection>, StatementError> {
    // The host's own statements are in the statement cache of this connection, where the authoriser
    // does not check them.
    if CONTROL.contains(&statement.sql.trim()) {
        return Err(not_granted(None).into());
    }
    let mut prepared = connection.sqlite.prepare_cached(&statement.sql)?;
    if prepared.readonly() && prepared.column_count() == 0 && prepared.expanded_sql().is_none() {
        return Err(not_one().into());
    }
    if !mode.is_write() && !prepared.readonly() {
        let message = "a statement that changes something needs a write transaction";
        return Err(Error::new(ErrorCode::ReadOnly, message).into());
    }
    let takes = prepared.parameter_count();
    let given = statement.parameters.len();
    if takes != given {
        let message = format!("the statement takes {takes} parameters and was given {given}");
        return Err(Error::new(ErrorCode::Io, message).into());
    }
    if statement.parameters.iter().map(bytes).sum::<usize>() > MAX_ROWS_BYTES {
        let message =
            format!("the parameters of a statement are longer than {MAX_ROWS_BYTES} bytes");
        return Err(Error::new(ErrorCode::TooLarge, message).into());
    }
    for (index, value) in statement.parameters.iter().enumerate() {
        prepared.raw_bind_parameter(index + 1, Bound(value))?;
    }
    Ok(prepared)
}

fn bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(blob) => blob.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
    }
}

fn values(row: &Row<'_>, width: usize, room: &mut usize) -> Result<Vec<Value>, StatementError> {
    let mut values = Vec::with_capacity(width);
    for index in 0..width {
        let value = match row.get_ref(index)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(value) => Value::Integer(value),
            ValueRef::Real(value) => Value::Real(value),
            ValueRef::Text(text) => {
                claim(room, text.len())?;
                match std::str::from_utf8(text) {
                    Ok(text) => Value::Text(text.to_owned()),
                    Err(_) => Value::Blob(text.to_owned()),
                }
            }
            ValueRef::Blob(blob) => {
                claim(room, blob.len())?;
                Value::Blob(blob.to_owned())
            }
        };
        claim(room, VALUE_BYTES)?;
        values.push(value);
    }
    Ok(values)
}

fn claim(room: &mut usize, bytes: usize) -> Result<(), Error> {
    let message =
        || format!("the rows of a statement are longer than {MAX_ROWS_BYTES} bytes: ask for fewer");
    *room = room.checked_sub(bytes).ok_or_else(|| Error::new(ErrorCode::TooLarge, message()))?;
    Ok(())
}

/// A value as a parameter.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(value) => ValueRef::Integer(*value),
            Value::Real(value) => ValueRef::Real(*value),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}
