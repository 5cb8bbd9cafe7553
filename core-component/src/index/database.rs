//! The index as a derived database: all of its SQL.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::builder::Builder;
use super::codes::{Codes, put};
use super::postings::Postings;
use super::segment::Segment;
use crate::ranking::{Found, Language};
use crate::sql::{statement, text};
use crate::storage::database::{Connection, Kind, Mode, Statement, Transaction, Value};
use crate::storage::{Error, ErrorCode, Place, Storage};

const DATABASE: &str = "search.db";

/// The version of the tables, of the stems, and of the texts that an entry is found by. An index of
/// another version is built anew.
const VERSION: i64 = 2;

/// The version of an index whose short texts have the stems of a language.
fn version_of(usual: Language) -> i64 {
    VERSION + OF_LANGUAGE * usual as i64
}

const OF_LANGUAGE: i64 = 1_000;

/// The most segments of one size. With more, they are merged. A size is `SIZE` times the one below.
const MAX_OF_SIZE: usize = 8;
const SIZE: u64 = 8;
/// The work of the smallest segments, in bytes of English.
const SMALLEST: u64 = 64 << 10;
/// A segment of so much work is merged with no other, so that a merge takes a bounded time.
const MOST: u64 = 4 << 20;

/// The most segments that one search looks at.
const MAX_SEGMENTS: u32 = 1_000;

/// Drops what is there, and creates the tables.
const CREATE: [&str; 6] = [
    "DROP TABLE IF EXISTS segments",
    "DROP TABLE IF EXISTS postings",
    "DROP TABLE IF EXISTS version",
    "CREATE TABLE segments (segment INTEGER PRIMARY KEY, collection TEXT NOT NULL, \
     work INTEGER NOT NULL, documents BLOB NOT NULL, gone BLOB NOT NULL)",
    "CREATE TABLE postings (segment INTEGER, stem INTEGER, parts BLOB NOT NULL, \
     PRIMARY KEY (segment, stem)) WITHOUT ROWID",
    "CREATE TABLE version (version INTEGER NOT NULL)",
];

/// A segment as the database has it.
pub(super) struct Stored {
    number: i64,
    work: u64,
    pub segment: Segment,
    /// The documents that are indexed elsewhere since, or deleted.
    pub gone: BTreeSet<usize>,
}

/// The segments of a collection at one moment, with what they have of a query.
pub(super) struct Snapshot {
    pub segments: Vec<Stored>,
    /// Of each segment, ordered by part and then by term.
    pub found: Vec<Vec<Found>>,
}

impl Snapshot {
    /// `terms` are the numbers of the stems of each term.
    pub fn read(
        storage: &dyn Storage,
        place: &Place,
        collection: &str,
        usual: Language,
        terms: &[Vec<i64>],
    ) -> Result<Self, Error> {
        let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
        let transaction = connection.begin(Mode::Read)?;
        if version(&*transaction)? != Some(version_of(usual)) {
            return Err(damaged());
        }
        let segments = segments(&*transaction, collection)?;
        let at: BTreeMap<i64, usize> =
            segments.iter().enumerate().map(|(at, stored)| (stored.number, at)).collect();
        let mut found = vec![Vec::new(); segments.len()];
        let wanted = terms.iter().flatten().collect::<Vec<_>>();
        let rows = "SELECT segment, stem, parts FROM postings \
                    WHERE segment IN (SELECT value FROM json_each(?1)) \
                    AND stem IN (SELECT value FROM json_each(?2)) ORDER BY segment, stem";
        let parameters = [json(&at.keys().collect::<Vec<_>>()), json(&wanted)];
        for row in transaction.query(&statement(rows, parameters), u32::MAX)?.rows {
            let [Value::Integer(segment), Value::Integer(stem), Value::Blob(parts)] = &row[..]
            else {
                return Err(damaged());
            };
            let at = at[segment];
            let most = segments[at].segment.parts();
            for (term, _) in terms.iter().enumerate().filter(|(_, stems)| stems.contains(stem)) {
                let mut is_inside = true;
                let each = Postings::each(parts, |part, count| {
                    is_inside &= part < most;
                    found[at].push(Found { part, term: term as u32, count });
                });
                each.filter(|()| is_inside).ok_or_else(damaged)?;
            }
        }
        for found in &mut found {
            in_order(found);
        }
        Ok(Self { segments, found })
    }
}

