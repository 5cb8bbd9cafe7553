//! The tables of an index, and their version.

use crate::derived::DerivedDatabase;
use crate::ranking::Language;
use crate::storage::{Error, ErrorCode};

/// The derived database with the index of a place.
pub(crate) const DATABASE: DerivedDatabase = DerivedDatabase {
    name: "search.db",
    tables: &["segments", "postings", "index_version"],
    version_table: "index_version",
    // The version includes the usual language, see `version_of`. Tables of any language can be read.
    knows: |version| version % OF_LANGUAGE == VERSION,
    earlier_tables: &["version"],
    sqlite_tables: SQLITE_TABLES,
    postgres_tables: POSTGRES_TABLES,
};

/// The version of the tables, of the stems, and of the texts that an entry is found by. An index of
/// another version is built anew.
const VERSION: i64 = 3;

/// The version of an index whose default language is `usual`: texts whose language cannot be detected
/// have its stems. An index with another default language is built anew.
pub(super) fn version_of(usual: Language) -> i64 {
    VERSION + OF_LANGUAGE * usual as i64
}

const OF_LANGUAGE: i64 = 1_000;

const SQLITE_TABLES: &[&str] = &[
    "CREATE TABLE segments (segment INTEGER PRIMARY KEY, collection TEXT NOT NULL, \
     work INTEGER NOT NULL, documents BLOB NOT NULL, gone BLOB NOT NULL)",
    "CREATE TABLE postings (segment INTEGER, stem INTEGER, parts BLOB NOT NULL, \
     PRIMARY KEY (segment, stem)) WITHOUT ROWID",
    "CREATE TABLE index_version (version INTEGER NOT NULL)",
];

/// The columns of bytes are not compressed, because that would save little.
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

/// The error for an index of another version. No caller sees it: the index is ignored.
pub(super) fn other_version() -> Error {
    Error::new(ErrorCode::NotFound, "there is no index of this version")
}
