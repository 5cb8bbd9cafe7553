//! The vectors of memories: which are wanted, which an embedder is asked for, and which are nearest to
//! a query.
//!
//! They are no index: making them again would cost time or money. So nothing but a change of a text,
//! or a deletion, removes one.
//!
//! An embedder takes the memories of an agent in the order of their keys. `embedders.seen` is the last
//! key that it has got to. Each memory up to there has a row in `vectors`; without a vector, it still
//! waits.

use sha2::{Digest, Sha256};

use super::schema::{MAX_AGENTS, has_tables};
use super::sql::{
    flag, integer, into_optional_text, into_text, json, query_one, statement, text, unexpected,
};
use crate::budget::OF_VECTOR;
use crate::ranking::Vector;
use crate::records::error::{Code, Error};
use crate::rows::Similar;
use crate::source::Request;
use crate::storage::database::{Statement, Transaction, Value};
use crate::time::Timestamp;

/// The most texts of a batch, and the most characters of each. Longer ones are cut: a small model
/// takes about 500 tokens.
const MAX_TEXTS: u32 = 32;
const MAX_CHARACTERS: u32 = 2_000;

/// The pause after the first error of an embedder. It doubles with each further one.
const PAUSE: i64 = 60_000;
const MAX_PAUSE: i64 = 60 * PAUSE;

/// How many bytes of vectors are read at once.
const PAGE_BYTES: usize = 1 << 20;

/// The most memories that are candidates because of their vectors.
const MAX_NEAREST: usize = 50;

/// A batch of texts for an embedder.
pub(in crate::records) struct Batch {
    /// The digest of the texts. An answer has to name it.
    pub digest: String,
    pub texts: Vec<String>,
}

/// An embedder and an agent.
pub(in crate::records) struct Vectors<'a> {
    transaction: &'a dyn Transaction,
    agent: i64,
    model: &'a str,
}

/// A row of `embedders`.
struct Embedder {
    key: i64,
    dimension: Option<i64>,
    seen: i64,
    leased_until: i64,
    /// Of the batch that it is asked for.
    digest: Option<String>,
    /// The keys of the memories of that batch, in order.
    memories: Vec<i64>,
    failures: i64,
}

impl<'a> Vectors<'a> {
    /// A caller that changes something has to run [`prepare`](super::prepare) before.
    pub fn new(transaction: &'a dyn Transaction, agent: i64, model: &'a str) -> Self {
        Self { transaction, agent, model }
    }

    fn embedder(&self) -> Result<Option<Embedder>, Error> {
        let sql = "SELECT key, dimension, seen, leased_until, digest, memories, failures \
                   FROM embedders WHERE agent = ?1 AND model = ?2";
        let of = [Value::Integer(self.agent), text(self.model)];
        let Some(row) = query_one(self.transaction, statement(sql, of))? else { return Ok(None) };
        let mut row = row.into_iter();
        let mut next = || row.next().unwrap_or(Value::Null);
        Ok(Some(Embedder {
            key: integer(&next())?,
            dimension: match next() {
                Value::Null => None,
                dimension => Some(integer(&dimension)?),
            },
            seen: integer(&next())?,
            leased_until: integer(&next())?,
            digest: into_optional_text(next())?,
            memories: keys(next())?,
            failures: integer(&next())?,
        }))
    }

    /// Whether a memory waits for its vector, and the embedder may be asked now.
    pub fn are_wanted(&self, now: Timestamp) -> Result<bool, Error> {
        let embedder = self.embedder()?;
        let seen = embedder.as_ref().map_or(0, |embedder| embedder.seen);
        if embedder.as_ref().is_some_and(|of| of.leased_until > now.milliseconds()) {
            return Ok(false);
        }
        if !self.unseen(seen, 1)?.is_empty() {
            return Ok(true);
        }
        let Some(Embedder { key, .. }) = embedder else { return Ok(false) };
        let sql = "SELECT 1 FROM vectors WHERE embedder = ?1 AND vector IS NULL";
        Ok(query_one(self.transaction, statement(sql, [Value::Integer(key)]))?.is_some())
    }

    /// The next keys of memories that the embedder has not got to.
    fn unseen(&self, seen: i64, most: u32) -> Result<Vec<i64>, Error> {
        let sql = "SELECT key FROM memories WHERE agent = ?1 AND key > ?2 ORDER BY key LIMIT ?3";
        let parameters = [self.agent, seen, most.into()].map(Value::Integer);
        let rows = self.transaction.query(&statement(sql, parameters), most)?.rows;
        rows.iter().map(|row| integer(&row[0])).collect()
    }

