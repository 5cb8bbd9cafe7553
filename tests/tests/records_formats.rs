//! Both formats of `records` give the same answers to random sequences of calls.
//!
//! Both use the same code for arguments, the order of queries and case folding. Errors in that code
//! are found by the conformance cases, not here.

use agent_memory_conformance::case::Format;
use agent_memory_conformance::core_runner::context_of;
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::{Area, Place};
use agent_memory_core::toolbox;
use agent_memory_tests::random::{Random, replay, seed_or};
use serde_json::{Map, Value, json};

const SEQUENCES: u64 = 30;
const CALLS: usize = 160;

/// The core with one format.
struct Host {
    storage: InMemoryStorage,
    format: Format,
    calls: u64,
}

impl Host {
    fn new(format: Format) -> Self {
        let storage = InMemoryStorage::new();
        storage.grant(Place::named("records"));
        Self { storage, format, calls: 0 }
    }

    /// Makes a call; several calls have the same time, so that there are ties.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let second = self.calls / 3;
        let context = json!({
            "settings": {"toolsets": ["records", "memory"], "records": {"format": self.format.name()}},
            "now": format!("2025-01-20T10:{:02}:{:02}.000Z", second / 60 % 60, second % 60),
            "seed": self.calls,
        });
        self.calls += 1;
        self.storage.begin_call();
        let arguments = arguments.to_string();
        let context = context_of(&context);
        let outcome = toolbox::call_tool(&self.storage, tool, &arguments, &context);
        serde_json::from_str(outcome.expect(tool).json()).expect("a result is JSON")
    }
}

#[test]
fn both_formats_give_the_same_answers() {
    let first = seed_or(1);
    for seed in first..first + SEQUENCES {
        let mut random = Random::new(seed);
        let mut hosts = Format::ALL.map(Host::new);
        let mut ids: Vec<String> = Vec::new();
        for step in 0..CALLS {
            let (tool, arguments) = call(&mut random, &ids);
            let [json, sqlite] = hosts.each_mut().map(|host| host.call(tool, &arguments));
            let [in_json, in_sqlite] = [&json, &sqlite].map(comparable);
            assert_eq!(
                in_json,
                in_sqlite,
                "seed {seed}, step {step}: {tool} {arguments}\nreplay: {}",
                replay("records_formats", "both_formats", seed)
            );
            assert_ne!(json["error"]["code"], "INTERNAL_ERROR", "{json}");
            if json["created"] == true {
                ids.extend(json["id"].as_str().map(str::to_owned));
            }
        }
        let [json, sqlite] = hosts.map(|host| host.storage);
        assert!(json.image().is_none() && sqlite.image().is_some());
        assert!(sqlite.documents(&Place::named("records"), Area::Documents).is_empty());
    }
}

#[test]
fn a_text_is_found_as_it_is_after_each_change() {
    const MEMORIES: usize = 100;
    let mut host = Host::new(Format::Sqlite);
    let found = |host: &mut Host, word: &str| -> Vec<Value> {
        let query = json!({"agent_id": "ada", "search": word});
        let page = host.call("query_memories", &query);
        page["memories"].as_array().expect("an array").iter().map(|m| m["id"].clone()).collect()
    };
    let none = Vec::<Value>::new();
    let mut ids = Vec::new();
    for number in 0..MEMORIES {
        // Some texts are not ASCII, and some are long.
        let prefix = ["word", "Wört"][number % 2];
        let length = [1, 1, 1, 900][number % 4];
        let content = format!("{prefix}{number:03}.{}", " more".repeat(length));
        let memory = json!({"agent_id": "ada", "type": "learning", "content": content});
        ids.push(host.call("store_memory", &memory)["id"].clone());
        let first = "word000.";
        let word = format!("{}{number:03}.", prefix.to_lowercase());
        assert_eq!(found(&mut host, &word), [ids[number].clone()], "{word}");
        assert_eq!(found(&mut host, first), [ids[0].clone()], "after {word}");
    }
    for (number, id) in ids.iter().enumerate().skip(MEMORIES - 50) {
        let word = format!("{}{number:03}.", ["word", "wört"][number % 2]);
        let is_deleted = number % 3 == 0;
        let arguments = if is_deleted {
            json!({"agent_id": "ada", "id": id, "permanent": true})
        } else {
            json!({"agent_id": "ada", "id": id, "content": format!("new{number:03}.")})
        };
        let tool = if is_deleted { "delete_memory" } else { "update_memory" };
        let done = host.call(tool, &arguments);
        assert_eq!(done["error"], Value::Null, "{done}");
        assert_eq!(found(&mut host, &word), none, "{word}");
        let expected = if is_deleted { none.clone() } else { vec![id.clone()] };
        assert_eq!(found(&mut host, &format!("new{number:03}.")), expected, "{word}");
    }
}

/// A change that does not change the folded text does not change the index either.
#[test]
fn a_text_that_differs_only_in_case_is_found_after_it_is_indexed() {
    let mut host = Host::new(Format::Sqlite);
    let store = |host: &mut Host, content: &str| {
        let memory = json!({"agent_id": "ada", "type": "learning", "content": content});
        host.call("store_memory", &memory)["id"].clone()
    };
    let id = store(&mut host, "Straße one");
    let change = json!({"agent_id": "ada", "id": id, "content": "Strasse one"});
    assert_eq!(host.call("update_memory", &change)["error"], Value::Null);
    for number in 0..40 {
        store(&mut host, &format!("another {number}"));
        let query = json!({"agent_id": "ada", "search": "strasse one"});
        assert_eq!(host.call("query_memories", &query)["total"], 1, "after {number}");
    }
}