/// Orders by part and then by term. Two stems of one term are counted together.
fn in_order(found: &mut Vec<Found>) {
    found.sort_by_key(|found| (found.part, found.term));
    found.dedup_by(|next, kept| {
        let is_same = (next.part, next.term) == (kept.part, kept.term);
        if is_same {
            kept.count = kept.count.saturating_add(next.count);
        }
        is_same
    });
}

/// The segments of a collection.
fn segments(transaction: &dyn Transaction, collection: &str) -> Result<Vec<Stored>, Error> {
    let rows = "SELECT segment, work, documents, gone FROM segments WHERE collection = ?1 \
                ORDER BY segment";
    let rows = transaction.query(&statement(rows, [text(collection)]), MAX_SEGMENTS)?.rows;
    rows.into_iter().map(|row| stored(row).ok_or_else(damaged)).collect()
}

fn stored(row: Vec<Value>) -> Option<Stored> {
    let [Value::Integer(number), Value::Integer(work), Value::Blob(documents), Value::Blob(gone)] =
        &row[..]
    else {
        return None;
    };
    let segment = Segment::decode(documents)?;
    let mut codes = Codes(gone);
    let mut gone = BTreeSet::new();
    while !codes.is_empty() {
        let document = codes.small()? as usize;
        if document >= segment.documents.len() {
            return None;
        }
        gone.insert(document);
    }
    Some(Stored { number: *number, work: u64::try_from(*work).ok()?, segment, gone })
}

impl Stored {
    fn gone_as_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.gone.iter().for_each(|document| put(&mut bytes, *document as u64));
        bytes
    }

    /// The documents that are not gone, with these keys.
    fn with_keys<'s>(&'s self, keys: &'s BTreeSet<i64>) -> impl Iterator<Item = usize> + 's {
        let documents = self.segment.documents.iter().enumerate();
        let here = documents.filter(|(at, _)| !self.gone.contains(at));
        here.filter(|(_, row)| keys.contains(&row.key)).map(|(at, _)| at)
    }
}

/// Adds a segment to a collection, and notes that other documents are gone. If the database is
/// missing, `creates` it.
pub(super) fn update(
    storage: &dyn Storage,
    place: &Place,
    collection: &str,
    gone: &BTreeSet<i64>,
    builder: &Builder,
    creates: bool,
) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, creates)?;
    let wanted = version_of(builder.usual);
    if !is_of(wanted, &*connection) {
        create(wanted, &*connection)?;
    }
    let transaction = connection.begin(Mode::Write(None))?;
    if version(&*transaction)? != Some(wanted) {
        return Err(damaged());
    }
    let replaced = builder.segment.documents.iter().map(|row| row.key);
    let keys: BTreeSet<i64> = gone.iter().copied().chain(replaced).collect();
    let mut segments = segments(&*transaction, collection)?;
    note_gone(&*transaction, &mut segments, &keys)?;
    if !builder.is_empty() {
        let Builder { segment, work, .. } = builder;
        let postings = builder.postings();
        let stored = add(&*transaction, collection, segment.clone(), *work, postings)?;
        segments.push(stored);
    }
    merge(&*transaction, collection, segments)?;
    transaction.commit()
}

