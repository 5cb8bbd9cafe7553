//! Unnamed statements, one round trip each.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, RowStream};

/// The value and the type of a parameter.
pub(crate) struct Parameter(Box<dyn ToSql + Sync + Send>, Type);

impl Parameter {
    pub fn new(value: impl ToSql + Sync + Send + 'static, kind: Type) -> Self {
        Self(Box::new(value), kind)
    }

    pub fn text(value: impl Into<String>) -> Self {
        Self::new(value.into(), Type::TEXT)
    }

    pub fn integer(value: i64) -> Self {
        Self::new(value, Type::INT8)
    }

    pub fn texts(texts: Vec<String>) -> Self {
        Self::new(texts, Type::TEXT_ARRAY)
    }
}

/// The rows of a statement, as they arrive.
pub(crate) async fn stream(
    client: &Client,
    sql: &str,
    parameters: &[Parameter],
) -> Result<RowStream, tokio_postgres::Error> {
    client.query_typed_raw(sql, typed(parameters)).await
}

fn typed(parameters: &[Parameter]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let typed = parameters.iter().map(|Parameter(value, kind)| {
        let value: &(dyn ToSql + Sync) = &**value;
        (value, kind.clone())
    });
    typed.collect()
}

/// The rows of a statement.
pub(crate) async fn rows(
    client: &Client,
    sql: &str,
    parameters: &[Parameter],
) -> Result<Vec<Row>, tokio_postgres::Error> {
    client.query_typed(sql, &typed(parameters)).await
}

/// Runs a statement, and returns the number of changed rows.
pub(crate) async fn execute(
    client: &Client,
    sql: &str,
    parameters: &[Parameter],
) -> Result<u64, tokio_postgres::Error> {
    client.execute_typed(sql, &typed(parameters)).await
}

/// A text as an SQL expression, for statements without parameters. It does not depend on the server's
/// settings for quotes and backslashes.
pub(crate) fn literal(text: &str) -> String {
    let hexadecimal: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("convert_from(decode('{hexadecimal}', 'hex'), 'UTF8')")
}
