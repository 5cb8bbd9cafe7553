//! The tables of vectors, and their version.

use crate::derived::DerivedDatabase;
use crate::storage::Error;
use crate::storage::database::Transaction;

/// The derived database with the vectors of a place.
pub(crate) const DATABASE: DerivedDatabase = DerivedDatabase {
    name: "vectors.db",
    tables: &["vectors", "vector_documents", "vector_collections", "vector_version"],
    version_table: "vector_version",
    knows: |version| version == VERSION,
    earlier_tables: &["collections", "documents", "version"],
    sqlite_tables: SQLITE_TABLES,
    postgres_tables: POSTGRES_TABLES,
};

/// The version of the tables.
pub(super) const VERSION: i64 = 1;

/// Whether the tables exist and have this version.
pub(super) fn is_current(transaction: &dyn Transaction) -> Result<bool, Error> {
    Ok(DATABASE.version(transaction)? == Some(VERSION))
}

/// - `vector_collections` has a row for each collection and model. All its vectors have one dimension.
///   Until `leased_until`, in milliseconds since 1970, no batch may be claimed: a host waits for an
///   answer, or the embedder has a pause. `asked` are the documents and texts of the current batch.
/// - `vector_documents` has the texts of each version of a document that was read, in the order of its
///   entries.
/// - `vectors` has a row for each of these texts. `numbers` is null while the text waits for its
///   vector, and empty for a blank text.
const SQLITE_TABLES: &[&str] = &[
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

/// Numbers are not compressed, because that would save little.
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
