//! Tests with many rows, or with rows that another program has damaged.

mod ranking;
mod unreadable;
mod vectors;

use std::cell::Cell;

use agent_memory_storage_memory::InMemoryStorage;
use serde_json::{Value as Json, json};

use super::sql::{integer, statement};
use crate::context::Context;
use crate::storage::database::Kind;
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
        self.call_at(calls, tool, arguments)
    }

    /// A call that is `calls` minutes after the first one.
    fn call_at(&self, calls: u64, tool: &str, arguments: &Json) -> Json {
        let context = json!({
            "settings": {"toolsets": ["records", "memory"], "records": {"format": "sqlite"}},
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

    /// Searches the memories of all agents.
    fn searched(&self, query: &str) -> Json {
        let context = json!({
            "settings": {"toolsets": ["records", "memory"], "records": {"format": "sqlite"}},
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

    /// The number that an SQL query on the index returns.
    fn derived(&self, sql: &str) -> i64 {
        self.storage.begin_call();
        let place = Place::named("records");
        let database = self.storage.open_database(&place, "search.db", Kind::Derived, false);
        let rows = database.expect("an index").query(&statement(sql, []), 1).expect(sql).rows;
        integer(&rows[0][0]).expect("a number")
    }
}
