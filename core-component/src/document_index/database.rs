//! The index as a derived database: all of its SQL.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::postings::{Indexed, Lengths, Posting, Postings, Stem};
use super::segment::{self, Segment};
use crate::ranking::Counts;
use crate::sql::{statement, text};
use crate::storage::database::{Connection, Kind, Mode, Statement, Transaction, Value};
use crate::storage::{Error, ErrorCode, Place, Storage};
use crate::work::OF_INDEXING;

const DATABASE: &str = "documents.db";

/// The version of the tables, of the stems, and of the texts that an entry is found by. An index of another version is built anew.
const VERSION: i64 = 5;

/// An index of as many documents, or of as many bytes of documents, takes no more. The others are
/// read directly.
const MAX_DOCUMENTS: u32 = 30_000;
const MAX_BYTES: i64 = 64 << 20;

/// The most small segments. With more, they are dropped: the next search indexes their documents
/// together.
const MAX_SMALL_SEGMENTS: u64 = 16;
/// A segment whose documents took less work is small.
const LEAST_WORK: u64 = OF_INDEXING / 4;

/// Drops what is there, and creates the tables. A document without a stamp is indexed elsewhere
/// since.
const CREATE: [&str; 7] = [
    "DROP TABLE IF EXISTS documents",
    "DROP TABLE IF EXISTS postings",
    "DROP TABLE IF EXISTS version",
    "CREATE TABLE documents (segment INTEGER, number INTEGER, path TEXT NOT NULL, stamp TEXT, \
     version TEXT NOT NULL, size INTEGER NOT NULL, work INTEGER NOT NULL, lengths TEXT NOT NULL, \
     facts TEXT NOT NULL, PRIMARY KEY (segment, number)) WITHOUT ROWID",
    "CREATE INDEX documents_by_path ON documents (path)",
    "CREATE TABLE postings (segment INTEGER, stem INTEGER, entries TEXT NOT NULL, \
     PRIMARY KEY (segment, stem)) WITHOUT ROWID",
    "CREATE TABLE version (version INTEGER NOT NULL)",
];

/// The part of the index that a search needs, at one moment.
pub(super) struct Snapshot {
    documents: BTreeMap<String, Row>,
    /// The postings of the query's terms, by the segment and number of the document. The first number
    /// is the index of the term.
    postings: BTreeMap<(i64, usize), Vec<(usize, Posting)>>,
    terms: usize,
    bytes: i64,
}

struct Row {
    key: (i64, usize),
    size: i64,
    stamp: String,
    version: String,
    lengths: String,
    facts: String,
}

impl Snapshot {
    pub fn read(storage: &dyn Storage, place: &Place, terms: &[Vec<Stem>]) -> Result<Self, Error> {
        let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
        let transaction = connection.begin(Mode::Read)?;
        if !is_current(&*transaction)? {
            return Err(damaged());
        }
        let (documents, postings) = (BTreeMap::new(), BTreeMap::new());
        let mut snapshot = Self { documents, postings, terms: terms.len(), bytes: 0 };
        let rows = "SELECT segment, number, path, stamp, version, size, lengths, facts \
                    FROM documents WHERE stamp IS NOT NULL ORDER BY path";
        for row in transaction.query(&statement(rows, []), MAX_DOCUMENTS)?.rows {
            let (path, row) = document(row).ok_or_else(damaged)?;
            snapshot.bytes = snapshot.bytes.saturating_add(row.size);
            snapshot.documents.insert(path, row);
        }
        let rows = "SELECT segment, stem, entries FROM postings \
                    WHERE segment IN (SELECT DISTINCT segment FROM documents) \
                    AND stem IN (SELECT value FROM json_each(?1))";
        let wanted = json(&terms.iter().flatten().map(|stem| stem.0).collect::<Vec<_>>());
        for row in transaction.query(&statement(rows, [wanted]), u32::MAX)?.rows {
            snapshot.add(row, terms).ok_or_else(damaged)?;
        }
        Ok(snapshot)
    }

    fn add(&mut self, row: Vec<Value>, terms: &[Vec<Stem>]) -> Option<()> {
        let [Value::Integer(segment), Value::Integer(stem), Value::Text(entries)] = &row[..] else {
            return None;
        };
        let term = terms.iter().position(|stems| stems.contains(&Stem(*stem)))?;
        for posting in Postings::parse(entries)? {
            let key = (*segment, posting.document);
            self.postings.entry(key).or_default().push((term, posting));
        }
        Some(())
    }

    /// Whether no more documents are to be indexed.
    pub fn is_full(&self) -> bool {
        self.documents.len() >= MAX_DOCUMENTS as usize || self.bytes >= MAX_BYTES
    }

    /// The paths of all documents.
    pub fn paths(&self) -> Vec<&str> {
        self.documents.keys().map(String::as_str).collect()
    }

    /// The entries of a document with this stamp.
    pub fn take(&mut self, path: &str, stamp: &str) -> Option<Indexed> {
        let Row { key, version, lengths, facts, .. } =
            self.documents.get(path).filter(|row| row.stamp == stamp)?;
        let lengths = Lengths::parse(lengths)?;
        let mut matches: BTreeMap<usize, Counts> = BTreeMap::new();
        for (term, Posting { entry, count, .. }) in self.postings.remove(key).unwrap_or_default() {
            let length = lengths.0.get(entry)?.stems;
            let none = || Counts::new(vec![0; self.terms], length);
            matches.entry(entry).or_insert_with(none).add_to(term, count);
        }
        let (version, facts) = (version.clone(), facts.clone());
        Some(Indexed { version, facts, lengths, matches, terms: self.terms })
    }
}

