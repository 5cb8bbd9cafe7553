//! The derived database of the vectors.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::{DATABASE, is_current};
use crate::sql::{is_in_integers, is_in_texts, json, statement, text};
use crate::storage::database::{Mode, Transaction, Value};
use crate::storage::{Error, Place, Storage};
use crate::time::Timestamp;

/// An embedder gets at most this many characters of a text: a small model takes about 500 tokens.
const MAX_CHARACTERS: usize = 2_000;

/// The longest lease, and the longest pause after an error, in milliseconds.
const MAX_LEASE: i64 = 24 * 60 * 60 * 1_000;

/// The vectors of a collection by one model.
pub(super) struct Collection {
    pub key: i64,
    pub dimension: Option<i64>,
    pub leased_until: i64,
    pub digest: Option<String>,
    /// The document and the number of each text that the embedder is asked for. `None` for a text that
    /// was removed since.
    pub asked: Vec<Option<(i64, i64)>>,
    pub failures: i64,
}

impl Collection {
    /// Whether no batch may be claimed now: a host waits for the answer to a batch, or the embedder has
    /// a pause after an error. A lease that ends later than [`MAX_LEASE`] from now comes from a wrong
    /// clock and does not count.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        (1..=MAX_LEASE).contains(&self.leased_until.saturating_sub(now.milliseconds()))
    }
}

/// The beginning of a text, as far as an embedder gets it.
pub(super) fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Returns the collection of this name for a model.
pub(super) fn find(
    transaction: &dyn Transaction,
    name: &str,
    model: &str,
) -> Result<Option<Collection>, Error> {
    let sql = "SELECT collection, dimension, leased_until, digest, asked, failures \
               FROM vector_collections WHERE name = ?1 AND model = ?2";
    let rows = transaction.query(&statement(sql, [text(name), text(model)]), 1)?.rows;
    rows.into_iter().next().map(|row| collection(row).ok_or_else(|| DATABASE.damaged())).transpose()
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
        asked: serde_json::from_str(&asked).ok()?,
        failures: integer(failures)?,
    })
}

/// The documents of a collection by key, each with its version and the numbers of its entries' texts.
pub(super) fn documents(
    view: &dyn Transaction,
    collection: i64,
) -> Result<BTreeMap<i64, (i64, Vec<i64>)>, Error> {
    let sql = "SELECT document, version, texts FROM vector_documents WHERE collection = ?1";
    let rows = view.query(&statement(sql, [Value::Integer(collection)]), u32::MAX)?.rows;
    let document = |row: Vec<Value>| match &row[..] {
        [Value::Integer(document), Value::Integer(version), Value::Blob(texts)] => {
            let (texts, rest) = texts.as_chunks::<8>();
            let texts = texts.iter().map(|text| i64::from_le_bytes(*text)).collect();
            rest.is_empty().then_some((*document, (*version, texts)))
        }
        _ => None,
    };
    rows.into_iter().map(|row| document(row).ok_or_else(|| DATABASE.damaged())).collect()
}

/// The numbers of a document's texts, in the form that [`documents`] reads.
pub(super) fn texts_as_bytes(texts: impl Iterator<Item = i64>) -> Value {
    Value::Blob(texts.flat_map(i64::to_le_bytes).collect())
}

/// Removes the vectors of documents that were deleted for good, from the collection `name`, or from all
/// collections if it is `None`. Fails if another host changes vectors now: a later pass removes them
/// then.
pub(crate) fn forget(
    storage: &dyn Storage,
    place: &Place,
    name: Option<&str>,
    is_deleted: impl Fn(i64) -> bool,
) -> Result<(), Error> {
    DATABASE.forget(storage, place, |transaction| {
        let names = match name {
            Some(name) => vec![name.to_owned()],
            None => names(transaction)?,
        };
        for name in &names {
            for model in models_of(transaction, name)? {
                let Some(collection) = find(transaction, name, &model)? else { continue };
                let known = documents(transaction, collection.key)?;
                let deleted = known.into_keys().filter(|key| is_deleted(*key)).collect();
                remove(transaction, &collection, &deleted)?;
            }
        }
        Ok(())
    })
}

/// The models for which the collection of this name is stored.
pub(super) fn models_of(transaction: &dyn Transaction, name: &str) -> Result<Vec<String>, Error> {
    let sql = "SELECT model FROM vector_collections WHERE name = ?1 ORDER BY model";
    DATABASE.texts(transaction, &statement(sql, [text(name)]))
}

