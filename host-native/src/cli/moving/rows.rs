//! Moves the rows of a database, page by page in the order of their keys.

use super::table::{MAX_ID, PAGE, Row, Table, created, quoted, shown, statement};
use super::work::{Counts, Pass, Work};
use crate::DatabaseDescription;
use crate::storage::api::database::Transaction as _;
use crate::storage::{Database, Dialect, Error, ErrorCode, Value};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A sequence is set this far above the highest moved key. Writers of other tenants may take keys at
/// the same moment: without the margin, the sequence could give those keys a second time.
const MARGIN: i64 = 100;

/// The move of one database in one pass.
pub(super) struct Moved<'a> {
    pub pass: Pass,
    pub source: Database,
    /// `None` if the target does not exist: then the pass copies nothing.
    pub target: Option<Database>,
    pub tables: &'a [Table],
    pub database: &'a DatabaseDescription,
}

/// Whether any of the tables has a row.
pub(super) fn has_any(database: &Database, tables: &[Table]) -> Result<bool, Error> {
    let existing = existing(database, tables)?;
    for table in tables.iter().filter(|table| existing.contains(&table.name)) {
        if !database.query(&table.page(None, None, 1), 1)?.rows.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a SQLite database is that of another program: it has tables, but lacks some of `tables`.
pub(super) fn is_foreign(database: &Database, tables: &[Table]) -> Result<bool, Error> {
    let existing = existing(database, tables)?;
    Ok(!existing.is_empty() && tables.iter().any(|table| !existing.contains(&table.name)))
}

/// The names of the tables that a database has.
fn existing(database: &Database, tables: &[Table]) -> Result<BTreeSet<String>, Error> {
    if database.dialect() == Dialect::Postgres {
        return Ok(tables.iter().map(|table| table.name.clone()).collect());
    }
    let names = statement("SELECT name FROM sqlite_schema WHERE type = 'table'", Vec::new());
    let rows = database.query(&names, 10_000)?.rows;
    Ok(rows.iter().map(|row| shown(&row[0])).collect())
}

impl Moved<'_> {
    /// Carries out a pass on all tables.
    pub fn run(&self, work: &mut Work<'_>, counts: &mut Counts) -> Result<(), Error> {
        let in_source = existing(&self.source, self.tables)?;
        if self.pass == Pass::Check && self.source.dialect() == Dialect::Sqlite {
            self.check_tables(work, &in_source)?;
        }
        if self.pass == Pass::Copy
            && let Some(target) = &self.target
        {
            if target.dialect() == Dialect::Sqlite && existing(target, self.tables)?.is_empty() {
                let tables = self.database.sqlite_tables.iter();
                let tables: Vec<_> = tables.map(|sql| statement(sql, Vec::new())).collect();
                work.execute(target, &tables)?;
            }
            for table in self.tables.iter().filter(|table| in_source.contains(&table.name)) {
                self.count_on(work, target, table)?;
            }
        }
        let in_target = match &self.target {
            Some(target) => existing(target, self.tables)?,
            None => BTreeSet::new(),
        };
        for table in self.tables.iter().filter(|table| in_source.contains(&table.name)) {
            let target = self.target.as_ref().filter(|_| in_target.contains(&table.name));
            self.compare(work, table, target, counts)?;
        }
        Ok(())
    }

    /// Reports tables, columns and ids of a SQLite source that cannot be moved.
    fn check_tables(&self, work: &mut Work<'_>, existing: &BTreeSet<String>) -> Result<(), Error> {
        let location = self.source.location();
        let known = |name: &&Table| existing.contains(&name.name);
        if let Some(missing) = self.tables.iter().find(|table| !known(table))
            && self.tables.iter().any(|table| known(&table))
        {
            work.problem(&format!(
                "{location}: the table `{}` is missing: change the memory once by a tool, which makes \
                 it",
                missing.name
            ));
        }
        let own: BTreeSet<&str> = created(&self.database.sqlite_tables).collect();
        for table in existing {
            if !own.contains(table.as_str()) && !table.starts_with("sqlite_") {
                work.note(format!("{location}: the table `{table}` of another program stays"));
            }
        }
        for table in self.tables.iter().filter(|table| existing.contains(&table.name)) {
            if self.counted(table)? > MAX_ID {
                let name = &table.name;
                work.problem(&format!(
                    "{location}: `sqlite_sequence` counts the ids of `{name}` beyond {MAX_ID}: set its \
                     `seq` to the highest id of the table in a copy, and move that"
                ));
            }
            let name = Value::Text(table.name.clone());
            let columns = statement("SELECT name FROM pragma_table_info(?1)", vec![name]);
            for row in self.source.query(&columns, 10_000)?.rows {
                let column = shown(&row[0]);
                if !table.has_column(&column) {
                    work.problem(&format!(
                        "{location}: another program has added the column `{column}` to `{}`, and the \
                         database has none: remove it from a copy, and move that",
                        table.name
                    ));
                }
            }
        }
        Ok(())
    }

    fn compare(
        &self,
        work: &mut Work<'_>,
        table: &Table,
        target: Option<&Database>,
        counts: &mut Counts,
    ) -> Result<(), Error> {
        let location = self.source.location();
        let to_server = self.source.dialect() == Dialect::Sqlite;
        let mut after: Option<Row> = None;
        let mut limit = PAGE;
        loop {
            let rows = self.source.query(&table.page(after.as_ref(), None, limit), PAGE as u32);
            if is_too_large(&rows) && limit > 1 {
                limit /= 2;
                continue;
            }
            let rows = rows?.rows;
            let upto = (rows.len() == limit).then(|| rows[limit - 1].clone());
            let mut can_be_moved = true;
            for row in rows.iter().filter(|_| to_server) {
                if let Some(objection) = table.objection(row) {
                    let row = self.shown(table, row);
                    work.problem(&format!("{location}: {row}: {objection}"));
                    can_be_moved = false;
                }
            }
            let there = match target.filter(|_| can_be_moved) {
                Some(target) => {
                    // Reading one row more than expected is enough to find extra rows.
                    let page = table.page(after.as_ref(), upto.as_ref(), limit + 1);
                    let there = target.query(&page, PAGE as u32 + 1);
                    if is_too_large(&there) && limit > 1 {
                        limit /= 2;
                        continue;
                    }
                    there?.rows
                }
                None => Vec::new(),
            };
            let count = rows.len();
            counts.rows += count as u64;
            let missing = self.differences(work, table, rows, there, counts);
            match (self.pass, target) {
                (Pass::Copy, Some(target)) if !missing.is_empty() => {
                    let dialect = target.dialect();
                    let rows = missing.into_iter().map(|row| table.insert(dialect, row));
                    work.execute(target, &rows.collect::<Vec<_>>())?;
                }
                (Pass::Check, _) => {}
                _ => missing.iter().for_each(|row| {
                    work.problem(&format!(
                        "{location}: {}: is not in the target",
                        self.shown(table, row)
                    ));
                }),
            }
            work.advance(count);
            let Some(last) = upto else { return Ok(()) };
            after = Some(last);
        }
    }

    /// Returns the rows that the target lacks. Reports other differences as problems.
    fn differences(
        &self,
        work: &mut Work<'_>,
        table: &Table,
        rows: Vec<Row>,
        there: Vec<Row>,
        counts: &mut Counts,
    ) -> Vec<Row> {
        let location = self.source.location();
        let mut missing = Vec::new();
        let mut there = there.into_iter().peekable();
        let foreign = |work: &mut Work<'_>, row: &Row| {
            let row = self.shown(table, row);
            work.problem(&format!("{row}: the target has this of another memory"));
        };
        for row in rows {
            let key = table.key_of(&row);
            let order = |other: &Row| compare_keys(&table.key_of(other), &key);
            while let Some(other) = there.next_if(|other| order(other) == Ordering::Less) {
                foreign(work, &other);
            }
            match there.next_if(|other| order(other) == Ordering::Equal) {
                Some(other) => {
                    counts.there += 1;
                    if other != row {
                        let row = self.shown(table, &row);
                        work.problem(&format!("{location}: {row}: is another one in the target"));
                    }
                }
                None => missing.push(row),
            }
        }
        there.for_each(|other| foreign(work, &other));
        missing
    }

    /// Describes a row for people, with the names of the rows to which it refers.
    fn shown(&self, table: &Table, row: &Row) -> String {
        table.shown(row, |reference, key| {
            let of = self.tables.iter().find(|table| table.name == reference.table)?;
            let rows = self.source.query(&of.name_of(&reference.column, key)?, 1).ok()?.rows;
            Some(shown(rows.first()?.first()?))
        })
    }

    /// The highest id that SQLite has ever given in a table (`sqlite_sequence`). 0 if it counts none.
    fn counted(&self, table: &Table) -> Result<i64, Error> {
        if !has_sequences(&self.source)? {
            return Ok(0);
        }
        let counted = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
        integer(&self.source, counted, vec![Value::Text(table.name.clone())])
    }

    /// Sets the sequence of the target above all keys that the source ever gave, including those of
    /// deleted rows.
    fn count_on(&self, work: &Work<'_>, target: &Database, table: &Table) -> Result<(), Error> {
        let Some(key) = table.identity() else { return Ok(()) };
        let name = Value::Text(table.name.clone());
        let column = Value::Text(key.to_owned());
        let highest = format!("SELECT max({}) FROM {}", quoted(key), quoted(&table.name));
        let mut highest = integer(&self.source, &highest, Vec::new())?;
        if target.dialect() == Dialect::Postgres {
            // The check has refused ids above `MAX_ID`. The limit is applied again, since the file may
            // have changed after the check.
            highest = highest.max(self.counted(table)?).min(MAX_ID);
            let sql = "SELECT setval(s, greatest(?1, pg_sequence_last_value(s))) FROM (SELECT pg_get_serial_sequence('agent_memory.' || \
                       quote_ident(?2), ?3)::regclass AS s) AS found \
                       WHERE coalesce(pg_sequence_last_value(s), 0) < ?4";
            let to = Value::Integer(highest + MARGIN);
            let parameters = vec![to, name, column, Value::Integer(highest)];
            let transaction = work.begin_write(target)?;
            transaction.query(&statement(sql, parameters), 1)?;
            return transaction.commit();
        }
        if !has_sequences(target)? {
            return Ok(());
        }
        let counted = "SELECT pg_sequence_last_value(pg_get_serial_sequence('agent_memory.' || \
                       quote_ident(?1), ?2)::regclass)";
        let counted = integer(&self.source, counted, vec![name.clone(), column])?;
        let highest = Value::Integer(highest.max(counted));
        let counts = "EXISTS (SELECT 1 FROM sqlite_schema \
                      WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%')";
        let delete = format!("DELETE FROM sqlite_sequence WHERE name = ?1 AND {counts}");
        let insert =
            format!("INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2 WHERE {counts}");
        let statements =
            [statement(delete, vec![name.clone()]), statement(insert, vec![name, highest])];
        work.execute(target, &statements)
    }
}

/// Whether a SQLite database has tables with `AUTOINCREMENT` keys.
fn has_sequences(database: &Database) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'";
    Ok(integer(database, sql, Vec::new())? > 0)
}

/// The integer that a query returns. 0 for null or no row.
fn integer(database: &Database, sql: &str, parameters: Vec<Value>) -> Result<i64, Error> {
    let rows = database.query(&statement(sql, parameters), 1)?.rows;
    Ok(match rows.first().and_then(|row| row.first()) {
        Some(Value::Integer(number)) => *number,
        _ => 0,
    })
}

fn is_too_large<T>(result: &Result<T, Error>) -> bool {
    result.as_ref().is_err_and(|error| error.code == ErrorCode::TooLarge)
}

/// Compares keys in the order that both databases use.
fn compare_keys(one: &[Value], other: &[Value]) -> Ordering {
    let values = one.iter().zip(other).map(|pair| match pair {
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        (Value::Text(one), Value::Text(other)) => one.as_bytes().cmp(other.as_bytes()),
        // The check has reported keys of other types as problems.
        _ => Ordering::Equal,
    });
    values.fold(Ordering::Equal, Ordering::then)
}