    /// Chooses the next batch, with a lease. None if nothing is wanted, or another host has a lease.
    pub fn claim(&self, now: Timestamp, seconds: u32) -> Result<Option<Batch>, Error> {
        let insert = "INSERT OR IGNORE INTO embedders (agent, model) VALUES (?1, ?2)";
        let of = [Value::Integer(self.agent), text(self.model)];
        self.transaction.execute(&[statement(insert, of)])?;
        let Some(embedder) = self.embedder()? else { return Ok(None) };
        if embedder.leased_until > now.milliseconds() {
            return Ok(None);
        }
        self.see_more(&embedder)?;
        let (memories, texts) = self.next_texts(embedder.key)?;
        if texts.is_empty() {
            return Ok(None);
        }
        let digest = digest(&texts);
        let until = now.milliseconds().saturating_add(i64::from(seconds) * 1_000);
        let key = Value::Integer(embedder.key);
        let memories = json(&memories);
        let asked = "UPDATE vectors SET is_asked = memory IN (SELECT value FROM json_each(?2)) \
                     WHERE embedder = ?1 AND vector IS NULL";
        let lease = "UPDATE embedders SET digest = ?2, memories = ?3, leased_until = ?4 \
                     WHERE key = ?1";
        let of_lease = [key.clone(), text(&digest), memories.clone(), Value::Integer(until)];
        self.transaction
            .execute(&[statement(asked, [key, memories]), statement(lease, of_lease)])?;
        Ok(Some(Batch { digest, texts }))
    }

    /// Gives a batch of further memories their rows. A blank text has an empty vector: no embedder
    /// takes it.
    fn see_more(&self, embedder: &Embedder) -> Result<(), Error> {
        let unseen = self.unseen(embedder.seen, MAX_TEXTS)?;
        let Some(last) = unseen.last() else { return Ok(()) };
        let blank = "trim(content, ' ' || char(9, 10, 11, 12, 13)) = ''";
        let rows = format!(
            "INSERT OR IGNORE INTO vectors (embedder, memory, vector) \
             SELECT ?1, key, CASE WHEN {blank} THEN x'' END FROM memories \
             WHERE key IN (SELECT value FROM json_each(?2))"
        );
        let seen = "UPDATE embedders SET seen = ?2 WHERE key = ?1";
        let key = Value::Integer(embedder.key);
        let statements = [
            statement(&rows, [key.clone(), json(&unseen)]),
            statement(seen, [key, Value::Integer(*last)]),
        ];
        self.transaction.execute(&statements)?;
        Ok(())
    }

    /// The keys and the texts of the next batch. A text that was in a failed batch is asked for alone,
    /// after all others: it may be the one that the embedder does not take.
    fn next_texts(&self, embedder: i64) -> Result<(Vec<i64>, Vec<String>), Error> {
        let sql = "SELECT v.memory, v.failures, substr(m.content, 1, ?2) FROM vectors AS v \
                   CROSS JOIN memories AS m ON m.key = v.memory \
                   WHERE v.embedder = ?1 AND v.vector IS NULL \
                   ORDER BY v.failures, v.memory LIMIT ?3";
        let parameters = [embedder, MAX_CHARACTERS.into(), MAX_TEXTS.into()].map(Value::Integer);
        let mut memories = Vec::new();
        let mut texts = Vec::new();
        for row in self.transaction.query(&statement(sql, parameters), MAX_TEXTS)?.rows {
            let [memory, failures, content] =
                row.try_into().map_err(|_| unexpected("three columns", &Value::Null))?;
            let has_failed = integer(&failures)? > 0;
            if has_failed && !texts.is_empty() {
                break;
            }
            memories.push(integer(&memory)?);
            texts.push(into_text(content)?);
            if has_failed {
                break;
            }
        }
        Ok((memories, texts))
    }

    /// Stores the vectors of the batch with this digest, and returns how many. A memory whose text has
    /// changed meanwhile, or that is gone, gets none. None if the embedder is asked for no such batch.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` if the vectors do not fit the texts, each other or the stored ones.
    pub fn answer(
        &self,
        batch: &str,
        vectors: &[Vec<Option<f32>>],
    ) -> Result<Option<usize>, Error> {
        let Some(embedder) = self.asked(batch)? else { return Ok(None) };
        let vectors = self.checked(&embedder, vectors)?;
        let set = "UPDATE vectors SET vector = ?3, is_asked = 0, failures = 0 \
                   WHERE embedder = ?1 AND memory = ?2 AND is_asked AND vector IS NULL";
        let of_memory = embedder.memories.iter().zip(&vectors).map(|(memory, vector)| {
            let [embedder, memory] = [embedder.key, *memory].map(Value::Integer);
            statement(set, [embedder, memory, Value::Blob(vector.to_bytes())])
        });
        let stored = self.transaction.execute(&of_memory.collect::<Vec<_>>())?;
        let dimension = vectors.first().map_or(0, Vector::dimension);
        let done = "UPDATE embedders SET dimension = ?2, digest = NULL, memories = '[]', \
                    leased_until = 0, failures = 0 WHERE key = ?1";
        let of_done = [Value::Integer(embedder.key), Value::Integer(dimension as i64)];
        self.transaction.execute(&[statement(done, of_done)])?;
        Ok(Some(stored.iter().filter(|effect| effect.changes > 0).count()))
    }

