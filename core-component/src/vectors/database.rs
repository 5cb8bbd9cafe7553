//! The vectors as a derived database.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::sql::{statement, text};
use crate::storage::database::{Connection, Kind, Mode, Statement, Transaction, Value};
use crate::storage::{Error, ErrorCode, Place, Storage};
use crate::time::Timestamp;

const DATABASE: &str = "vectors.db";

/// The version of the tables. Those of another version are dropped.
const VERSION: i64 = 1;

/// The most characters of a text that an embedder is asked for: a small model takes about 500 tokens.
const MAX_CHARACTERS: usize = 2_000;

/// The longest lease and the longest rest, in milliseconds.
const MAX_LEASE: i64 = 24 * 60 * 60 * 1_000;

/// Drops what is there, and creates the tables.
///
/// - `collections` has a row for each collection and model. All its vectors have one dimension. It has
///   a lease or rests until `leased_until`, in milliseconds since 1970. `asked` are the documents and
///   the texts of the batch that the embedder is asked for.
/// - `documents` has the texts of each version of a document that was read, in the order of its entries.
/// - `vectors` has a row for each of these texts. Without numbers it waits; those of a blank text are
///   empty.
const CREATE: [&str; 11] = [
    "DROP TABLE IF EXISTS collections",
    "DROP TABLE IF EXISTS documents",
    "DROP TABLE IF EXISTS vectors",
    "DROP TABLE IF EXISTS version",
    "CREATE TABLE collections (collection INTEGER PRIMARY KEY, name TEXT NOT NULL, \
     model TEXT NOT NULL, dimension INTEGER, leased_until INTEGER NOT NULL DEFAULT 0, digest TEXT, \
     asked TEXT NOT NULL DEFAULT '[]', failures INTEGER NOT NULL DEFAULT 0, UNIQUE (name, model))",
    "CREATE TABLE documents (collection INTEGER, document INTEGER, version INTEGER NOT NULL, \
     texts BLOB NOT NULL, PRIMARY KEY (collection, document)) WITHOUT ROWID",
    "CREATE TABLE vectors (vector INTEGER PRIMARY KEY, collection INTEGER NOT NULL, \
     document INTEGER NOT NULL, text INTEGER NOT NULL, failures INTEGER NOT NULL DEFAULT 0, \
     numbers BLOB, UNIQUE (collection, document, text))",
    "CREATE INDEX vectors_of_collection ON vectors (collection)",
    "CREATE INDEX vectors_of_text ON vectors (collection, text)",
    "CREATE INDEX vectors_wanted ON vectors (collection, failures) WHERE numbers IS NULL",
    "CREATE TABLE version (version INTEGER NOT NULL)",
];

/// A collection with a model.
pub(super) struct Collection {
    pub key: i64,
    pub dimension: Option<i64>,
    pub leased_until: i64,
    pub digest: Option<String>,
    /// The documents and the texts that the embedder is asked for. `None` for one that is gone since.
    pub asked: Vec<Option<(i64, i64)>>,
    pub failures: i64,
}

impl Collection {
    /// Whether another host has a batch, or the embedder rests. A moment that is too far away is that
    /// of a wrong clock.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        (1..=MAX_LEASE).contains(&self.leased_until.saturating_sub(now.milliseconds()))
    }
}

/// The part of a text that an embedder is asked for.
pub(super) fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

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
    // Another host may have made the tables since: nothing is dropped that is not seen here.
    if !is_current(&*transaction)? {
        let statements: Vec<Statement> = CREATE.iter().map(|sql| statement(sql, [])).collect();
        transaction.execute(&statements)?;
        let insert = statement("INSERT INTO version VALUES (?1)", [Value::Integer(VERSION)]);
        transaction.execute(&[insert])?;
        transaction.commit()?;
    }
    drop(transaction);
    Ok(connection)
}

/// Whether the tables are there and of this version.
pub(super) fn is_current(transaction: &dyn Transaction) -> Result<bool, Error> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' \
                  AND name IN ('collections', 'documents', 'vectors', 'version')";
    if transaction.query(&statement(tables, []), 1)?.rows != [[Value::Integer(4)]] {
        return Ok(false);
    }
    let version = statement("SELECT version FROM version", []);
    Ok(transaction.query(&version, 1)?.rows == [[Value::Integer(VERSION)]])
}

