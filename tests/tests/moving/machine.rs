//! A machine with a memory in files, the calls that fill it, and the answers of its tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::{AgentMemory, Builder, Clock};
use agent_memory_tests::product::program;
use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The bytes of documents.
pub type Documents = BTreeMap<String, Vec<u8>>;

/// The rows of tables.
pub type Tables = BTreeMap<String, Vec<Vec<Sql>>>;

/// The memory of a machine.
pub struct Machine {
    home: TempDir,
}

/// The databases of a machine with memories, as paths below its home. Indexes are other databases.
const DATABASES: [&str; 3] = ["records/memories.db", "data/agent_memory.db", "data/items.db"];

/// The tables without memories, which SQLite or this program adds.
const OTHER_TABLES: [&str; 2] = ["layers_schema", "sqlite_sequence"];

impl Machine {
    pub fn new() -> Self {
        Machine { home: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The memory in its files. New agents of records get this format.
    pub fn memory(&self, format: &str) -> AgentMemory {
        let builder = builder().data_dir(self.path("data"));
        let records = self.path("records").to_str().unwrap().to_owned();
        let builder = builder.setting("records", "directory", records);
        builder.setting("records", "format", format).build().unwrap()
    }

    /// The arguments of a move of the machine's memory.
    pub fn arguments(&self, direction: &str, url: &str) -> Vec<String> {
        let records = self.path("records");
        vec![
            "move".to_owned(),
            format!("--{direction}={url}"),
            format!("--memory-dir={}", records.display()),
        ]
    }

    pub fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(program("agent-memory"));
        command.args(arguments).env_clear().env("HOME", self.home.path());
        command.env("AGENT_MEMORY_DATA_DIR", self.path("data")).current_dir(self.home.path());
        command
    }

    pub fn moved(&self, direction: &str, url: &str, more: &[&str]) -> Output {
        let mut arguments = self.arguments(direction, url);
        arguments.extend(more.iter().map(|&option| option.to_owned()));
        let output = self.command(&arguments).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!shown.contains("postgresql://memory"), "{shown}");
        output
    }

    #[track_caller]
    pub fn moves(&self, direction: &str, url: &str, more: &[&str]) -> String {
        let output = self.moved(direction, url, more);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub fn refuses(&self, direction: &str, url: &str, status: i32) -> String {
        let output = self.moved(direction, url, &[]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// All documents with their bytes, and all rows.
    pub fn contents(&self) -> (Documents, Tables) {
        let mut documents = BTreeMap::new();
        collect(self.home.path(), self.home.path(), &mut documents);
        let databases = DATABASES.iter().filter(|file| self.path(file).exists());
        let rows = databases.flat_map(|file| rows(&self.path(file), file));
        (documents, rows.collect())
    }
}

fn builder() -> Builder {
    let start: Timestamp = "2026-01-20T10:00:00Z".parse().unwrap();
    let clock = Clock::Fixed { start, step: Duration::from_secs(1) };
    AgentMemory::builder().toolsets(["all"]).clock(clock).utc_offset(0)
}

fn collect(root: &Path, directory: &Path, documents: &mut Documents) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let is_database = DATABASES.iter().any(|database| name.starts_with(database));
        if path.is_dir() {
            // That directory has the locks and the indexes.
            if path.file_name().is_some_and(|name| name != ".agent-memory") {
                collect(root, &path, documents);
            }
        } else if !is_database && !name.contains("agent-memory-lock") {
            documents.insert(name, fs::read(&path).unwrap());
        }
    }
}

fn rows(path: &Path, file: &str) -> Vec<(String, Vec<Vec<Sql>>)> {
    let database = rusqlite::Connection::open(path).unwrap();
    let mut names =
        database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let names = names.map(Result::unwrap).filter(|name| !OTHER_TABLES.contains(&name.as_str()));
    let of_table = |name: String| {
        let mut all = database.prepare(&format!("SELECT * FROM {name} ORDER BY 1, 2, 3")).ok();
        let mut all = all.take().unwrap_or_else(|| {
            database.prepare(&format!("SELECT * FROM {name} ORDER BY 1")).unwrap()
        });
        let width = all.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get(at)).collect();
        let rows = all.query_map([], row).unwrap().map(Result::unwrap).collect();
        (format!("{file}: {name}"), rows)
    };
    names.map(of_table).collect()
}

