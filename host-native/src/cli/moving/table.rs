//! Reads the tables of a database from the catalogue of PostgreSQL. Tables and columns have the same
//! names in SQLite.

use crate::DatabaseDescription;
use crate::storage::{Database, Dialect, Error, Statement, Value};

/// The most rows of a page.
pub(super) const PAGE: usize = 500;

/// The most bytes that the texts of a row may have in one index. PostgreSQL's limit for an index entry
/// is 2,704.
const MAX_INDEXED: usize = 2_500;

/// The highest id that is moved into a database. All tenants share a sequence, and tools accept ids
/// below 2^53: half of them are left for the other tenants.
pub(super) const MAX_ID: i64 = 1 << 52;

/// PostgreSQL's type of texts.
const TEXT: &str = "text";

/// PostgreSQL's type of integers.
const INTEGER: &str = "int8";

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub name: String,
    columns: Vec<Column>,
    /// The positions of the columns of the primary key.
    key: Vec<usize>,
    /// The names of the columns of each index, and whether it is unique.
    indexes: Vec<(Vec<String>, bool)>,
}

#[derive(Debug)]
struct Column {
    name: String,
    kind: String,
    is_required: bool,
    /// Whether the database generates the values of this column.
    is_identity: bool,
    reference: Option<Reference>,
}

/// The column of another table that a column refers to.
#[derive(Debug)]
pub(super) struct Reference {
    pub table: String,
    pub column: String,
}

/// A row with the values of all columns.
pub(super) type Row = Vec<Value>;

pub(super) fn statement(sql: impl Into<String>, parameters: Vec<Value>) -> Statement {
    Statement { sql: sql.into(), parameters }
}

fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

/// The names of the tables that statements create.
pub(super) fn created(statements: &[String]) -> impl Iterator<Item = &str> {
    statements.iter().filter_map(|sql| {
        let rest = sql.trim_start().strip_prefix("CREATE TABLE ")?;
        let rest = rest.strip_prefix("IF NOT EXISTS ").unwrap_or(rest);
        rest.split(|c: char| c.is_whitespace() || c == '(').next()
    })
}

const COLUMNS: &str = "SELECT a.attname, t.typname, \
        CASE WHEN a.attnotnull THEN 1 ELSE 0 END, CASE WHEN a.attidentity <> '' THEN 1 ELSE 0 END \
    FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid \
    WHERE a.attrelid = ('agent_memory.' || quote_ident(?1))::regclass AND a.attnum > 0 \
        AND NOT a.attisdropped AND a.attname <> 'tenant' AND a.attgenerated = '' \
    ORDER BY a.attnum";

const REFERENCES: &str = "SELECT a.attname, p.relname, b.attname \
    FROM pg_catalog.pg_constraint AS c CROSS JOIN unnest(c.conkey, c.confkey) AS k(own, other) \
    JOIN pg_catalog.pg_class AS p ON p.oid = c.confrelid \
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.own \
    JOIN pg_catalog.pg_attribute AS b ON b.attrelid = c.confrelid AND b.attnum = k.other \
    WHERE c.contype = 'f' AND c.conrelid = ('agent_memory.' || quote_ident(?1))::regclass";

const INDEXES: &str = "SELECT i.indexrelid::bigint, a.attname, \
        CASE WHEN i.indisprimary THEN 1 ELSE 0 END, CASE WHEN i.indisunique THEN 1 ELSE 0 END \
    FROM pg_catalog.pg_index AS i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k(number, place) \
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number \
    WHERE i.indrelid = ('agent_memory.' || quote_ident(?1))::regclass AND a.attname <> 'tenant' \
    ORDER BY i.indexrelid, k.place";

impl Table {
    /// The tables of a database. A table comes after those to which it refers, so they can be filled in
    /// this order.
    pub fn all(server: &Database, description: &DatabaseDescription) -> Result<Vec<Self>, Error> {
        created(&description.postgres_tables).map(|name| Table::read(server, name)).collect()
    }

