//! A copy of a database for one write transaction, and the merge of its changes into the database.
//!
//! Transactions in different scopes (parts of a place) are open at the same time, each in its own copy.
//! If another transaction committed meanwhile, a commit compares the rows of the copy with the rows at
//! its beginning, and makes each change in the database. So tests find errors across scopes: two scopes
//! change the same row, or store the same unique value.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::backup::Backup;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

/// The number of ids that a transaction reserves for its new rows, so that transactions that are open
/// at the same time give no id twice. A server has sequences for this.
const IDS: i64 = 1_000;

/// The table and the key of a row, as text.
pub(super) type RowKey = (String, String);

/// All rows of a database.
type Rows = BTreeMap<RowKey, Vec<Cell>>;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Value(Value),
    /// A text that is not UTF-8.
    Bytes(Vec<u8>),
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Value(value) => ToSqlOutput::Borrowed(value.into()),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Text(bytes)),
        })
    }
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        match Value::try_from(value) {
            Ok(value) => Self::Value(value),
            Err(_) => Self::Bytes(value.as_bytes().unwrap_or_default().to_vec()),
        }
    }
}

/// The state of the database at the beginning of a transaction.
#[derive(Debug)]
pub(super) struct Begun {
    pub number: u64,
    rows: Rows,
    tables: Tables,
}

/// The tables by their names, with the version of the schema.
#[derive(Debug, PartialEq)]
struct Tables {
    version: i64,
    tables: BTreeMap<String, Table>,
}

#[derive(Debug, PartialEq)]
struct Table {
    sql: String,
    columns: Vec<String>,
    /// The columns of the primary key. Only `rowid` if the table has no primary key.
    key: Vec<String>,
}

/// A new connection in memory with the contents of another.
pub(super) fn copy_of(connection: &Connection) -> rusqlite::Result<Connection> {
    let mut copy = Connection::open_in_memory()?;
    Backup::new(connection, &mut copy)?.step(-1)?;
    Ok(copy)
}

impl Begun {
    /// Reads all rows. `number` is the number of transactions that have committed until now.
    pub fn new(connection: &Connection, number: u64) -> rusqlite::Result<Self> {
        let tables = Tables::read(connection)?;
        Ok(Self { number, rows: tables.rows(connection)?, tables })
    }

    /// The keys of the rows that a transaction has changed, each with the table, and whether the row
    /// still exists.
    pub fn changes(&self, after: &Connection) -> rusqlite::Result<BTreeMap<RowKey, bool>> {
        let after = Tables::read(after)?.rows(after)?;
        let keys: BTreeSet<_> = self.rows.keys().chain(after.keys()).collect();
        let changed = keys.into_iter().filter(|key| self.rows.get(key) != after.get(key));
        Ok(changed.map(|key| (key.clone(), after.contains_key(key))).collect())
    }

    /// Makes the changes of a transaction in the database, in which others have committed since it
    /// began.
    ///
    /// # Panics
    ///
    /// If another transaction has changed one of these rows, has stored the same unique value, or if the
    /// tables themselves were changed.
    pub fn merge(&self, after: &Connection, into: &Connection) -> rusqlite::Result<()> {
        let tables = Tables::read(after)?;
        let now = Tables::read(into)?;
        assert!(
            tables == self.tables && now == self.tables,
            "two scopes were at work while one of them changed the tables"
        );
        let [rows, found] = [tables.rows(after)?, now.rows(into)?];
        let changes = self.changes(after)?;
        for (table, key) in changes.keys() {
            let at = (table.clone(), key.clone());
            assert!(
                found.get(&at) == self.rows.get(&at),
                "two scopes changed one row at once: {key} of `{table}`"
            );
        }
        into.execute_batch("PRAGMA query_only = 0; PRAGMA foreign_keys = 0; BEGIN IMMEDIATE")?;
        for at in changes.keys() {
            if let Some(row) = self.rows.get(at) {
                tables.tables[&at.0].delete(&at.0, row, into)?;
            }
        }
        for at in changes.keys() {
            if let Some(row) = rows.get(at) {
                let stored = tables.tables[&at.0].insert(&at.0, row, into);
                stored.unwrap_or_else(|error| {
                    panic!(
                        "two scopes stored rows that exclude each other: {} of `{}`: {error}",
                        at.1, at.0
                    )
                });
            }
        }
        into.execute_batch("COMMIT")
    }
}

