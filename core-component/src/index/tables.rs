//! The tables of an index, and their version.

use crate::ranking::Language;
use crate::sql::{DatabaseDescription, statement};
use crate::storage::database::{Connection, Dialect, Mode, Rows, Statement, Transaction, Value};
use crate::storage::{Error, ErrorCode};

/// The derived database with the index of a place.
pub(super) const DATABASE: &str = "search.db";

/// The description of the index for hosts.
pub(crate) const DESCRIPTION: DatabaseDescription = DatabaseDescription {
    name: DATABASE,
    dialects: &["sqlite", "postgres"],
    // Empty, because a search makes the tables.
    sqlite_tables: &[],
    postgres_tables: POSTGRES_TABLES,
};

/// The version of the tables, of the stems, and of the texts that an entry is found by. An index of
/// another version is built anew.
const VERSION: i64 = 2;

/// The version of an index in which texts whose language cannot be detected have the stems of `usual`.
pub(super) fn version_of(usual: Language) -> i64 {
    VERSION + OF_LANGUAGE * usual as i64
}

/// Whether an index of a version has the form of this program, for any usual language.
pub(super) fn is_of_this_program(version: i64) -> bool {
    version % OF_LANGUAGE == VERSION
}

const OF_LANGUAGE: i64 = 1_000;

/// Drops existing tables, and creates the tables. The table `version` was made by earlier programs.
const CREATE: [&str; 7] = [
    "DROP TABLE IF EXISTS segments",
    "DROP TABLE IF EXISTS postings",
    "DROP TABLE IF EXISTS index_version",
    "DROP TABLE IF EXISTS version",
    "CREATE TABLE segments (segment INTEGER PRIMARY KEY, collection TEXT NOT NULL, \
     work INTEGER NOT NULL, documents BLOB NOT NULL, gone BLOB NOT NULL)",
    "CREATE TABLE postings (segment INTEGER, stem INTEGER, parts BLOB NOT NULL, \
     PRIMARY KEY (segment, stem)) WITHOUT ROWID",
    "CREATE TABLE index_version (version INTEGER NOT NULL)",
];

/// The tables on PostgreSQL, which all places share. Their bytes are not compressed, because that would
/// save little.
const POSTGRES_TABLES: &[&str] = &[
    r#"CREATE TABLE segments (
        tenant tenant,
        place place,
        segment bigint NOT NULL,
        collection text COLLATE "C" NOT NULL,
        work bigint NOT NULL,
        documents bytea NOT NULL,
        gone bytea NOT NULL,
        PRIMARY KEY (tenant, place, segment)
    )"#,
    "CREATE INDEX segments_of_collection ON segments (tenant, place, collection)",
    "ALTER TABLE segments ALTER COLUMN documents SET STORAGE EXTERNAL",
    r#"CREATE TABLE postings (
        tenant tenant,
        place place,
        segment bigint NOT NULL,
        stem bigint NOT NULL,
        parts bytea NOT NULL,
        PRIMARY KEY (tenant, place, segment, stem)
    )"#,
    "ALTER TABLE postings ALTER COLUMN parts SET STORAGE EXTERNAL",
    r#"CREATE TABLE index_version (
        tenant tenant,
        place place,
        version bigint NOT NULL,
        PRIMARY KEY (tenant, place)
    )"#,
];

/// Makes an empty index of a version, unless another search has made one of that version meanwhile.
pub(super) fn create(version: i64, connection: &dyn Connection) -> Result<(), Error> {
    let transaction = connection.begin(Mode::Write(None))?;
    if has_tables(&*transaction)? && version_in(&*transaction)? == Some(version) {
        return Ok(());
    }
    create_in(&*transaction, version)?;
    transaction.commit()
}

/// Replaces a damaged index by an empty one of a version.
pub(super) fn create_anew(version: i64, connection: &dyn Connection) -> Result<(), Error> {
    let transaction = connection.begin(Mode::Write(None))?;
    create_in(&*transaction, version)?;
    transaction.commit()
}

fn create_in(transaction: &dyn Transaction, version: i64) -> Result<(), Error> {
    match transaction.dialect() {
        Dialect::Sqlite => drop(transaction.execute(&CREATE.map(|sql| statement(sql, [])))?),
        Dialect::Postgres => empty(transaction)?,
    }
    let insert = "INSERT INTO index_version (version) VALUES (?1)";
    transaction.execute(&[statement(insert, [Value::Integer(version)])])?;
    Ok(())
}

/// Whether the table `index_version` exists. On PostgreSQL a migration has made it.
fn has_tables(transaction: &dyn Transaction) -> Result<bool, Error> {
    if transaction.dialect() == Dialect::Postgres {
        return Ok(true);
    }
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'index_version'";
    Ok(!transaction.query(&statement(sql, []), 1)?.rows.is_empty())
}

/// Removes all of an index, also its version.
pub(super) fn empty(transaction: &dyn Transaction) -> Result<(), Error> {
    let delete = |table: &str| statement(&format!("DELETE FROM {table}"), []);
    transaction.execute(&["postings", "segments", "index_version"].map(delete))?;
    Ok(())
}

/// The version of the index. `None` if the tables have no version yet. Fails if the table is missing or
/// has another form: another program may have made it.
pub(super) fn version(connection: &dyn Connection) -> Result<Option<i64>, Error> {
    read_version(connection.query(&select_version(), 1)?)
}

fn version_in(transaction: &dyn Transaction) -> Result<Option<i64>, Error> {
    read_version(transaction.query(&select_version(), 1)?)
}

fn select_version() -> Statement {
    statement("SELECT version FROM index_version", [])
}

fn read_version(rows: Rows) -> Result<Option<i64>, Error> {
    match rows.rows.first().map(Vec::as_slice) {
        None => Ok(None),
        Some([Value::Integer(version)]) => Ok(Some(*version)),
        Some(_) => Err(other_version()),
    }
}

/// The error for an index that this program did not write. No caller sees it: the index is ignored or
/// made anew.
pub(super) fn damaged() -> Error {
    Error::new(ErrorCode::Corrupted, "the index is damaged")
}

/// The error for an index that is missing or has another version.
pub(super) fn other_version() -> Error {
    Error::new(ErrorCode::NotFound, "there is no index of this version")
}

pub(super) fn is_damaged(error: &Error) -> bool {
    error.code == ErrorCode::Corrupted
}

/// Whether the error is temporary: it tells nothing about the contents of the database.
pub(super) fn is_passing(error: &Error) -> bool {
    matches!(error.code, ErrorCode::Busy | ErrorCode::Cancelled)
}
