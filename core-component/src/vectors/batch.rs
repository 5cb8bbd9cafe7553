//! A batch of texts whose vectors an embedder is asked for, and its answer.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::database::{self, Collection};
use super::tables::{DATABASE, VERSION, is_current};
use crate::ranking::Vector;
use crate::sql::{is_in_integers, json, statement, text};
use crate::storage::database::{Mode, Transaction, Value};
use crate::storage::{Error, ErrorCode, Place, Storage};
use crate::time::Timestamp;

/// The most texts of a batch.
pub(super) const MAX_TEXTS: usize = 32;

/// The pause after the first error of an embedder, in milliseconds. Each further error doubles the
/// pause, up to `MAX_PAUSE`. An answer with vectors resets it.
const PAUSE: i64 = 60_000;
const MAX_PAUSE: i64 = 60 * PAUSE;

/// A document that was read.
pub(super) struct Document {
    pub key: i64,
    pub version: i64,
    /// The number of each text, see `number_of`, and the beginning of the text. In the order of the
    /// entries.
    pub texts: Vec<(i64, String)>,
}

/// A batch of texts for an embedder.
pub(crate) struct Batch {
    /// The digest of the texts, which an answer has to repeat.
    pub digest: String,
    pub texts: Vec<String>,
}

/// The collection and the embedder that a batch is for, and the moment of the call.
pub(crate) struct Of<'a> {
    pub storage: &'a dyn Storage,
    pub place: &'a Place,
    pub name: &'a str,
    pub model: &'a str,
    pub now: Timestamp,
}

/// An embedder's answer to a batch.
#[derive(Clone, Copy)]
pub(crate) enum Answer<'a> {
    /// The vectors of the texts, in order. `None` stands for a value that is no 32-bit number, which is
    /// refused.
    Vectors(&'a [Vec<Option<f32>>]),
    /// The embedder gave no vectors.
    Failed,
}

/// The outcome of an answer.
pub(crate) enum Answered {
    /// The number of vectors that were stored.
    Stored(usize),
    /// The embedder gave no vectors. It is asked again after a pause.
    Failed,
    /// The reason why the vectors are refused. The embedder is asked again after a pause.
    Refused(String),
}

/// Stores the texts of documents that were read, removes documents that are gone, and chooses the next
/// batch. The batch is leased for `seconds`: until then or until the answer, no other call gets a batch
/// of the collection. `None` if no text waits for a vector, another call has a lease, or the embedder
/// has a pause after an error.
pub(super) fn claim(
    of: &Of<'_>,
    documents: &[Document],
    gone: &BTreeSet<i64>,
    seconds: u32,
) -> Result<Option<Batch>, Error> {
    let connection = DATABASE.open(of.storage, of.place, true)?;
    DATABASE.change(&*connection, VERSION, |transaction| {
        claim_in(transaction, of, documents, gone, seconds)
    })
}

fn claim_in(
    transaction: &dyn Transaction,
    of: &Of<'_>,
    documents: &[Document],
    gone: &BTreeSet<i64>,
    seconds: u32,
) -> Result<Option<Batch>, Error> {
    let insert = "INSERT INTO vector_collections (name, model) VALUES (?1, ?2) \
                  ON CONFLICT DO NOTHING";
    transaction.execute(&[statement(insert, [text(of.name), text(of.model)])])?;
    let found = database::find(transaction, of.name, of.model)?;
    let collection = found.ok_or_else(|| DATABASE.damaged())?;
    if collection.is_leased(of.now) {
        return Ok(None);
    }
    for document in documents {
        keep(transaction, collection.key, document)?;
    }
    // Documents are removed last: if a document was only renamed, `keep` has just copied its vectors.
    for model in database::models_of(transaction, of.name)? {
        if let Some(collection) = database::find(transaction, of.name, &model)? {
            database::remove(transaction, &collection, gone)?;
        }
    }
    let batch = choose(transaction, collection.key, documents)?;
    let claimed = batch.map(|(asked, texts)| {
        let batch = Batch { digest: digest(&texts), texts };
        let until = of.now.milliseconds().saturating_add(i64::from(seconds) * 1_000);
        let lease = "UPDATE vector_collections SET digest = ?2, asked = ?3, leased_until = ?4 \
                     WHERE collection = ?1";
        let key = Value::Integer(collection.key);
        let parameters = [key, text(&batch.digest), json(&asked), Value::Integer(until)];
        transaction.execute(&[statement(lease, parameters)]).map(|_| batch)
    });
    claimed.transpose()
}