/// Reserves ids for the new rows of a transaction, which no other open transaction then gives. `last`
/// is the last reserved id until now. Returns the new last reserved id.
pub(super) fn reserve_ids(connection: &Connection, last: i64) -> rusqlite::Result<i64> {
    let sql =
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name = 'sqlite_sequence'";
    if !connection.prepare(sql)?.exists([])? {
        return Ok(last);
    }
    let from = last.max(greatest_id(connection)?) + IDS;
    connection.execute("DELETE FROM sqlite_sequence", [])?;
    let counting = "INSERT INTO sqlite_sequence (name, seq) \
                    SELECT name, ?1 FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'";
    connection.execute(counting, [from])?;
    Ok(from + IDS)
}

/// The greatest id that any row has ever had.
pub(super) fn greatest_id(connection: &Connection) -> rusqlite::Result<i64> {
    let sql =
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name = 'sqlite_sequence'";
    if !connection.prepare(sql)?.exists([])? {
        return Ok(0);
    }
    let greatest = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence";
    connection.query_row(greatest, [], |row| row.get(0))
}

impl Tables {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let mut listed = connection.prepare(
            "SELECT l.name, s.sql FROM pragma_table_list AS l \
             JOIN sqlite_schema AS s ON s.name = l.name \
             WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%'",
        )?;
        let listed =
            listed.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let mut tables = BTreeMap::new();
        for found in listed {
            let (name, sql) = found?;
            let mut described = connection
                .prepare("SELECT name, pk > 0 FROM pragma_table_info(?1) ORDER BY cid")?;
            let described = described
                .query_map([&name], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))?;
            let described = described.collect::<rusqlite::Result<Vec<_>>>()?;
            let mut columns: Vec<_> = described.iter().map(|(name, _)| name.clone()).collect();
            let keys = described.into_iter().filter(|(_, is_key)| *is_key);
            let mut key: Vec<_> = keys.map(|(name, _)| name).collect();
            if key.is_empty() {
                columns.insert(0, "rowid".to_owned());
                key.push("rowid".to_owned());
            }
            tables.insert(name, Table { sql, columns, key });
        }
        Ok(Self { version, tables })
    }

    fn rows(&self, connection: &Connection) -> rusqlite::Result<Rows> {
        let mut rows = Rows::new();
        for (name, table) in &self.tables {
            let columns = list(&table.columns);
            let mut statement = connection.prepare(&format!("SELECT {columns} FROM \"{name}\""))?;
            let mut found = statement.query([])?;
            while let Some(row) = found.next()? {
                let row = (0..table.columns.len()).map(|at| Ok(row.get_ref(at)?.into()));
                let row = row.collect::<rusqlite::Result<Vec<Cell>>>()?;
                rows.insert((name.clone(), format!("{:?}", table.key_of(&row))), row);
            }
        }
        Ok(rows)
    }
}

impl Table {
    fn key_of<'r>(&self, row: &'r [Cell]) -> Vec<&'r Cell> {
        let at = |name| self.columns.iter().position(|column| column == name);
        self.key.iter().map(|name| &row[at(name).expect("a column")]).collect()
    }

    fn delete(&self, name: &str, row: &[Cell], from: &Connection) -> rusqlite::Result<usize> {
        let is = self.key.iter().map(|column| format!("\"{column}\" IS ?"));
        let is = is.collect::<Vec<_>>().join(" AND ");
        from.execute(
            &format!("DELETE FROM \"{name}\" WHERE {is}"),
            params_from_iter(self.key_of(row)),
        )
    }

    fn insert(&self, name: &str, row: &[Cell], into: &Connection) -> rusqlite::Result<usize> {
        let marks = vec!["?"; row.len()].join(", ");
        let sql = format!("INSERT INTO \"{name}\" ({}) VALUES ({marks})", list(&self.columns));
        into.execute(&sql, params_from_iter(row))
    }
}

fn list(columns: &[String]) -> String {
    columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ")
}