/// Makes calls, one after the other.
pub struct Caller {
    pub runtime: Runtime,
}

impl Caller {
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Caller { runtime }
    }

    fn answer(&self, memory: &AgentMemory, tool: &str, arguments: &Value) -> Value {
        let outcome = self.runtime.block_on(memory.call(tool, &arguments.to_string())).unwrap();
        serde_json::from_str(outcome.json()).unwrap()
    }

    #[track_caller]
    pub fn done(&self, memory: &AgentMemory, tool: &str, arguments: &Value) -> Value {
        let outcome = self.runtime.block_on(memory.call(tool, &arguments.to_string())).unwrap();
        assert!(outcome.answer.is_ok(), "{tool} {arguments}: {}", outcome.json());
        serde_json::from_str(outcome.json()).unwrap()
    }
}

/// Texts that files or a database may fail to keep unchanged.
const TEXTS: [&str; 6] = [
    "plain",
    "it's \"quoted\" \\ with `ticks`, $1 and ?1; -- no comment",
    "Straße, naïve, 記憶はここに, 👩🏽‍🚀, e\u{301}",
    "two\nlines\r\nand a\ttab",
    "the last plane \u{10fffd}, a \u{1f600} and \u{200d}",
    " spaces at both ends ",
];

/// The texts without a line end.
fn one_liners() -> impl Iterator<Item = &'static str> {
    TEXTS.into_iter().filter(|text| !text.contains('\n'))
}

/// Fills a machine by calls of every toolset.
pub fn fill(machine: &Machine, caller: &Caller) {
    let long = "long ".repeat(900);
    for (format, agents) in [("sqlite", ["ada", "Grace-2"]), ("json", ["bob", "under_score.dot"])] {
        let memory = machine.memory(format);
        for agent in agents {
            let mut ids = Vec::new();
            for (number, content) in TEXTS.iter().copied().chain([long.as_str()]).enumerate() {
                let kind = ["core", "learning", "task"][number % 3];
                let importance = ["low", "medium", "high"][number % 3];
                let content = format!("{content} {number}");
                let store = json!({
                    "agent_id": agent, "type": kind, "content": content, "importance": importance,
                    "tags": ["t'ag", "étiquette"], "category": "Ca\"tegory",
                });
                let stored = caller.done(&memory, "store_memory", &store);
                ids.push(stored["id"].clone());
            }
            let update = json!({"agent_id": agent, "id": ids[0], "archived": true});
            caller.done(&memory, "records_update_memory", &update);
            let delete = json!({"agent_id": agent, "id": ids[6], "permanent": true});
            caller.done(&memory, "delete_memory", &delete);
        }
    }
    let memory = machine.memory("sqlite");
    for agent in ["ada", "Lin"] {
        for text in one_liners() {
            let arguments = json!({"agent_id": agent, "memory": text});
            caller.done(&memory, "layers_add_core_memory", &arguments);
            caller.done(&memory, "add_recent_memory", &arguments);
            let episode = json!({"agent_id": agent, "memory": text, "tags": ["x", "ü"]});
            caller.done(&memory, "add_episodic_memory", &episode);
        }
        for number in 0..20 {
            let arguments = json!({"agent_id": agent, "memory": format!("recently {number}")});
            caller.done(&memory, "add_recent_memory", &arguments);
        }
        for task in ["first", "zweite Aufgabe"] {
            caller.done(&memory, "set_current_task", &json!({"agent_id": agent, "task": task}));
        }
    }
    let delete = json!({"agent_id": "Lin", "memory_id": 8});
    caller.done(&memory, "delete_core_memory", &delete);
    for store in ["team", "Other.store_2"] {
        for (number, text) in TEXTS.iter().enumerate() {
            let path = format!("notes/deep/note-{number}");
            let added = json!({"store": store, "path": path, "content": text, "tags": ["a"]});
            caller.done(&memory, "add_memory", &added);
        }
        caller.done(
            &memory,
            "remove_memory",
            &json!({"store": store, "path": "notes/deep/note-0"}),
        );
    }
    for (number, text) in TEXTS.iter().enumerate() {
        let path = format!("/memories/notes {number}/ファイル.md");
        caller.done(&memory, "create_memory_file", &json!({"path": path, "file_text": text}));
    }
    let large = "x".repeat(999_000);
    let large = json!({"path": "/memories/large.txt", "file_text": large});
    caller.done(&memory, "create_memory_file", &large);
    let empty = json!({"path": "/memories/empty.txt", "file_text": ""});
    caller.done(&memory, "create_memory_file", &empty);
    for (number, text) in one_liners().enumerate() {
        let index = if number % 2 == 0 { json!(["text"]) } else { json!([]) };
        let value = json!({"text": text, "n": number, "deep": {"list": [null, true, 1.5]}});
        let namespace = json!(["users", "日本", text]);
        let item = json!({"namespace": namespace, "key": text, "value": value, "index": index});
        caller.done(&memory, "put_item", &item);
    }
    let short_lived = json!({"namespace": ["a"], "key": "b", "value": {}, "ttl_seconds": 3600});
    caller.done(&memory, "put_item", &short_lived);
    caller.runtime.block_on(memory.close(Duration::from_secs(5)));
}