/// An answer as text, so that the order of keys counts, without fields about the format.
fn comparable(answer: &Value) -> String {
    let mut answer = answer.clone();
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("note");
    }
    answer.to_string()
}

const WORDS: &[&str] = &[
    "Straße",
    "STRASSE",
    "strasse",
    "ΟΔΟΣ",
    "οδος",
    "İstanbul",
    "istanbul",
    "ab",
    "a",
    "pytest",
    "Python",
    "é",
    "ﬁne",
    "fine",
    "日本語",
    "日本",
    "quo\"te",
    "100%",
    "_",
    "c++",
    "v1.25",
    "don't",
    "cafe\u{301}s",
    "नमस्ते",
    "a\u{200d}b",
    "ไทย12",
    "東京ab都",
    "1.25",
    "collision",
    "lisio",
    "co\u{ad}llide",
    "NOT",
    "*",
];
const TAGS: &[&str] = &["x", "y", "Straße", "z", "X"];

fn words(random: &mut Random, most: usize) -> Value {
    let words: Vec<_> = (0..=random.below(most)).map(|_| *random.pick(WORDS)).collect();
    json!(words.join(" "))
}

fn tags(random: &mut Random) -> Value {
    (0..random.below(4)).map(|_| json!(random.pick(TAGS))).collect()
}

fn kind(random: &mut Random) -> Value {
    json!(random.pick(&["core", "learning", "task"]))
}

fn importance(random: &mut Random) -> Value {
    json!(random.pick(&["high", "medium", "low"]))
}

fn category(random: &mut Random) -> Value {
    json!(random.pick(&["fact", "Fact", "preference"]))
}

fn id(random: &mut Random, ids: &[String]) -> Value {
    if ids.is_empty() || random.below(8) == 0 {
        json!("00000000-0000-4000-8000-000000000000")
    } else {
        json!(random.pick(ids))
    }
}

/// Adds a field to one of `of` calls on average.
fn give(
    random: &mut Random,
    fields: &mut Map<String, Value>,
    of: usize,
    name: &str,
    value: impl Fn(&mut Random) -> Value,
) {
    if random.below(of) == 0 {
        let value = value(random);
        fields.insert(name.to_owned(), value);
    }
}

/// The next call of a sequence, with the ids of the memories so far.
fn call(random: &mut Random, ids: &[String]) -> (&'static str, Value) {
    let mut fields = Map::new();
    give(random, &mut fields, 1, "agent_id", |random| {
        json!(random.pick(&["default", "default", "ada", "bob", "Ada"]))
    });
    let given = &mut fields;
    let tool = match random.below(13) {
        12 => {
            let agent = given.remove("agent_id");
            give(random, given, 2, "agent", |_| agent.clone().unwrap_or_default());
            give(random, given, 1, "query", |random| words(random, 4));
            give(random, given, 2, "include_archived", |random| json!(random.below(2) == 0));
            give(random, given, 1, "limit", |random| json!(1 + random.below(50)));
            "search_memory"
        }
        0..=3 => {
            let adding = ["add_core_memory", "add_recent_learning", "add_recent_task"];
            let tool = *random.pick(&[adding[0], adding[1], adding[2], "store_memory"]);
            give(random, given, 1, "content", |random| words(random, 6));
            if tool == "store_memory" {
                give(random, given, 1, "type", kind);
                give(random, given, 3, "id", |random| id(random, ids));
            }
            give(random, given, 2, "tags", tags);
            give(random, given, 2, "category", category);
            give(random, given, 2, "importance", importance);
            tool
        }
        4..=7 => {
            give(random, given, 3, "type", kind);
            give(random, given, 3, "tags", tags);
            give(random, given, 3, "importance", importance);
            give(random, given, 4, "category", category);
            give(random, given, 2, "search", |random| words(random, 2));
            give(random, given, 2, "archived", |random| json!(random.below(2) == 0));
            give(random, given, 1, "sort_by", |random| {
                let orders =
                    ["created_at", "updated_at", "accessed_at", "importance", "access_count"];
                json!(random.pick(&orders))
            });
            give(random, given, 1, "sort_order", |random| json!(random.pick(&["asc", "desc"])));
            give(random, given, 1, "limit", |random| json!(1 + random.below(20)));
            give(random, given, 1, "offset", |random| json!(random.below(4)));
            "query_memories"
        }
        8 => {
            give(random, given, 1, "limit", |random| json!(1 + random.below(5)));
            "recall_context"
        }
        9 => {
            give(random, given, 1, "id", |random| id(random, ids));
            give(random, given, 2, "content", |random| words(random, 3));
            give(random, given, 2, "category", |random| {
                random.pick(&[json!(null), json!("fact")]).clone()
            });
            give(random, given, 2, "tags", tags);
            give(random, given, 2, "archived", |random| json!(random.below(2) == 0));
            "update_memory"
        }
        10 => {
            give(random, given, 1, "id", |random| id(random, ids));
            give(random, given, 2, "permanent", |_| json!(true));
            "delete_memory"
        }
        _ => "get_memory_stats",
    };
    (tool, Value::Object(fields))
}