/// The collection of this name with a model.
pub(super) fn find(
    transaction: &dyn Transaction,
    name: &str,
    model: &str,
) -> Result<Option<Collection>, Error> {
    let sql = "SELECT collection, dimension, leased_until, digest, asked, failures \
               FROM collections WHERE name = ?1 AND model = ?2";
    let rows = transaction.query(&statement(sql, [text(name), text(model)]), 1)?.rows;
    rows.into_iter().next().map(|row| collection(row).ok_or_else(damaged)).transpose()
}

fn collection(row: Vec<Value>) -> Option<Collection> {
    let [key, dimension, leased_until, digest, asked, failures] = row.try_into().ok()?;
    let integer = |value: Value| match value {
        Value::Integer(number) => Some(number),
        _ => None,
    };
    let Value::Text(asked) = asked else { return None };
    Some(Collection {
        key: integer(key)?,
        dimension: integer(dimension),
        leased_until: integer(leased_until)?,
        digest: match digest {
            Value::Text(digest) => Some(digest),
            _ => None,
        },
        asked: serde_json::from_str(&asked).unwrap_or_default(),
        failures: integer(failures)?,
    })
}

/// The version of each document of a collection, and the texts of its entries.
pub(super) fn documents(
    view: &dyn Transaction,
    collection: i64,
) -> Result<BTreeMap<i64, (i64, Vec<i64>)>, Error> {
    let sql = "SELECT document, version, texts FROM documents WHERE collection = ?1";
    let rows = view.query(&statement(sql, [Value::Integer(collection)]), u32::MAX)?.rows;
    let document = |row: Vec<Value>| match &row[..] {
        [Value::Integer(document), Value::Integer(version), Value::Blob(texts)] => {
            let (texts, rest) = texts.as_chunks::<8>();
            let texts = texts.iter().map(|text| i64::from_le_bytes(*text)).collect();
            rest.is_empty().then_some((*document, (*version, texts)))
        }
        _ => None,
    };
    rows.into_iter().map(|row| document(row).ok_or_else(damaged)).collect()
}

/// The texts of a document as [`documents`] reads them.
pub(super) fn texts_as_bytes(texts: impl Iterator<Item = i64>) -> Value {
    Value::Blob(texts.flat_map(i64::to_le_bytes).collect())
}

/// Removes the vectors of documents that were deleted for good, from the collections of a name or from
/// all of them. If another host changes vectors now, they go with the next batch.
pub(crate) fn forget(
    storage: &dyn Storage,
    place: &Place,
    name: Option<&str>,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    let connection = open(storage, place, false)?;
    let transaction = connection.begin(Mode::Write(None))?;
    if !is_current(&*transaction)? {
        return Ok(());
    }
    let names = match name {
        Some(name) => vec![name.to_owned()],
        None => names(&*transaction)?,
    };
    for name in &names {
        for model in models_of(&*transaction, name)? {
            let Some(collection) = find(&*transaction, name, &model)? else { continue };
            let known = documents(&*transaction, collection.key)?;
            let deleted = known.into_keys().filter(|key| is_deleted(*key)).collect();
            remove(&*transaction, &collection, &deleted)?;
        }
    }
    transaction.commit()
}

/// The models with which there is a collection of this name.
pub(super) fn models_of(transaction: &dyn Transaction, name: &str) -> Result<Vec<String>, Error> {
    let sql = "SELECT model FROM collections WHERE name = ?1 ORDER BY model";
    texts(transaction, &statement(sql, [text(name)]))
}

/// The names of all collections.
fn names(transaction: &dyn Transaction) -> Result<Vec<String>, Error> {
    texts(transaction, &statement("SELECT DISTINCT name FROM collections ORDER BY name", []))
}

/// The texts of a statement's only column.
fn texts(transaction: &dyn Transaction, statement: &Statement) -> Result<Vec<String>, Error> {
    let rows = transaction.query(statement, u32::MAX)?.rows;
    let only = |mut row: Vec<Value>| match row.pop() {
        Some(Value::Text(text)) => Ok(text),
        _ => Err(damaged()),
    };
    rows.into_iter().map(only).collect()
}