/// Removes documents that were deleted for good, by their keys, with their postings from a collection,
/// or from all collections.
pub(super) fn purge(
    storage: &dyn Storage,
    place: &Place,
    collection: Option<&str>,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
    let transaction = connection.begin(Mode::Write(None))?;
    if version(&*transaction)?.is_none_or(|version| version % OF_LANGUAGE != VERSION) {
        return Err(damaged());
    }
    let collections = match collection {
        Some(collection) => vec![collection.to_owned()],
        None => collections(&*transaction)?,
    };
    for collection in &collections {
        purge_collection(&*transaction, collection, &is_deleted)?;
    }
    transaction.commit()
}

fn collections(transaction: &dyn Transaction) -> Result<Vec<String>, Error> {
    let sql = "SELECT DISTINCT collection FROM segments ORDER BY collection";
    let rows = transaction.query(&statement(sql, []), u32::MAX)?.rows;
    let name = |mut row: Vec<Value>| match row.pop() {
        Some(Value::Text(name)) => Ok(name),
        _ => Err(damaged()),
    };
    rows.into_iter().map(name).collect()
}

fn purge_collection(
    transaction: &dyn Transaction,
    collection: &str,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    let mut segments = segments(transaction, collection)?;
    segments.retain(|stored| stored.segment.documents.iter().any(|row| is_deleted(row.key)));
    let mut keys = BTreeSet::new();
    for stored in &mut segments {
        let documents = stored.segment.documents.iter().enumerate();
        let deleted: Vec<(usize, i64)> = documents
            .filter(|(_, row)| is_deleted(row.key))
            .map(|(at, row)| (at, row.key))
            .collect();
        let documents: Vec<usize> = deleted.iter().map(|(at, _)| *at).collect();
        strip(transaction, stored, &documents)?;
        keys.extend(deleted.iter().map(|(_, key)| *key));
    }
    note_gone(transaction, &mut segments, &keys)
}

/// Removes the postings of documents from a segment.
fn strip(transaction: &dyn Transaction, stored: &Stored, documents: &[usize]) -> Result<(), Error> {
    let parts: Vec<_> = documents.iter().map(|at| stored.segment.parts_of(*at)).collect();
    let is_kept = |part: u32| !parts.iter().any(|parts| parts.contains(&part));
    let mut changed = Vec::new();
    each_posting(transaction, stored.number, |stem, bytes| {
        let mut kept = Postings::default();
        let mut is_changed = false;
        Postings::each(bytes, |part, count| {
            if is_kept(part) { kept.push(part, count) } else { is_changed = true }
        })?;
        changed.extend(is_changed.then(|| (stem, hex(&kept.bytes))));
        Some(())
    })?;
    let number = Value::Integer(stored.number);
    let update = "UPDATE postings SET parts = unhex(new.value->>1) FROM json_each(?2) AS new \
                  WHERE segment = ?1 AND stem = new.value->>0";
    let delete = "DELETE FROM postings WHERE segment = ?1 AND length(parts) = 0";
    let statements =
        [statement(update, [number.clone(), json(&changed)]), statement(delete, [number])];
    transaction.execute(&statements)?;
    Ok(())
}

/// Calls `read` with the postings of each stem of a segment.
fn each_posting(
    transaction: &dyn Transaction,
    segment: i64,
    mut read: impl FnMut(i64, &[u8]) -> Option<()>,
) -> Result<(), Error> {
    let sql = "SELECT stem, parts FROM postings WHERE segment = ?1 ORDER BY stem";
    let rows = transaction.query(&statement(sql, [Value::Integer(segment)]), u32::MAX)?.rows;
    for row in rows {
        let [Value::Integer(stem), Value::Blob(parts)] = &row[..] else { return Err(damaged()) };
        read(*stem, parts).ok_or_else(damaged)?;
    }
    Ok(())
}