/// The answers of every tool that reads.
pub fn answers(caller: &Caller, memory: &AgentMemory) -> Vec<(String, Value)> {
    let mut calls = Vec::new();
    for agent in ["ada", "Grace-2", "bob", "under_score.dot", "nobody"] {
        let of = json!({"agent_id": agent});
        for tool in ["export_records", "get_memory_stats", "query_memories", "recall_context"] {
            calls.push((tool, of.clone()));
        }
        calls.push((
            "query_memories",
            json!({"agent_id": agent, "search": "記憶", "archived": true}),
        ));
        calls.push(("query_memories", json!({"agent_id": agent, "tags": ["étiquette"]})));
    }
    for agent in ["ada", "Lin", "nobody"] {
        let of = json!({"agent_id": agent});
        for tool in ["get_memory_summary", "get_core_memories", "get_recent_memories"] {
            calls.push((tool, of.clone()));
        }
        calls.push(("export_layers", of.clone()));
        let search = json!({"agent_id": agent, "keywords": "Straße", "include_compost": true});
        calls.push(("search_episodic_memories", search));
    }
    for store in ["team", "Other.store_2"] {
        calls.push(("list_memories", json!({"store": store, "recursive": true})));
        calls.push(("cortex_get_recent_memories", json!({"store": store})));
        calls.push(("get_memory_file", json!({"store": store, "path": "notes/deep/note-2"})));
    }
    for path in ["/memories", "/memories/notes 2/ファイル.md", "/memories/empty.txt"] {
        calls.push(("view_memory_file", json!({"path": path})));
    }
    calls.push(("list_namespaces", json!({})));
    calls.push(("search_items", json!({"namespace_prefix": ["users"], "query": "quoted"})));
    calls.push(("search_items", json!({"namespace_prefix": []})));
    calls.push(("get_item", json!({"namespace": ["users", "日本", "plain"], "key": "plain"})));
    calls.push(("search_memory", json!({"query": "Straße naïve", "include_archived": true})));
    calls.push(("resume_memory", json!({"agent": "ada"})));
    let answer = |(tool, arguments): (&str, Value)| {
        let call = format!("{tool} {arguments}");
        let answer = caller.answer(memory, tool, &arguments);
        assert!(call.contains("nobody") || answer.get("error").is_none(), "{call}: {answer}");
        (call, answer)
    };
    calls.into_iter().map(answer).collect()
}

pub fn on_server(options: DatabaseOptions) -> AgentMemory {
    let nowhere = concat!(env!("CARGO_TARGET_TMPDIR"), "/nowhere");
    builder().data_dir(nowhere).database(options).build().unwrap()
}