/// Removes documents of a collection.
pub(super) fn remove(
    transaction: &dyn Transaction,
    collection: &Collection,
    documents: &BTreeSet<i64>,
) -> Result<(), Error> {
    if documents.is_empty() {
        return Ok(());
    }
    let Collection { key, asked, .. } = collection;
    let stay = |asked: &Option<(i64, i64)>| asked.filter(|(at, _)| !documents.contains(at));
    let asked: Vec<_> = asked.iter().map(stay).collect();
    let of = |table: &str| {
        let sql = format!(
            "DELETE FROM {table} WHERE collection = ?1 \
             AND document IN (SELECT value FROM json_each(?2))"
        );
        statement(&sql, [Value::Integer(*key), json(documents)])
    };
    let forget = "UPDATE collections SET asked = ?2 WHERE collection = ?1";
    let forget = statement(forget, [Value::Integer(*key), json(&asked)]);
    transaction.execute(&[of("vectors"), of("documents"), forget])?;
    Ok(())
}

/// Removes the vectors of a collection.
pub(crate) fn forget_all(storage: &dyn Storage, place: &Place, name: &str) -> Result<(), Error> {
    remove_collections(storage, place, "name = ?1", &[text(name)]).map(drop)
}

/// Removes the collections of a place that are none of these.
pub(crate) fn keep(
    storage: &dyn Storage,
    place: &Place,
    names: &BTreeSet<&str>,
) -> Result<(), Error> {
    let others = "name NOT IN (SELECT value FROM json_each(?1))";
    remove_collections(storage, place, others, &[json(names)]).map(drop)
}

/// Removes the vectors of a model from collections of a place, and returns how many there were.
///
/// # Errors
///
/// `NotFound` if the place has no vectors, `Busy` if another host changes them.
pub(crate) fn drop_model(
    storage: &dyn Storage,
    place: &Place,
    names: &BTreeSet<String>,
    model: &str,
) -> Result<u64, Error> {
    let are = "name IN (SELECT value FROM json_each(?1)) AND model = ?2";
    remove_collections(storage, place, are, &[json(names), text(model)])
}

/// The models that collections of a place have vectors of, with their numbers.
///
/// # Errors
///
/// `NotFound` if the place has no vectors.
pub(crate) fn models(
    storage: &dyn Storage,
    place: &Place,
    names: &BTreeSet<String>,
) -> Result<BTreeMap<String, u64>, Error> {
    let connection = open(storage, place, false)?;
    let transaction = connection.begin(Mode::Read)?;
    if !is_current(&*transaction)? {
        return Ok(BTreeMap::new());
    }
    let sql = "SELECT c.model, count(v.numbers) FROM collections AS c \
               JOIN vectors AS v ON v.collection = c.collection AND length(v.numbers) > 0 \
               WHERE c.name IN (SELECT value FROM json_each(?1)) GROUP BY c.model";
    let model = |row: Vec<Value>| match &row[..] {
        [Value::Text(model), Value::Integer(vectors)] => Ok((model.clone(), *vectors as u64)),
        _ => Err(damaged()),
    };
    let rows = transaction.query(&statement(sql, [json(names)]), u32::MAX)?.rows;
    rows.into_iter().map(model).collect()
}

/// Removes collections, and returns how many vectors they had.
fn remove_collections(
    storage: &dyn Storage,
    place: &Place,
    are: &str,
    parameters: &[Value],
) -> Result<u64, Error> {
    let connection = open(storage, place, false)?;
    let view = connection.begin(Mode::Read)?;
    if !is_current(&*view)? {
        return Ok(0);
    }
    let of = format!("SELECT collection FROM collections WHERE {are}");
    let count = format!(
        "SELECT count(*), sum(length(numbers) > 0) FROM collections AS c \
         LEFT JOIN vectors USING (collection) WHERE {are}"
    );
    let rows = view.query(&statement(&count, parameters), 1)?.rows;
    drop(view);
    let Some([Value::Integer(1..), vectors]) = rows.first().map(Vec::as_slice) else {
        return Ok(0);
    };
    let vectors = match vectors {
        Value::Integer(vectors) => *vectors as u64,
        _ => 0,
    };
    let transaction = connection.begin(Mode::Write(None))?;
    let delete = |table: &str| {
        let sql = format!("DELETE FROM {table} WHERE collection IN ({of})");
        statement(&sql, parameters)
    };
    transaction.execute(&["vectors", "documents", "collections"].map(delete))?;
    transaction.commit()?;
    Ok(vectors)
}

pub(super) fn json(value: &(impl Serialize + ?Sized)) -> Value {
    text(&serde_json::to_string(value).expect("strings and numbers are JSON"))
}

/// The error of a database that this program did not write.
pub(super) fn damaged() -> Error {
    Error::new(
        ErrorCode::Corrupted,
        "`vectors.db` is damaged: delete it, and vectors are made anew",
    )
}