/// Notes that the documents with these keys are gone.
fn note_gone(
    transaction: &dyn Transaction,
    segments: &mut [Stored],
    keys: &BTreeSet<i64>,
) -> Result<(), Error> {
    let mut statements = Vec::new();
    for stored in segments {
        let documents: Vec<usize> = stored.with_keys(keys).collect();
        if documents.is_empty() {
            continue;
        }
        stored.gone.extend(documents);
        let parameters = [Value::Blob(stored.gone_as_bytes()), Value::Integer(stored.number)];
        statements.push(statement("UPDATE segments SET gone = ?1 WHERE segment = ?2", parameters));
    }
    if !statements.is_empty() {
        transaction.execute(&statements)?;
    }
    Ok(())
}

/// Merges segments of one size, where there are too many. One whose documents are mostly gone is
/// written anew without them.
fn merge(
    transaction: &dyn Transaction,
    collection: &str,
    segments: Vec<Stored>,
) -> Result<(), Error> {
    let mut of_size: BTreeMap<u64, Vec<Stored>> = BTreeMap::new();
    for stored in segments {
        let is_old = stored.gone.len() * 2 > stored.segment.documents.len();
        match (is_old, size_of(stored.work)) {
            (true, _) => join(transaction, collection, vec![stored])?,
            (false, Some(size)) => of_size.entry(size).or_default().push(stored),
            (false, None) => {}
        }
    }
    for segments in of_size.into_values().filter(|segments| segments.len() >= MAX_OF_SIZE) {
        join(transaction, collection, segments)?;
    }
    Ok(())
}

/// The size of a segment, unless it is so large that it is merged with no other.
fn size_of(work: u64) -> Option<u64> {
    (work < MOST).then(|| (work / SMALLEST).checked_ilog(SIZE).map_or(0, |log| 1 + u64::from(log)))
}

/// Makes one segment of some, without the documents that are gone.
fn join(
    transaction: &dyn Transaction,
    collection: &str,
    segments: Vec<Stored>,
) -> Result<(), Error> {
    let mut joined = Segment::default();
    let mut work = 0;
    let mut postings: BTreeMap<i64, Postings> = BTreeMap::new();
    for Stored { number, work: of_segment, segment, gone } in &segments {
        work += of_segment;
        // The index in the joined segment of each part that stays.
        let mut moved: Vec<Option<u32>> = vec![None; segment.parts() as usize];
        for (at, row) in segment.documents.iter().enumerate().filter(|(at, _)| !gone.contains(at)) {
            joined.begin(row.key, row.stamp, row.version, row.facts);
            for entry in segment.entries(at) {
                let first = joined.parts();
                for part in 0..entry.lengths.len() as u32 {
                    moved[(entry.first_part + part) as usize] = Some(first + part);
                }
                joined.add_entry(entry.lengths, entry.begins_run);
            }
        }
        each_posting(transaction, *number, |stem, bytes| {
            let mut is_inside = true;
            Postings::each(bytes, |part, count| match moved.get(part as usize) {
                Some(Some(part)) => postings.entry(stem).or_default().push(*part, count),
                Some(None) => {}
                None => is_inside = false,
            })?;
            is_inside.then_some(())
        })?;
    }
    let numbers = json(&segments.iter().map(|stored| stored.number).collect::<Vec<_>>());
    let delete = |table: &str| {
        let sql = format!("DELETE FROM {table} WHERE segment IN (SELECT value FROM json_each(?1))");
        statement(&sql, [numbers.clone()])
    };
    transaction.execute(&[delete("postings"), delete("segments")])?;
    if !joined.documents.is_empty() {
        let postings = postings.iter().map(|(stem, postings)| (*stem, &postings.bytes[..]));
        add(transaction, collection, joined, work, postings)?;
    }
    Ok(())
}