/// Stores the texts of a version of a document. Removes the vectors of texts that the document no
/// longer has.
fn keep(transaction: &dyn Transaction, collection: i64, document: &Document) -> Result<(), Error> {
    let Document { key, version, texts } = document;
    let of = [collection, *key].map(Value::Integer);
    let numbers: Vec<i64> = texts.iter().map(|(number, _)| *number).collect();
    let is_blank = |(_, text): &&(i64, String)| text.trim().is_empty();
    let blank: Vec<i64> = texts.iter().filter(is_blank).map(|(number, _)| *number).collect();
    let with = |more: Vec<Value>| [of.to_vec(), more].concat();
    let stored =
        with(vec![Value::Integer(*version), database::texts_as_bytes(numbers.iter().copied())]);
    let [numbers, blank] = [json(&numbers), json(&blank)];
    let dialect = transaction.dialect();
    let is_of_document = is_in_integers(dialect, "text", "?3");
    let delete = format!(
        "DELETE FROM vectors WHERE collection = ?1 AND document = ?2 AND NOT ({is_of_document})"
    );
    // A blank text gets an empty vector, since no embedder takes it. A text that another document also
    // has gets the vector that is stored there.
    let is_blank = is_in_integers(dialect, "new.text", "?4");
    let insert = format!(
        "INSERT INTO vectors (collection, document, text, numbers) \
         SELECT ?1, ?2, new.text, CASE WHEN {is_blank} THEN ?5 ELSE \
         (SELECT v.numbers FROM vectors AS v WHERE v.collection = ?1 AND v.text = new.text \
         AND v.numbers IS NOT NULL LIMIT 1) END \
         FROM (SELECT CAST(value AS bigint) AS text FROM json_each(?3)) AS new \
         WHERE true ON CONFLICT DO NOTHING"
    );
    transaction.execute(&[
        statement(
            "DELETE FROM vector_documents WHERE collection = ?1 AND document = ?2",
            of.clone(),
        ),
        statement(
            "INSERT INTO vector_documents (collection, document, version, texts) \
             VALUES (?1, ?2, ?3, ?4)",
            stored,
        ),
        statement(&delete, with(vec![numbers.clone()])),
        statement(&insert, with(vec![numbers, blank, Value::Blob(Vec::new())])),
    ])?;
    Ok(())
}

/// The document and the number of each chosen text, and the texts themselves.
type Chosen = (Vec<(i64, i64)>, Vec<String>);

/// Chooses at most [`MAX_TEXTS`] of the texts that were read and wait for vectors. A text of a failed
/// batch is asked for alone, after all others: the batch may have failed because of this text.
fn choose(
    transaction: &dyn Transaction,
    collection: i64,
    documents: &[Document],
) -> Result<Option<Chosen>, Error> {
    let sql = "SELECT document, text, failures FROM vectors \
               WHERE collection = ?1 AND numbers IS NULL";
    let rows = transaction.query(&statement(sql, [Value::Integer(collection)]), u32::MAX)?.rows;
    let mut waiting = BTreeMap::new();
    for row in rows {
        let [Value::Integer(document), Value::Integer(number), Value::Integer(failures)] = &row[..]
        else {
            return Err(DATABASE.damaged());
        };
        waiting.insert((*document, *number), *failures);
    }
    let read = documents.iter().flat_map(|Document { key, texts, .. }| {
        texts.iter().map(|(number, text)| ((*key, *number), text))
    });
    let mut new = Vec::new();
    // A text that is in several documents is asked for once.
    let mut texts = BTreeSet::new();
    let mut failed: Option<(i64, (i64, i64), &String)> = None;
    for (at, text) in read {
        match waiting.remove(&at) {
            None => {}
            Some(0) if texts.insert(at.1) => new.push((at, text)),
            Some(0) => {}
            Some(failures) if failed.is_none_or(|(least, ..)| failures < least) => {
                failed = Some((failures, at, text));
            }
            Some(_) => {}
        }
    }
    if new.is_empty() {
        new.extend(failed.map(|(_, at, text)| (at, text)));
    }
    let chosen: (Vec<_>, Vec<_>) =
        new.into_iter().take(MAX_TEXTS).map(|(at, text)| (at, text.clone())).unzip();
    Ok((!chosen.0.is_empty()).then_some(chosen))
}

/// Takes the answer to a batch: stores its vectors, or begins a pause. A text that was removed
/// meanwhile gets no vector. `None` if `batch` is not the digest of the batch that the embedder was
/// asked for last.
///
/// # Errors
///
/// `Busy` if another host changes vectors, and other errors of storage.
pub(crate) fn answer(
    of: &Of<'_>,
    batch: &str,
    answer: Answer<'_>,
) -> Result<Option<Answered>, Error> {
    let connection = match DATABASE.open(of.storage, of.place, false) {
        Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
        opened => opened?,
    };
    let transaction = connection.begin(Mode::Write(None))?;
    if !is_current(&*transaction)? {
        return Ok(None);
    }
    let found = database::find(&*transaction, of.name, of.model)?;
    let Some(collection) = found.filter(|of| of.digest.as_deref() == Some(batch)) else {
        return Ok(None);
    };
    let checked = match answer {
        Answer::Failed => Err(None),
        Answer::Vectors(vectors) => checked(&collection, of.model, vectors).map_err(Some),
    };
    let answered = match checked {
        Ok(vectors) => Answered::Stored(store(&*transaction, &collection, &vectors)?),
        Err(reason) => {
            rest(&*transaction, &collection, of.now)?;
            reason.map_or(Answered::Failed, Answered::Refused)
        }
    };
    transaction.commit()?;
    Ok(Some(answered))
}