    /// The embedder, if it is asked for the batch with this digest.
    fn asked(&self, batch: &str) -> Result<Option<Embedder>, Error> {
        Ok(self.embedder()?.filter(|embedder| embedder.digest.as_deref() == Some(batch)))
    }

    fn checked(
        &self,
        embedder: &Embedder,
        vectors: &[Vec<Option<f32>>],
    ) -> Result<Vec<Vector>, Error> {
        let invalid = |message: String| Error::new(Code::InvalidInput, message);
        let texts = embedder.memories.len();
        let given = vectors.len();
        if texts != given {
            let message = format!("`{}` gave {given} vectors for {texts} texts", self.model);
            return Err(invalid(message));
        }
        let checked = vectors.iter().enumerate().map(|(at, vector)| {
            // A value that is no number counts as one that is not finite.
            let numbers = vector.iter().map(|number| number.unwrap_or(f32::NAN));
            Vector::new(&numbers.collect::<Vec<f32>>())
                .map_err(|reason| invalid(format!("the vector {at} of `{}` {reason}", self.model)))
        });
        let checked = checked.collect::<Result<Vec<Vector>, Error>>()?;
        let first = checked.first().map_or(0, Vector::dimension);
        if let Some(other) = checked.iter().find(|vector| vector.dimension() != first) {
            let other = other.dimension();
            let message =
                format!("`{}` gave vectors of {first} and of {other} numbers", self.model);
            return Err(invalid(message));
        }
        match embedder.dimension {
            Some(stored) if stored != first as i64 => Err(invalid(format!(
                "`{}` gave vectors of {stored} numbers before, and of {first} now: give the other \
                 model a name of its own, or convert the agent's records to JSON and back, which \
                 drops the vectors",
                self.model
            ))),
            _ => Ok(checked),
        }
    }

    /// Notes that the embedder gave no vectors for a batch. It is asked again after a pause that grows
    /// with each failure. False if it is asked for no such batch.
    pub fn fail(&self, batch: &str, now: Timestamp) -> Result<bool, Error> {
        let Some(embedder) = self.asked(batch)? else { return Ok(false) };
        let doubled = u32::try_from(embedder.failures.clamp(0, 6)).unwrap_or(6);
        let until = now.milliseconds().saturating_add((PAUSE << doubled).min(MAX_PAUSE));
        let of_texts = "UPDATE vectors SET failures = failures + 1, is_asked = 0 \
                        WHERE embedder = ?1 AND is_asked AND vector IS NULL";
        let pause = "UPDATE embedders SET digest = NULL, memories = '[]', leased_until = ?2, \
                     failures = failures + 1 WHERE key = ?1";
        let key = Value::Integer(embedder.key);
        let statements =
            [statement(of_texts, [key.clone()]), statement(pause, [key, Value::Integer(until)])];
        self.transaction.execute(&statements)?;
        Ok(true)
    }
}

fn keys(value: Value) -> Result<Vec<i64>, Error> {
    let list = into_text(value)?;
    serde_json::from_str(&list).map_err(|_| unexpected("a JSON array", &Value::Text(list)))
}

