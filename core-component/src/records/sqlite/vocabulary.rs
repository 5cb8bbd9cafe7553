//! The vocabulary: the words of each agent's memories that are indexed. The index of texts has the
//! keys of the words as its tokens.

use std::collections::BTreeMap;

use super::sql::{integer, into_text, query_one, statement, unexpected};
use crate::ranking::each_stem;
use crate::records::error::Error;
use crate::storage::database::{Statement, Transaction, Value};

/// The distinct words of some texts. Each has a number.
#[derive(Default)]
pub(super) struct Words {
    numbers: BTreeMap<i64, BTreeMap<(String, String), usize>>,
    /// The words by their numbers.
    words: Vec<Word>,
}

struct Word {
    agent: i64,
    word: String,
    /// In the language of a text: the same word of another text may have another.
    stem: String,
}

impl Words {
    /// Adds the words of an agent's text. Their numbers are added to those of the memory.
    pub fn add(&mut self, agent: i64, text: &str, of_memory: &mut Vec<usize>) {
        let Self { numbers, words } = self;
        let numbers = numbers.entry(agent).or_default();
        each_stem(text, |word, stem| {
            let (word, stem) = (word.to_owned(), stem.to_owned());
            let number = *numbers.entry((word.clone(), stem.clone())).or_insert_with(|| {
                words.push(Word { agent, word, stem });
                words.len() - 1
            });
            of_memory.push(number);
        });
    }

    /// The keys of the words by their numbers. Inserts the words that the vocabulary does not have.
    pub fn keys(&self, transaction: &dyn Transaction) -> Result<Vec<i64>, Error> {
        let sql = "SELECT json_group_array(w.key) FROM json_each(?1) AS one LEFT JOIN words AS w \
                   ON w.agent = one.value->>0 AND w.word = one.value->>1 \
                   AND w.stem = one.value->>2";
        let list: Vec<_> =
            self.words.iter().map(|Word { agent, word, stem }| (agent, word, stem)).collect();
        let found = query_one(transaction, statement(sql, [json(&list)]))?;
        let found = into_text(found.and_then(|mut row| row.pop()).unwrap_or(Value::Null))?;
        let found: Vec<Option<i64>> = serde_json::from_str(&found)
            .map_err(|_| unexpected("a JSON array", &Value::Text(found)))?;
        let newest = statement("SELECT coalesce(max(key), 0) FROM words", []);
        let mut newest = query_one(transaction, newest)?.map_or(Ok(0), |row| integer(&row[0]))?;
        let (mut keys, mut new) = (Vec::with_capacity(found.len()), Vec::new());
        for (key, Word { agent, word, stem }) in found.iter().zip(&self.words) {
            keys.push(key.unwrap_or_else(|| {
                newest += 1;
                new.push((newest, agent, word, stem));
                newest
            }));
        }
        if !new.is_empty() {
            let insert = "INSERT INTO words (key, agent, word, stem) SELECT value->>0, value->>1, \
                          value->>2, value->>3 FROM json_each(?1)";
            let index = "INSERT INTO words_text (rowid, word) \
                         SELECT value->>0, value->>2 FROM json_each(?1)";
            transaction
                .execute(&[statement(insert, [json(&new)]), statement(index, [json(&new)])])?;
        }
        Ok(keys)
    }

    /// The words themselves.
    pub fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.word.as_str()).collect()
    }
}

/// Deletes those of an agent's words that none of its indexed memories has any more.
pub(super) fn delete_unused_words(
    transaction: &dyn Transaction,
    agent: i64,
    words: &[&str],
) -> Result<(), Error> {
    if words.is_empty() {
        return Ok(());
    }
    let sql = "SELECT w.key FROM words AS w \
               WHERE w.agent = ?1 AND w.word IN (SELECT value FROM json_each(?2)) AND NOT EXISTS \
               (SELECT 1 FROM memories_words WHERE memories_words MATCH w.key)";
    let unused = statement(sql, [Value::Integer(agent), json(&words)]);
    let rows = transaction.query(&unused, words.len() as u32)?.rows;
    let keys = rows.iter().map(|row| integer(&row[0])).collect::<Result<Vec<_>, _>>()?;
    if !keys.is_empty() {
        let listed = "(SELECT value FROM json_each(?1))";
        transaction.execute(&[
            statement(&format!("DELETE FROM words_text WHERE rowid IN {listed}"), [json(&keys)]),
            statement(&format!("DELETE FROM words WHERE key IN {listed}"), [json(&keys)]),
        ])?;
    }
    Ok(())
}

/// Deletes the vocabulary of an agent.
pub(super) fn delete_vocabulary(agent: i64) -> [Statement; 2] {
    let of_agent = [Value::Integer(agent)];
    let index = "DELETE FROM words_text WHERE rowid IN (SELECT key FROM words WHERE agent = ?1)";
    [statement(index, of_agent.clone()), statement("DELETE FROM words WHERE agent = ?1", of_agent)]
}

/// A list as a parameter for `json_each`.
pub(super) fn json(list: &impl serde::Serialize) -> Value {
    Value::Text(serde_json::to_string(list).expect("lists are JSON"))
}
