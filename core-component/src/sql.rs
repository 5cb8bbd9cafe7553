//! Building SQL statements, and naming values in errors.
//!
//! Each statement is written once for SQLite and PostgreSQL. The functions of this module write the
//! parts in which the two dialects differ. On PostgreSQL, the schema has SQLite's `instr`, `typeof`,
//! `unixepoch` and `json_each`, so statements may use these. There, a value of `json_each` is always a
//! text. Each column has the collation `C`: `lower` changes only ASCII letters, and texts sort by
//! bytes.

use serde::Serialize;

use crate::storage::database::{Dialect, Statement, Value};

/// Describes a database that a place may contain, or a derived database that each place may have.
#[derive(Serialize)]
pub(crate) struct DatabaseDescription {
    pub name: &'static str,
    /// The SQL dialects that the component has statements for.
    pub dialects: &'static [&'static str],
    /// The statements that make an empty database in SQLite, in order.
    pub sqlite_tables: &'static [&'static str],
    /// The statements that make the tables on PostgreSQL, in order. Each table has a column of the type
    /// `tenant`, a number whose default is the tenant of the transaction. Each table of a derived
    /// database also has a column of the type `place`, a text whose default is the place of the
    /// transaction: each place has its own derived database.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub postgres_tables: &'static [&'static str],
}

pub(crate) fn statement(sql: &str, parameters: impl Into<Vec<Value>>) -> Statement {
    Statement { sql: sql.to_owned(), parameters: parameters.into() }
}

pub(crate) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// The condition that a column is one of the integers of a parameter, which is a list in JSON.
pub(crate) fn is_in_integers(dialect: Dialect, column: &str, parameter: &str) -> String {
    is_in(dialect, column, "integers", parameter)
}

/// The condition that a column is one of the texts of a parameter, which is a list in JSON.
pub(crate) fn is_in_texts(dialect: Dialect, column: &str, parameter: &str) -> String {
    is_in(dialect, column, "texts", parameter)
}

fn is_in(dialect: Dialect, column: &str, array: &str, parameter: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each({parameter}))"),
        // PostgreSQL's planner knows the length of an array, but not the number of rows of a subquery.
        Dialect::Postgres => format!("{column} = ANY ({array}({parameter}))"),
    }
}

/// The condition that a column is one of the values of a query with one column.
pub(crate) fn is_in_query(dialect: Dialect, column: &str, query: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{column} IN ({query})"),
        // With `IN` and without statistics, PostgreSQL may read the whole table for a join.
        Dialect::Postgres => format!("{column} = ANY (ARRAY({query}))"),
    }
}

/// A table in a FROM clause, with the columns `number` and `bytes`: it has the rows of a parameter that
/// [`numbered_bytes`] made.
pub(crate) fn each_numbered(dialect: Dialect, parameter: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!(
            "(SELECT value->>0 AS number, unhex(value->>1) AS bytes FROM json_each({parameter}))"
        ),
        Dialect::Postgres => format!("each_numbered({parameter})"),
    }
}

/// Numbers, each with bytes, as one parameter in JSON.
pub(crate) fn numbered_bytes<'b>(rows: impl Iterator<Item = (i64, &'b [u8])>) -> Value {
    json(&rows.map(|(number, bytes)| (number, hex(bytes))).collect::<Vec<_>>())
}

/// A list as one parameter in JSON.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> Value {
    text(&serde_json::to_string(value).expect("strings and numbers are JSON"))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: u8| char::from(DIGITS[usize::from(number)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The condition that a name equals a parameter if the case of ASCII letters is ignored. On SQLite, the
/// collation of `column` ignores case; on PostgreSQL, `lower_column` has the name in lower case.
pub(crate) fn is_name(
    dialect: Dialect,
    column: &str,
    lower_column: &str,
    parameter: &str,
) -> String {
    match dialect {
        Dialect::Sqlite => format!("{column} = {parameter} COLLATE NOCASE"),
        Dialect::Postgres => format!("{lower_column} = lower({parameter} COLLATE \"C\")"),
    }
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