    fn read(server: &Database, name: &str) -> Result<Self, Error> {
        let rows = |sql| server.query(&statement(sql, vec![text(name)]), 10_000);
        let references = rows(REFERENCES)?.rows;
        let reference = |column: &Value| {
            let of_column = references.iter().find(|row| row[0] == *column)?;
            Some(Reference { table: shown(&of_column[1]), column: shown(&of_column[2]) })
        };
        let column = |row: &Row| Column {
            reference: reference(&row[0]),
            name: shown(&row[0]),
            kind: shown(&row[1]),
            is_required: row[2] == Value::Integer(1),
            is_identity: row[3] == Value::Integer(1),
        };
        let columns: Vec<Column> = rows(COLUMNS)?.rows.iter().map(column).collect();
        let indexes = rows(INDEXES)?.rows;
        let position = |row: &Row| columns.iter().position(|column| column.name == shown(&row[1]));
        let primary = indexes.iter().filter(|row| row[2] == Value::Integer(1));
        let key = primary.filter_map(position).collect();
        let index = |rows: &[Row]| {
            let names = rows.iter().map(|row| shown(&row[1])).collect();
            (names, rows[0][3] == Value::Integer(1))
        };
        let indexes = indexes.chunk_by(|one, next| one[0] == next[0]).map(index).collect();
        Ok(Table { name: name.to_owned(), columns, key, indexes })
    }

    /// The statement that reads rows in the order of their keys, from after the key `after` up to the key
    /// `upto`.
    pub fn page(&self, after: Option<&Row>, upto: Option<&Row>, limit: usize) -> Statement {
        let keys = self.key.iter().map(|at| quoted(&self.columns[*at].name));
        let keys = keys.collect::<Vec<_>>().join(", ");
        let mut parameters: Vec<Value> = Vec::new();
        let mut conditions = Vec::new();
        for (comparison, bound) in [(">", after), ("<=", upto)] {
            if let Some(row) = bound {
                let values = self.key_of(row);
                conditions.push(format!(
                    "({keys}) {comparison} ({})",
                    numbers(parameters.len(), values.len())
                ));
                parameters.extend(values);
            }
        }
        let conditions = match conditions.len() {
            0 => String::new(),
            _ => format!(" WHERE {}", conditions.join(" AND ")),
        };
        let sql = format!(
            "SELECT {} FROM {}{conditions} ORDER BY {keys} LIMIT {limit}",
            self.names(),
            quoted(&self.name)
        );
        statement(sql, parameters)
    }

    /// The statement that inserts a row with its key.
    pub fn insert(&self, dialect: Dialect, row: Row) -> Statement {
        let has_identity = self.columns.iter().any(|column| column.is_identity);
        let overriding = match dialect {
            Dialect::Postgres if has_identity => "OVERRIDING SYSTEM VALUE ",
            _ => "",
        };
        let sql = format!(
            "INSERT INTO {} ({}) {overriding}VALUES ({})",
            quoted(&self.name),
            self.names(),
            numbers(0, row.len())
        );
        statement(sql, row)
    }

    /// The statement that reads the name of a row by its key: its first required text. `None` if the
    /// table has no such column.
    pub fn name_of(&self, column: &str, key: &Value) -> Option<Statement> {
        let name = self.columns.iter().find(|column| column.kind == TEXT && column.is_required)?;
        let sql = format!(
            "SELECT {} FROM {} WHERE {} = ?1",
            quoted(&name.name),
            quoted(&self.name),
            quoted(column)
        );
        Some(statement(sql, vec![key.clone()]))
    }

