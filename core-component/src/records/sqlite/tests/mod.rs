//! Tests of the index against the rows.

mod consistency;
mod ranking;
mod unreadable;
mod vectors;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value as Json, json};

use super::row::{COLUMNS, Row};
use super::search::trigrams;
use super::sql::{integer, into_text, statement, text};
use crate::context::Context;
use crate::ranking::each_stem;
use crate::storage::database::{Connection, Kind, Value};
use crate::storage::{Place, Storage};
use crate::toolbox;

/// The toolset on a database in memory.
struct Host {
    storage: InMemoryStorage,
    calls: Cell<u64>,
}

impl Host {
    fn new() -> Self {
        let storage = InMemoryStorage::new();
        storage.grant(Place::named("records"));
        Self { storage, calls: Cell::new(0) }
    }

    /// Calls are a minute apart.
    fn call(&self, tool: &str, arguments: &Json) -> Json {
        let calls = self.calls.replace(self.calls.get() + 1);
        let context = json!({
            "settings": {"toolsets": ["records"], "records": {"format": "sqlite"}},
            "now": format!("2025-01-{:02}T{:02}:{:02}:00.000Z", 1 + calls / 1440, calls / 60 % 24, calls % 60),
            "seed": calls,
        });
        let context: Context = serde_json::from_value(context).expect("a context");
        self.storage.begin_call();
        let outcome = toolbox::call_tool(&self.storage, tool, &arguments.to_string(), &context);
        let answer: Json = serde_json::from_str(outcome.expect(tool).json()).expect("JSON");
        assert_eq!(answer.get("error"), None, "{tool} {arguments}");
        answer
    }

    /// Searches what all agents have.
    fn searched(&self, query: &str) -> Json {
        let context = json!({
            "settings": {"toolsets": ["records", "search"], "records": {"format": "sqlite"}},
            "now": "2025-02-01T00:00:00.000Z",
            "seed": 1,
        });
        let context: Context = serde_json::from_value(context).expect("a context");
        self.storage.begin_call();
        let arguments = json!({"query": query}).to_string();
        let outcome = toolbox::call_tool(&self.storage, "search_memory", &arguments, &context);
        serde_json::from_str(outcome.expect("search_memory").json()).expect("JSON")
    }

    fn add(&self, agent: &str, content: &str) -> Json {
        let memory = json!({"agent_id": agent, "type": "task", "content": content});
        self.call("store_memory", &memory)["id"].clone()
    }

    /// The number of memories with a term.
    fn total(&self, agent: &str, term: &str) -> Json {
        let query = json!({"agent_id": agent, "search": term, "archived": true, "limit": 1});
        self.call("query_memories", &query)["total"].clone()
    }

    fn database(&self) -> Box<dyn Connection + '_> {
        self.storage.begin_call();
        let place = Place::named("records");
        self.storage.open_database(&place, "memories.db", Kind::Kept, false).expect("a database")
    }

    fn keys(&self, sql: &str, parameters: impl Into<Vec<Value>>) -> BTreeSet<i64> {
        let rows = self.database().query(&statement(sql, parameters), 1_000_000).expect(sql).rows;
        rows.iter().map(|row| integer(&row[0]).expect("a key")).collect()
    }

    fn pending(&self) -> BTreeSet<i64> {
        self.keys("SELECT memory FROM unindexed", [])
    }

    /// Checks that the index is that of the rows.
    fn check_index(&self) {
        let pending = self.pending();
        let indexed = self.keys("SELECT id FROM memories_words_docsize", []);
        let mut expected = BTreeMap::<(i64, String, String), BTreeSet<i64>>::new();
        let mut all = BTreeSet::new();
        let rows = statement(&format!("SELECT m.agent, {COLUMNS} FROM memories AS m"), []);
        for mut row in self.database().query(&rows, 1_000_000).expect("rows").rows {
            let agent = integer(&row.remove(0)).expect("a key");
            let Row { key, memory, .. } = Row::read(row).expect("a row");
            all.insert(key);
            if pending.contains(&key) {
                continue;
            }
            for text in memory.searched_texts() {
                each_stem(text, |word, stem| {
                    let entry = expected.entry((agent, word.to_owned(), stem.to_owned()));
                    entry.or_default().insert(key);
                });
            }
        }
        assert_eq!(pending.union(&indexed).copied().collect::<BTreeSet<_>>(), all);
        assert!(pending.is_disjoint(&indexed), "a memory is in one of both");
        let words = statement("SELECT key, agent, word, stem FROM words", []);
        let rows = self.database().query(&words, 1_000_000).expect("words").rows;
        assert_eq!(rows.len(), expected.len(), "each word with a stem is in the vocabulary once");
        let mut keys = BTreeSet::new();
        for row in rows {
            let [key, agent, word, stem] = row.try_into().expect("four columns");
            let (key, agent) = (integer(&key).expect("a key"), integer(&agent).expect("a key"));
            let (word, stem) = (into_text(word).expect("text"), into_text(stem).expect("text"));
            let sql = "SELECT rowid FROM memories_words WHERE memories_words MATCH ?1";
            let memories = self.keys(sql, [text(&key.to_string())]);
            assert_eq!(expected.get(&(agent, word.clone(), stem)), Some(&memories), "{word}");
            keys.insert(key);
            if word.chars().nth(2).is_some() {
                let sql = "SELECT rowid FROM words_text WHERE words_text MATCH ?1";
                let found = self.keys(sql, [text(&trigrams(&word))]);
                assert!(found.contains(&key) && found.is_subset(&keys_of_all(self)), "{word}");
            }
        }
        assert_eq!(self.keys("SELECT id FROM words_text_docsize", []), keys);
    }
}

fn keys_of_all(host: &Host) -> BTreeSet<i64> {
    host.keys("SELECT key FROM words", [])
}