/// Checks the vectors of a batch.
///
/// # Errors
///
/// The reason in words, if there are more or fewer vectors than texts, a value is not finite, or the
/// vectors do not all have the dimension of the stored vectors.
fn checked(
    collection: &Collection,
    model: &str,
    vectors: &[Vec<Option<f32>>],
) -> Result<Vec<Vector>, String> {
    let texts = collection.asked.len();
    let given = vectors.len();
    if texts != given {
        return Err(format!("`{model}` gave {given} vectors for {texts} texts"));
    }
    let vector = |(at, vector): (usize, &Vec<Option<f32>>)| {
        // A value that is no number counts as one that is not finite.
        let numbers: Vec<f32> = vector.iter().map(|number| number.unwrap_or(f32::NAN)).collect();
        Vector::new(&numbers).map_err(|reason| format!("the vector {at} of `{model}` {reason}"))
    };
    let checked =
        vectors.iter().enumerate().map(vector).collect::<Result<Vec<Vector>, String>>()?;
    let first = checked.first().map_or(0, Vector::dimension);
    if let Some(other) = checked.iter().find(|vector| vector.dimension() != first) {
        let other = other.dimension();
        return Err(format!("`{model}` gave vectors of {first} and of {other} numbers"));
    }
    match collection.dimension {
        Some(stored) if stored != first as i64 => Err(format!(
            "`{model}` gave vectors of {stored} numbers before, and of {first} now: give the other \
             model a name of its own, or drop the vectors of this one with `drop_vectors`"
        )),
        _ => Ok(checked),
    }
}

/// Stores the vectors of the batch in every document that has one of its texts. Returns the number of
/// texts that got a vector.
fn store(
    transaction: &dyn Transaction,
    collection: &Collection,
    vectors: &[Vector],
) -> Result<usize, Error> {
    let set = "UPDATE vectors SET numbers = ?3, failures = 0 \
               WHERE collection = ?1 AND text = ?2 AND numbers IS NULL";
    let texts = collection.asked.iter().zip(vectors);
    let statements: Vec<_> = texts
        .filter_map(|(asked, vector)| asked.map(|of| (of, vector)))
        .map(|((_, text), vector)| {
            let [collection, text] = [collection.key, text].map(Value::Integer);
            statement(set, [collection, text, Value::Blob(vector.to_bytes())])
        })
        .collect();
    let stored = transaction.execute(&statements)?;
    let dimension = vectors.first().map_or(0, Vector::dimension);
    let done = "UPDATE vector_collections SET dimension = ?2, digest = NULL, asked = '[]', \
                leased_until = 0, failures = 0 WHERE collection = ?1";
    let parameters = [collection.key, dimension as i64].map(Value::Integer);
    transaction.execute(&[statement(done, parameters)])?;
    Ok(stored.iter().filter(|effect| effect.changes > 0).count())
}

/// Notes that the embedder gave no vectors. It is asked again after a pause that grows with each
/// failure.
fn rest(
    transaction: &dyn Transaction,
    collection: &Collection,
    now: Timestamp,
) -> Result<(), Error> {
    let doubled = u32::try_from(collection.failures.clamp(0, 6)).unwrap_or(6);
    let until = now.milliseconds().saturating_add((PAUSE << doubled).min(MAX_PAUSE));
    let failed = "UPDATE vectors SET failures = failures + 1 \
                  WHERE collection = ?1 AND text = ?2 AND numbers IS NULL";
    let mut statements: Vec<_> = collection
        .asked
        .iter()
        .flatten()
        .map(|(_, text)| statement(failed, [collection.key, *text].map(Value::Integer)))
        .collect();
    let pause = "UPDATE vector_collections SET digest = NULL, asked = '[]', leased_until = ?2, \
                 failures = failures + 1 WHERE collection = ?1";
    statements.push(statement(pause, [collection.key, until].map(Value::Integer)));
    transaction.execute(&statements)?;
    Ok(())
}

fn digest(texts: &[String]) -> String {
    let texts = serde_json::to_string(texts).expect("texts are JSON");
    Sha256::digest(texts).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