fn digest(texts: &[String]) -> String {
    let texts = serde_json::to_string(texts).expect("texts are JSON");
    Sha256::digest(texts).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The agents of the database with their keys, in the order of the keys.
pub(in crate::records) fn agents(view: &dyn Transaction) -> Result<Vec<(i64, String)>, Error> {
    if !has_tables(|statement| view.query(statement, 1))? {
        return Ok(Vec::new());
    }
    let sql = "SELECT key, name FROM agents ORDER BY key";
    let rows = view.query(&statement(sql, []), MAX_AGENTS)?.rows;
    let agent = |mut row: Vec<Value>| Ok((integer(&row[0])?, into_text(row.swap_remove(1))?));
    rows.into_iter().map(agent).collect()
}

/// The name of the agent with this key.
pub(in crate::records) fn agent_with_key(
    view: &dyn Transaction,
    key: i64,
) -> Result<Option<String>, Error> {
    if !has_tables(|statement| view.query(statement, 1))? {
        return Ok(None);
    }
    let sql = "SELECT name FROM agents WHERE key = ?1";
    let row = query_one(view, statement(sql, [Value::Integer(key)]))?;
    row.map(|mut row| into_text(row.swap_remove(0))).transpose()
}

/// Deletes the vectors of memories. `keys` is SQL for the rows with their keys.
pub(super) fn delete_vectors(keys: &str, parameters: &[Value]) -> Statement {
    statement(&format!("DELETE FROM vectors WHERE memory IN ({keys})"), parameters)
}

/// Deletes the vectors and the embedders of an agent.
pub(super) fn delete_embedders(agent: i64) -> [Statement; 2] {
    let delete = |sql| statement(sql, [Value::Integer(agent)]);
    [
        delete(
            "DELETE FROM vectors WHERE embedder IN (SELECT key FROM embedders WHERE agent = ?1)",
        ),
        delete("DELETE FROM embedders WHERE agent = ?1"),
    ]
}

/// Drops the vectors of a memory whose text has changed. It waits for new ones.
pub(super) fn drop_vectors(memory: i64) -> Statement {
    let sql = "UPDATE vectors SET vector = NULL, is_asked = 0, failures = 0 WHERE memory = ?1";
    statement(sql, [Value::Integer(memory)])
}

/// Lets embedders get to a memory that was inserted with the key of a deleted one. `key` is SQL for
/// the first inserted key; `parameter` is its parameter `?2`, if it has one.
pub(super) fn see_again(key: &str, agent: i64, parameter: Option<Value>) -> Statement {
    let sql = format!("UPDATE embedders SET seen = {key} - 1 WHERE agent = ?1 AND seen >= {key}");
    let mut parameters = vec![Value::Integer(agent)];
    parameters.extend(parameter);
    statement(&sql, parameters)
}

/// How similar the vectors of an agent's memories are to that of a query.
#[derive(Default)]
pub(super) struct Similarities {
    /// By the keys of the memories. The nearest can be hits.
    pub rows: Similar,
    /// The agent has vectors, and the request has none.
    pub wants_vector: bool,
    /// A warning that some vectors were not compared.
    pub warning: Option<String>,
}

/// Compares the vectors of an agent's memories with that of a request.
pub(super) fn similarities(
    view: &dyn Transaction,
    agent: i64,
    request: &Request,
) -> Result<Similarities, Error> {
    let Some(model) = request.embedder.as_deref() else { return Ok(Similarities::default()) };
    let Some(embedder) = Vectors::new(view, agent, model).embedder()? else {
        return Ok(Similarities::default());
    };
    let Some(dimension) = embedder.dimension else { return Ok(Similarities::default()) };
    let Some(vector) = &request.vector else {
        return Ok(Similarities { wants_vector: true, ..Similarities::default() });
    };
    if vector.dimension() as i64 != dimension {
        let warning = format!(
            "the vectors of `{model}` were not compared: they have {dimension} numbers, and that of \
             the query {}",
            vector.dimension()
        );
        return Ok(Similarities { warning: Some(warning), ..Similarities::default() });
    }
    let sql = "SELECT v.memory, v.vector, \
               m.archived <= ?2 AND m.created_at BETWEEN ?3 AND ?4 \
               FROM vectors AS v CROSS JOIN memories AS m ON m.key = v.memory \
               WHERE v.embedder = ?1 AND v.memory < ?5 AND v.vector IS NOT NULL \
               ORDER BY v.memory DESC LIMIT ?6";
    let bytes = 4 * vector.dimension();
    let page = (PAGE_BYTES / bytes).max(1);
    let moment = |bound: Option<Timestamp>, none| bound.map_or(none, |at| at.milliseconds());
    let mut found = Similarities::default();
    let mut admitted = Vec::new();
    let mut before = i64::MAX;
    loop {
        let parameters = [
            Value::Integer(embedder.key),
            flag(request.include_archived),
            Value::Integer(moment(request.from, i64::MIN)),
            Value::Integer(moment(request.to, i64::MAX)),
            Value::Integer(before),
            Value::Integer(page as i64),
        ];
        let rows = view.query(&statement(sql, parameters), page as u32)?.rows;
        if !request.budget.take_for_vectors(rows.len() as u64 * (bytes as u64 + OF_VECTOR)) {
            let compared = found.rows.similarities.len();
            found.warning = Some(format!("only the newest {compared} vectors were compared"));
            break;
        }
        let is_last = rows.len() < page;
        for row in rows {
            before = integer(&row[0])?;
            let Value::Blob(stored) = &row[1] else { return Err(unexpected("a blob", &row[1])) };
            let Some(cosine) = vector.cosine(stored) else { continue };
            found.rows.similarities.insert(before, cosine);
            if cosine > 0.0 && integer(&row[2])? != 0 {
                admitted.push((cosine, before));
            }
        }
        if is_last {
            break;
        }
    }
    admitted.sort_by(|(one, key), (other, of_other)| {
        other.total_cmp(one).then_with(|| of_other.cmp(key))
    });
    let nearest = admitted.into_iter().take(MAX_NEAREST).map(|(_, key)| key);
    found.rows.nearest = nearest.collect();
    Ok(found)
}
