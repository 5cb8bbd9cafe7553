//! The tables of vectors, and their version.

use crate::sql::{DatabaseDescription, statement};
use crate::storage::database::{Connection, Dialect, Kind, Mode, Statement, Transaction, Value};
use crate::storage::{Error, Place, Storage};

/// The derived database with the vectors of a place.
const DATABASE: &str = "vectors.db";

/// The description of the database of vectors for hosts.
pub(crate) const DESCRIPTION: DatabaseDescription = DatabaseDescription {
    name: DATABASE,
    dialects: &["sqlite", "postgres"],
    // Empty, because a search makes the tables.
    sqlite_tables: &[],
    postgres_tables: POSTGRES_TABLES,
};

/// The version of the tables. Tables of another version are dropped.
const VERSION: i64 = 1;

/// Drops existing tables, and creates the tables. The first three tables were made by earlier programs.
///
/// - `vector_collections` has a row for each collection and model. All its vectors have one dimension.
///   Until `leased_until`, in milliseconds since 1970, a host has a lease or the embedder rests.
///   `asked` are the documents and the texts of the batch that the embedder is asked for.
/// - `vector_documents` has the texts of each version of a document that was read, in the order of its
///   entries.
/// - `vectors` has a row for each of these texts. `numbers` is null while the text waits for its
///   vector, and empty for a blank text.
const CREATE: [&str; 14] = [
    "DROP TABLE IF EXISTS collections",
    "DROP TABLE IF EXISTS documents",
    "DROP TABLE IF EXISTS version",
    "DROP TABLE IF EXISTS vector_collections",
    "DROP TABLE IF EXISTS vector_documents",
    "DROP TABLE IF EXISTS vectors",
    "DROP TABLE IF EXISTS vector_version",
    "CREATE TABLE vector_collections (collection INTEGER PRIMARY KEY, name TEXT NOT NULL, \
     model TEXT NOT NULL, dimension INTEGER, leased_until INTEGER NOT NULL DEFAULT 0, digest TEXT, \
     asked TEXT NOT NULL DEFAULT '[]', failures INTEGER NOT NULL DEFAULT 0, UNIQUE (name, model))",
    "CREATE TABLE vector_documents (collection INTEGER, document INTEGER, version INTEGER NOT NULL, \
     texts BLOB NOT NULL, PRIMARY KEY (collection, document)) WITHOUT ROWID",
    "CREATE TABLE vectors (vector INTEGER PRIMARY KEY, collection INTEGER NOT NULL, \
     document INTEGER NOT NULL, text INTEGER NOT NULL, failures INTEGER NOT NULL DEFAULT 0, \
     numbers BLOB, UNIQUE (collection, document, text))",
    "CREATE INDEX vectors_of_collection ON vectors (collection)",
    "CREATE INDEX vectors_of_text ON vectors (collection, text)",
    "CREATE INDEX vectors_wanted ON vectors (collection, failures) WHERE numbers IS NULL",
    "CREATE TABLE vector_version (version INTEGER NOT NULL)",
];

/// The tables on PostgreSQL, which all places share. Numbers are not compressed, because that would
/// save little.
const POSTGRES_TABLES: &[&str] = &[
    r#"CREATE TABLE vector_collections (
        tenant tenant,
        place place,
        collection bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        name text COLLATE "C" NOT NULL,
        model text COLLATE "C" NOT NULL,
        dimension bigint,
        leased_until bigint NOT NULL DEFAULT 0,
        digest text COLLATE "C",
        asked text COLLATE "C" NOT NULL DEFAULT '[]',
        failures bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (tenant, place, collection),
        UNIQUE (tenant, place, name, model)
    )"#,
    r#"CREATE TABLE vector_documents (
        tenant tenant,
        place place,
        collection bigint NOT NULL,
        document bigint NOT NULL,
        version bigint NOT NULL,
        texts bytea NOT NULL,
        PRIMARY KEY (tenant, place, collection, document)
    )"#,
    r#"CREATE TABLE vectors (
        tenant tenant,
        place place,
        vector bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
        collection bigint NOT NULL,
        document bigint NOT NULL,
        text bigint NOT NULL,
        failures bigint NOT NULL DEFAULT 0,
        numbers bytea,
        PRIMARY KEY (tenant, place, collection, vector),
        UNIQUE (tenant, place, collection, document, text)
    )"#,
    "ALTER TABLE vectors ALTER COLUMN numbers SET STORAGE EXTERNAL",
    "CREATE INDEX vectors_of_text ON vectors (tenant, place, collection, text)",
    "CREATE INDEX vectors_wanted ON vectors (tenant, place, collection, failures) \
     WHERE numbers IS NULL",
    r#"CREATE TABLE vector_version (
        tenant tenant,
        place place,
        version bigint NOT NULL,
        PRIMARY KEY (tenant, place)
    )"#,
];

pub(super) fn open<'s>(
    storage: &'s dyn Storage,
    place: &Place,
    creates: bool,
) -> Result<Box<dyn Connection + 's>, Error> {
    storage.open_database(place, DATABASE, Kind::Derived, creates)
}

/// Opens the database for changes, and makes its tables if they are not there.
pub(super) fn open_for_changes<'s>(
    storage: &'s dyn Storage,
    place: &Place,
) -> Result<Box<dyn Connection + 's>, Error> {
    let connection = open(storage, place, true)?;
    let transaction = connection.begin(Mode::Write(None))?;
    // The check is in the transaction: `create` must not drop tables that another host has just made.
    if !is_current(&*transaction)? {
        create(&*transaction)?;
        transaction.commit()?;
    }
    drop(transaction);
    Ok(connection)
}

/// Makes the tables anew, or on PostgreSQL empties them.
fn create(transaction: &dyn Transaction) -> Result<(), Error> {
    let delete = |table: &str| statement(&format!("DELETE FROM {table}"), []);
    let mut statements: Vec<Statement> = match transaction.dialect() {
        Dialect::Sqlite => CREATE.iter().map(|sql| statement(sql, [])).collect(),
        Dialect::Postgres => {
            ["vectors", "vector_documents", "vector_collections", "vector_version"]
                .map(delete)
                .into()
        }
    };
    let insert = "INSERT INTO vector_version (version) VALUES (?1)";
    statements.push(statement(insert, [Value::Integer(VERSION)]));
    transaction.execute(&statements)?;
    Ok(())
}

/// Whether the place may have vectors. If not, this is the only query to a server.
pub(super) fn has_any(connection: &dyn Connection) -> Result<bool, Error> {
    if connection.dialect() == Dialect::Sqlite {
        return Ok(true);
    }
    Ok(!connection.query(&select_version(), 1)?.rows.is_empty())
}

/// Whether the tables exist and have this version.
pub(super) fn is_current(transaction: &dyn Transaction) -> Result<bool, Error> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN \
                  ('vector_collections', 'vector_documents', 'vectors', 'vector_version')";
    let has_tables = match transaction.dialect() {
        Dialect::Sqlite => {
            transaction.query(&statement(tables, []), 1)?.rows == [[Value::Integer(4)]]
        }
        Dialect::Postgres => true,
    };
    Ok(has_tables && transaction.query(&select_version(), 1)?.rows == [[Value::Integer(VERSION)]])
}

fn select_version() -> Statement {
    statement("SELECT version FROM vector_version", [])
}