fn document(row: Vec<Value>) -> Option<(String, Row)> {
    let Ok(
        [
            Value::Integer(segment),
            Value::Integer(number),
            Value::Text(path),
            Value::Text(stamp),
            Value::Text(version),
            Value::Integer(size),
            Value::Text(lengths),
            Value::Text(facts),
        ],
    ) = <[Value; 8]>::try_from(row)
    else {
        return None;
    };
    let key = (segment, usize::try_from(number).ok()?);
    Some((path, Row { key, size, stamp, version, lengths, facts }))
}

/// Removes the segments of documents that are gone, and adds a segment. If the database is missing,
/// `creates` it.
pub(super) fn write(
    storage: &dyn Storage,
    place: &Place,
    gone: &[&str],
    segment: &Segment,
    creates: bool,
) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, creates)?;
    if !is_current_in(&*connection) {
        create(&*connection)?;
    }
    let transaction = connection.begin(Mode::Write(None))?;
    if !is_current(&*transaction)? {
        return Err(damaged());
    }
    let segments = "SELECT segment FROM documents \
                    WHERE path IN (SELECT value FROM json_each(?1))";
    transaction.execute(&drop_segments(segments, &[json(gone)]))?;
    if !segment.is_empty() {
        add(&*transaction, segment)?;
    }
    let old = "SELECT segment FROM documents GROUP BY segment \
               HAVING count(stamp) * 2 < count(*)";
    transaction.execute(&drop_segments(old, &[]))?;
    let small = "SELECT segment FROM documents GROUP BY segment HAVING sum(work) < ?1";
    let too_many = format!("{small} AND (SELECT count(*) FROM ({small})) > ?2");
    let limits = [LEAST_WORK, MAX_SMALL_SEGMENTS].map(|limit| Value::Integer(limit as i64));
    transaction.execute(&drop_segments(&too_many, &limits))?;
    transaction.commit()
}

/// Deletes the segments that this query selects. Both statements see the same documents, because
/// those are deleted last.
fn drop_segments(query: &str, parameters: &[Value]) -> [Statement; 2] {
    ["postings", "documents"].map(|table| {
        statement(&format!("DELETE FROM {table} WHERE segment IN ({query})"), parameters)
    })
}

fn add(transaction: &dyn Transaction, segment: &Segment) -> Result<(), Error> {
    let next = statement("SELECT coalesce(max(segment), 0) + 1 FROM documents", []);
    let next = transaction.query(&next, 1)?.rows;
    let number = next.first().and_then(|row| row.first()).ok_or_else(damaged)?;
    let rows = segment.documents.iter().enumerate().map(|(number, row)| {
        let segment::Row { path, stamp, version, size, work, lengths, facts } = row;
        (number, path, stamp, version, size, work, lengths.text(), facts)
    });
    let rows = json(&rows.collect::<Vec<_>>());
    let stems = segment.postings.iter().map(|(stem, postings)| (Stem::of(stem), &postings.text));
    let stems: BTreeSet<(Stem, &String)> = stems.collect();
    let stems = stems.into_iter().map(|(stem, text)| (stem.0, text));
    let postings = json(&stems.collect::<Vec<_>>());
    transaction.execute(&[
        statement(
            "UPDATE documents SET stamp = NULL \
             WHERE path IN (SELECT value->>1 FROM json_each(?1))",
            [rows.clone()],
        ),
        statement(
            "INSERT INTO documents \
             (segment, number, path, stamp, version, size, work, lengths, facts) \
             SELECT ?2, value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, \
             value->>6, value->>7 FROM json_each(?1)",
            [rows, number.clone()],
        ),
        statement(
            "INSERT INTO postings (segment, stem, entries) \
             SELECT ?2, value->>0, value->>1 FROM json_each(?1)",
            [postings, number.clone()],
        ),
    ])?;
    Ok(())
}

/// Makes an empty index of this version.
fn create(connection: &dyn Connection) -> Result<(), Error> {
    let transaction = connection.begin(Mode::Write(None))?;
    let statements: Vec<Statement> = CREATE.iter().map(|sql| statement(sql, [])).collect();
    transaction.execute(&statements)?;
    let version = statement("INSERT INTO version VALUES (?1)", [Value::Integer(VERSION)]);
    transaction.execute(&[version])?;
    transaction.commit()
}

/// Whether the database is an index of this version. Another program may have written it.
fn is_current_in(connection: &dyn Connection) -> bool {
    let found = connection.query(&select_version(), 1);
    found.is_ok_and(|found| found.rows == [[Value::Integer(VERSION)]])
}

fn is_current(transaction: &dyn Transaction) -> Result<bool, Error> {
    Ok(transaction.query(&select_version(), 1)?.rows == [[Value::Integer(VERSION)]])
}

fn select_version() -> Statement {
    statement("SELECT version FROM version", [])
}

fn json(value: &(impl Serialize + ?Sized)) -> Value {
    text(&serde_json::to_string(value).expect("strings and numbers are JSON"))
}

/// The error of an index that this program did not write. Nobody sees it.
fn damaged() -> Error {
    Error::new(ErrorCode::Corrupted, "the index of documents is damaged")
}