/// The names of all collections.
fn names(transaction: &dyn Transaction) -> Result<Vec<String>, Error> {
    let sql = "SELECT DISTINCT name FROM vector_collections ORDER BY name";
    DATABASE.texts(transaction, &statement(sql, []))
}

/// Removes documents of a collection, with their vectors.
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
        let are = is_in_integers(transaction.dialect(), "document", "?2");
        let sql = format!("DELETE FROM {table} WHERE collection = ?1 AND {are}");
        statement(&sql, [Value::Integer(*key), json(documents)])
    };
    let forget = "UPDATE vector_collections SET asked = ?2 WHERE collection = ?1";
    let forget = statement(forget, [Value::Integer(*key), json(&asked)]);
    transaction.execute(&[of("vectors"), of("vector_documents"), forget])?;
    Ok(())
}

/// Removes the vectors of a collection.
pub(crate) fn forget_all(storage: &dyn Storage, place: &Place, name: &str) -> Result<(), Error> {
    remove_collections(storage, place, Which::Of(name)).map(drop)
}

/// Removes all collections of a place except `names`.
pub(crate) fn keep(
    storage: &dyn Storage,
    place: &Place,
    names: &BTreeSet<&str>,
) -> Result<(), Error> {
    remove_collections(storage, place, Which::AllBut(names)).map(drop)
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
    remove_collections(storage, place, Which::OfModel(names, model))
}

/// The models of the vectors in these collections of a place, each with the number of its vectors.
///
/// # Errors
///
/// `NotFound` if the place has no vectors.
pub(crate) fn models(
    storage: &dyn Storage,
    place: &Place,
    names: &BTreeSet<String>,
) -> Result<BTreeMap<String, u64>, Error> {
    let connection = DATABASE.open(storage, place, false)?;
    let transaction = connection.begin(Mode::Read)?;
    if !is_current(&*transaction)? {
        return Ok(BTreeMap::new());
    }
    let are = is_in_texts(transaction.dialect(), "c.name", "?1");
    let sql = format!(
        "SELECT c.model, count(v.numbers) FROM vector_collections AS c \
         JOIN vectors AS v ON v.collection = c.collection AND length(v.numbers) > 0 \
         WHERE {are} GROUP BY c.model"
    );
    let model = |row: Vec<Value>| match &row[..] {
        [Value::Text(model), Value::Integer(vectors)] => Ok((model.clone(), *vectors as u64)),
        _ => Err(DATABASE.damaged()),
    };
    let rows = transaction.query(&statement(&sql, [json(names)]), u32::MAX)?.rows;
    rows.into_iter().map(model).collect()
}

/// The collections to remove.
enum Which<'a> {
    Of(&'a str),
    AllBut(&'a BTreeSet<&'a str>),
    OfModel(&'a BTreeSet<String>, &'a str),
}

/// Removes collections, and returns how many vectors they had.
fn remove_collections(
    storage: &dyn Storage,
    place: &Place,
    which: Which<'_>,
) -> Result<u64, Error> {
    let connection = DATABASE.open_for_change(storage, place, false)?;
    let names = is_in_texts(connection.dialect(), "name", "?1");
    let (are, parameters) = match which {
        Which::Of(name) => ("name = ?1".to_owned(), vec![text(name)]),
        Which::AllBut(kept) => (format!("NOT ({names})"), vec![json(kept)]),
        Which::OfModel(of, model) => {
            (format!("{names} AND model = ?2"), vec![json(of), text(model)])
        }
    };
    let transaction = connection.begin(Mode::Write(None))?;
    if !is_current(&*transaction)? {
        return Ok(0);
    }
    let count = format!(
        "SELECT count(DISTINCT c.collection), \
         sum(CASE WHEN length(v.numbers) > 0 THEN 1 ELSE 0 END) \
         FROM vector_collections AS c LEFT JOIN vectors AS v ON v.collection = c.collection \
         WHERE {are}"
    );
    let rows = transaction.query(&statement(&count, &parameters[..]), 1)?.rows;
    let Some([Value::Integer(1..), vectors]) = rows.first().map(Vec::as_slice) else {
        return Ok(0);
    };
    let vectors = match vectors {
        Value::Integer(vectors) => *vectors as u64,
        _ => 0,
    };
    let delete = |table: &str| {
        let of = format!("SELECT collection FROM vector_collections WHERE {are}");
        statement(&format!("DELETE FROM {table} WHERE collection IN ({of})"), &parameters[..])
    };
    transaction.execute(&["vectors", "vector_documents", "vector_collections"].map(delete))?;
    transaction.commit()?;
    Ok(vectors)
}
