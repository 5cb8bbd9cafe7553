//! SQLite as another program uses it: tests create databases with it, and query them afterwards.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// Creates a database file with these statements.
///
/// # Panics
///
/// If a statement fails.
pub fn make_file(path: &Path, statements: &[String]) {
    let connection = Connection::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    run(&connection, statements);
}

/// The rows of a query of a database file.
///
/// # Errors
///
/// If there is no such file, or SQLite refuses the query.
pub fn rows_of_file(path: &Path, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    rows(&connection.map_err(|error| format!("{}: {error}", path.display()))?, sql)
}

/// Runs statements in order.
///
/// # Panics
///
/// If a statement fails.
pub fn run(connection: &Connection, statements: &[impl AsRef<str>]) {
    for sql in statements.iter().map(AsRef::as_ref) {
        connection.execute_batch(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
}

/// The rows of a query, as JSON. A text that is not UTF-8 is altered.
///
/// # Errors
///
/// If SQLite refuses the query, or a row has a blob.
pub fn rows(connection: &Connection, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    let failed = |error: rusqlite::Error| format!("{error}: {sql}");
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let width = statement.column_count();
    let mut found = statement.query([]).map_err(failed)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next().map_err(failed)? {
        let value = |column| match row.get_ref(column).map_err(failed)? {
            ValueRef::Null => Ok(Value::Null),
            ValueRef::Integer(value) => Ok(value.into()),
            ValueRef::Real(value) => Ok(value.into()),
            ValueRef::Text(value) => Ok(String::from_utf8_lossy(value).into_owned().into()),
            ValueRef::Blob(_) => Err(format!("a blob is no JSON: {sql}")),
        };
        rows.push((0..width).map(value).collect::<Result<_, String>>()?);
    }
    Ok(rows)
}