fn add<'p>(
    transaction: &dyn Transaction,
    collection: &str,
    segment: Segment,
    work: u64,
    postings: impl Iterator<Item = (i64, &'p [u8])>,
) -> Result<Stored, Error> {
    let next = statement("SELECT coalesce(max(segment), 0) + 1 FROM segments", []);
    let next = transaction.query(&next, 1)?.rows;
    let Some([Value::Integer(number)]) = next.first().map(Vec::as_slice) else {
        return Err(damaged());
    };
    let rows = postings.map(|(stem, bytes)| (stem, hex(bytes))).collect::<Vec<_>>();
    let of_segment = [
        Value::Integer(*number),
        text(collection),
        Value::Integer(work as i64),
        Value::Blob(segment.encode()),
        Value::Blob(Vec::new()),
    ];
    transaction.execute(&[
        statement("INSERT INTO segments VALUES (?1, ?2, ?3, ?4, ?5)", of_segment),
        statement(
            "INSERT INTO postings (segment, stem, parts) \
             SELECT ?1, value->>0, unhex(value->>1) FROM json_each(?2)",
            [Value::Integer(*number), json(&rows)],
        ),
    ])?;
    Ok(Stored { number: *number, work, segment, gone: BTreeSet::new() })
}

/// Removes the collections of a place that are none of these.
pub(super) fn keep(
    storage: &dyn Storage,
    place: &Place,
    collections: &BTreeSet<&str>,
) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
    let others = "SELECT segment FROM segments \
                  WHERE collection NOT IN (SELECT value FROM json_each(?1))";
    let kept = json(collections);
    let others_there = connection.query(&statement(others, [kept.clone()]), 1)?.rows;
    if others_there.is_empty() {
        return Ok(());
    }
    let transaction = connection.begin(Mode::Write(None))?;
    let delete = |table: &str| {
        statement(&format!("DELETE FROM {table} WHERE segment IN ({others})"), [kept.clone()])
    };
    transaction.execute(&[delete("postings"), delete("segments")])?;
    transaction.commit()
}

/// Removes a collection.
pub(super) fn delete(storage: &dyn Storage, place: &Place, collection: &str) -> Result<(), Error> {
    let connection = storage.open_database(place, DATABASE, Kind::Derived, false)?;
    let transaction = connection.begin(Mode::Write(None))?;
    let delete = |table: &str| {
        let sql = format!(
            "DELETE FROM {table} WHERE segment IN \
             (SELECT segment FROM segments WHERE collection = ?1)"
        );
        statement(&sql, [text(collection)])
    };
    transaction.execute(&[delete("postings"), delete("segments")])?;
    transaction.commit()
}

/// Makes an empty index of a version.
fn create(version: i64, connection: &dyn Connection) -> Result<(), Error> {
    let transaction = connection.begin(Mode::Write(None))?;
    let statements: Vec<Statement> = CREATE.iter().map(|sql| statement(sql, [])).collect();
    transaction.execute(&statements)?;
    let version = statement("INSERT INTO version VALUES (?1)", [Value::Integer(version)]);
    transaction.execute(&[version])?;
    transaction.commit()
}

/// Whether the database is an index of a version. Another program may have written it.
fn is_of(version: i64, connection: &dyn Connection) -> bool {
    let found = connection.query(&select_version(), 1);
    found.is_ok_and(|found| found.rows == [[Value::Integer(version)]])
}

/// The version of an index, if the database is one.
fn version(transaction: &dyn Transaction) -> Result<Option<i64>, Error> {
    let rows = transaction.query(&select_version(), 1)?.rows;
    Ok(match rows.first().map(Vec::as_slice) {
        Some([Value::Integer(version)]) => Some(*version),
        _ => None,
    })
}

fn select_version() -> Statement {
    statement("SELECT version FROM version", [])
}

fn json(value: &(impl Serialize + ?Sized)) -> Value {
    text(&serde_json::to_string(value).expect("strings and numbers are JSON"))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: u8| char::from(DIGITS[usize::from(number)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The error of an index that this program did not write. Nobody sees it.
fn damaged() -> Error {
    Error::new(ErrorCode::Corrupted, "the index is damaged")
}