    /// The column whose values the database generates, if any.
    pub fn identity(&self) -> Option<&str> {
        self.columns.iter().find(|column| column.is_identity).map(|column| column.name.as_str())
    }

    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name))
    }

    pub fn key_of(&self, row: &Row) -> Row {
        self.key.iter().map(|at| row[*at].clone()).collect()
    }

    /// Describes a row for people by its identifying columns. `name` returns the name of the row to
    /// which a column refers.
    pub fn shown(&self, row: &Row, name: impl Fn(&Reference, &Value) -> Option<String>) -> String {
        let is_short = |value: &Value| !matches!(value, Value::Text(text) if text.len() > 100);
        let parts = self.columns.iter().zip(row).filter(|(column, value)| {
            let in_index = |(names, is_unique): &(Vec<String>, bool)| {
                (*is_unique || column.kind == TEXT) && names.contains(&column.name)
            };
            self.indexes.iter().any(in_index) && is_short(value)
        });
        let parts = parts.map(|(column, value)| {
            let name = column.reference.as_ref().and_then(|reference| name(reference, value));
            let name = name.map_or_else(String::new, |name| format!(" ({name})"));
            format!("{} {}{name}", column.name, shown(value))
        });
        format!("`{}`, {}", self.name, parts.collect::<Vec<_>>().join(", "))
    }

    /// Why PostgreSQL cannot store a row. `None` if it can.
    pub fn objection(&self, row: &Row) -> Option<String> {
        for (at, (column, value)) in self.columns.iter().zip(row).enumerate() {
            let Column { name, kind, is_required, is_identity, .. } = column;
            let is_id = *is_identity || self.key.contains(&at);
            let expected = match (value, kind.as_str()) {
                (Value::Null, _) if *is_required => Some("is missing"),
                (Value::Integer(id), INTEGER) if is_id && !(1..=MAX_ID).contains(id) => {
                    return Some(format!(
                        "`{name}` is not from 1 to {MAX_ID}: give the row another id in a copy, and \
                         move that"
                    ));
                }
                (Value::Text(text), TEXT) if text.contains('\0') => {
                    Some("has the character NUL (U+0000): take it out")
                }
                (Value::Text(_), TEXT) | (Value::Integer(_), INTEGER) | (Value::Null, _) => None,
                (Value::Blob(_), TEXT) => Some("is not UTF-8"),
                (_, TEXT) => Some("is not a text"),
                _ => Some("is not a number"),
            };
            if let Some(reason) = expected {
                return Some(format!("`{name}` {reason}"));
            }
        }
        self.indexes.iter().find_map(|(names, _)| {
            let indexed = self.columns.iter().zip(row);
            let indexed = indexed.filter(|(column, _)| names.contains(&column.name));
            let bytes = |value: &Value| if let Value::Text(text) = value { text.len() } else { 8 };
            let bytes: usize = indexed.map(|(_, value)| bytes(value)).sum();
            (bytes > MAX_INDEXED).then(|| {
                let names = names.join("` and `");
                format!("`{names}` have {bytes} bytes: shorten them to {MAX_INDEXED} together")
            })
        })
    }

    fn names(&self) -> String {
        self.columns.iter().map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ")
    }
}

/// Formats a value for people.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(text) => text.escape_debug().to_string(),
        Value::Blob(blob) => format!("{} bytes", blob.len()),
    }
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The list of `count` placeholders, numbered from `after + 1`.
fn numbers(after: usize, count: usize) -> String {
    let numbers = (1..=count).map(|number| format!("?{}", after + number));
    numbers.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_would_use_up_the_ids_of_all_tenants_cannot_be_moved() {
        let column = |name: &str, is_identity| Column {
            name: name.to_owned(),
            kind: INTEGER.to_owned(),
            is_required: true,
            is_identity,
            reference: None,
        };
        let table = Table {
            name: "things".to_owned(),
            columns: vec![column("id", true), column("stamp", false)],
            key: vec![0],
            indexes: Vec::new(),
        };
        let objection = |id| table.objection(&vec![Value::Integer(id), Value::Integer(i64::MIN)]);
        for id in [1, MAX_ID] {
            assert_eq!(objection(id), None, "{id}");
        }
        for id in [i64::MIN, -1, 0, MAX_ID + 1, (1 << 53) - 1, i64::MAX] {
            let said = objection(id).expect("an objection");
            assert!(said.starts_with("`id` is not from 1 to 4503599627370496: "), "{said}");
        }
    }
}
