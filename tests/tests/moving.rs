//! `agent-memory move`: the memory of a machine in a database, and back in files. Whatever a tool answers
//! before, it answers after; every document and row is the same.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::storage::{Statement, Value as Stored};
use agent_memory_host::{AgentMemory, Builder, Clock};
use agent_memory_storage_postgres::Server;
use agent_memory_tests::postgres::{PostgresServer, database};
use agent_memory_tests::product::program;
use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The memory of a machine.
struct Machine {
    home: TempDir,
}

/// The kept databases of a machine, below its home, with the tables that are not moved.
const DATABASES: [&str; 3] = ["records/memories.db", "data/agent_memory.db", "data/items.db"];

/// The tables of SQLite or of this program that have no memory.
const OTHER_TABLES: [&str; 2] = ["layers_schema", "sqlite_sequence"];

impl Machine {
    fn new() -> Self {
        Machine { home: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The memory in its files. New agents of records get this format.
    fn memory(&self, format: &str) -> AgentMemory {
        let builder = builder().data_dir(self.path("data"));
        let records = self.path("records").to_str().unwrap().to_owned();
        let builder = builder.setting("records", "directory", records);
        builder.setting("records", "format", format).build().unwrap()
    }

    /// The arguments of a move of its memory.
    fn arguments(&self, direction: &str, url: &str) -> Vec<String> {
        let records = self.path("records");
        vec![
            "move".to_owned(),
            format!("--{direction}={url}"),
            format!("--memory-dir={}", records.display()),
        ]
    }

    fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(program("agent-memory"));
        command.args(arguments).env_clear().env("HOME", self.home.path());
        command.env("AGENT_MEMORY_DATA_DIR", self.path("data")).current_dir(self.home.path());
        command
    }

    fn moved(&self, direction: &str, url: &str, more: &[&str]) -> Output {
        let mut arguments = self.arguments(direction, url);
        arguments.extend(more.iter().map(|&option| option.to_owned()));
        let output = self.command(&arguments).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!shown.contains("postgresql://memory"), "{shown}");
        output
    }

    #[track_caller]
    fn moves(&self, direction: &str, url: &str, more: &[&str]) -> String {
        let output = self.moved(direction, url, more);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn refuses(&self, direction: &str, url: &str, status: i32) -> String {
        let output = self.moved(direction, url, &[]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// All documents with their bytes, and all rows.
    fn contents(&self) -> (BTreeMap<String, Vec<u8>>, BTreeMap<String, Vec<Vec<Sql>>>) {
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

fn collect(root: &Path, directory: &Path, documents: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let is_database = DATABASES.iter().any(|database| name.starts_with(database));
        if path.is_dir() {
            // The locks and the indexes.
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

/// Calls that are made one after the other.
struct Caller {
    runtime: Runtime,
}

impl Caller {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Caller { runtime }
    }

    fn answer(&self, memory: &AgentMemory, tool: &str, arguments: &Value) -> Value {
        let outcome = self.runtime.block_on(memory.call(tool, &arguments.to_string())).unwrap();
        serde_json::from_str(outcome.json()).unwrap()
    }

    #[track_caller]
    fn done(&self, memory: &AgentMemory, tool: &str, arguments: &Value) -> Value {
        let outcome = self.runtime.block_on(memory.call(tool, &arguments.to_string())).unwrap();
        assert!(outcome.answer.is_ok(), "{tool} {arguments}: {}", outcome.json());
        serde_json::from_str(outcome.json()).unwrap()
    }
}

/// Texts that a medium may not keep as they are.
const TEXTS: [&str; 6] = [
    "plain",
    "it's \"quoted\" \\ with `ticks`, $1 and ?1; -- no comment",
    "Straße, naïve, 記憶はここに, 👩🏽‍🚀, e\u{301}",
    "two\nlines\r\nand a\ttab",
    "the last plane \u{10fffd}, a \u{1f600} and \u{200d}",
    " spaces at both ends ",
];

/// Those on one line.
fn one_liners() -> impl Iterator<Item = &'static str> {
    TEXTS.into_iter().filter(|text| !text.contains('\n'))
}

/// Fills a machine by calls of every toolset.
fn fill(machine: &Machine, caller: &Caller) {
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
fn answers(caller: &Caller, memory: &AgentMemory) -> Vec<(String, Value)> {
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

fn on_server(options: DatabaseOptions) -> AgentMemory {
    builder().data_dir("/nowhere/at/all").database(options).build().unwrap()
}

#[track_caller]
fn assert_same(one: &[(String, Value)], other: &[(String, Value)]) {
    for ((call, one), (_, other)) in one.iter().zip(other) {
        assert_eq!(one, other, "{call}");
    }
}

#[test]
fn a_memory_is_the_same_in_a_database_and_back_in_files() {
    let Some(server) = PostgresServer::start() else { return };
    let caller = Caller::new();
    let here = Machine::new();
    fill(&here, &caller);
    let before = here.contents();
    let url = server.url_text();

    let planned = here.moves("to", &url, &["--dry-run"]);
    let moved = here.moves("to", &url, &[]);
    assert_eq!(planned.replace("to move", "moved"), moved);
    assert_eq!(moved.lines().count(), 5, "{moved}");
    assert_eq!(here.contents(), before);
    // Again, there is nothing to do.
    let again = here.moves("to", &url, &[]);
    assert!(again.lines().all(|line| line.ends_with("were there already")), "{again}");

    let of_files = answers(&caller, &here.memory("sqlite"));
    let of_server = answers(&caller, &on_server(DatabaseOptions::new(server.url())));
    assert_same(&of_files, &of_server);

    let back = Machine::new();
    let returned = back.moves("from", &url, &[]);
    assert_eq!(returned, moved);
    let (documents, rows) = here.contents();
    let (documents_back, rows_back) = back.contents();
    assert_eq!(rows_back, rows);
    let names =
        |documents: &BTreeMap<String, Vec<u8>>| documents.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&documents_back), names(&documents));
    for (name, bytes) in &documents {
        // The registry of stores is made anew.
        assert!(name.ends_with("stores.yaml") || documents_back[name] == *bytes, "{name}");
    }

    // All go on, with ids that nothing had.
    let of_back = back.memory("sqlite");
    let of_server = on_server(DatabaseOptions::new(server.url()));
    for memory in [&here.memory("sqlite"), &of_back, &of_server] {
        for (tool, arguments) in [
            ("store_memory", json!({"agent_id": "ada", "type": "core", "content": "after"})),
            ("layers_add_core_memory", json!({"agent_id": "ada", "memory": "after"})),
            ("add_recent_memory", json!({"agent_id": "ada", "memory": "after"})),
            ("add_memory", json!({"store": "team", "path": "notes/after", "content": "after"})),
            ("create_memory_file", json!({"path": "/memories/after", "file_text": "after"})),
            ("put_item", json!({"namespace": ["users"], "key": "after", "value": {}})),
        ] {
            caller.done(memory, tool, &arguments);
        }
    }
}

/// Starts a move and kills it once it says this.
fn kill_after(machine: &Machine, direction: &str, url: &str, said: &str) {
    let mut command = machine.command(&machine.arguments(direction, url));
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let was_said = lines.map(Result::unwrap).any(|line| line == said);
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(was_said, "it never says `{said}`");
}

/// Starts a move and kills it once the database has so many memories.
fn kill_at(machine: &Machine, url: &str, memories: i64) {
    let server = database(url);
    let mut command = machine.command(&machine.arguments("to", url));
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while count(&server, "memories") < memories {
        assert!(process.try_wait().unwrap().is_none(), "it has ended");
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

fn count(server: &Server, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    let statement = Statement { sql, parameters: Vec::new() };
    match server.database().query(&statement, 1).unwrap().rows[0][..] {
        [Stored::Integer(count)] => count,
        _ => unreachable!("it counts"),
    }
}

/// The memories of an agent with many.
const MEMORIES: usize = 3_000;

#[test]
fn a_move_that_is_killed_goes_on_when_it_is_started_again() {
    let Some(server) = PostgresServer::start() else { return };
    let caller = Caller::new();
    let here = Machine::new();
    fill(&here, &caller);
    let memory = here.memory("sqlite");
    let record = |number: usize| {
        let id = format!("{number:08x}-0000-4000-8000-000000000001");
        let created = "2024-12-01T09:30:00Z";
        let content = format!("memory {number}");
        json!({"id": id, "type": "task", "content": content, "created_at": created}).to_string()
    };
    let records = (0..MEMORIES).map(record).collect::<Vec<_>>().join("\n");
    let mut page = json!({"agent_id": "ada", "records": records});
    loop {
        let imported = caller.done(&memory, "import_records", &page);
        match imported.get("cursor") {
            Some(cursor) => page["cursor"] = cursor.clone(),
            None => break,
        }
    }
    drop(memory);
    let before = here.contents();
    let url = server.url_text();
    for memories in [1, 600, 1_700] {
        kill_at(&here, &url, memories);
    }
    for said in ["copying layers", "copying stores/team", "copying items", "verifying stores/team"]
    {
        kill_after(&here, "to", &url, said);
    }
    here.moves("to", &url, &[]);
    assert_eq!(here.contents(), before);

    let back = Machine::new();
    for said in ["copying records", "copying layers", "copying stores/team", "copying items"] {
        kill_after(&back, "from", &url, said);
    }
    back.moves("from", &url, &[]);
    assert_eq!(back.contents().1, before.1);
    assert_eq!(back.contents().0.len(), before.0.len());
}

#[test]
fn nothing_of_another_memory_is_overwritten() {
    let Some(server) = PostgresServer::start() else { return };
    let caller = Caller::new();
    let url = server.url_text();
    let here = Machine::new();
    let other = Machine::new();
    for (machine, text) in [(&here, "mine"), (&other, "another's")] {
        let memory = machine.memory("sqlite");
        let store = json!({"agent_id": "ada", "type": "core", "content": text});
        caller.done(&memory, "store_memory", &store);
        let file = json!({"path": "/memories/plan", "file_text": text});
        caller.done(&memory, "create_memory_file", &file);
    }
    other.moves("to", &url, &[]);
    let said = here.refuses("to", &url, 1);
    assert!(said.contains("`plan` is another one in the target"), "{said}");
    assert!(said.contains("`memories`, key 1, agent 1 (ada), id "), "{said}");
    assert!(said.contains("nothing was moved"), "{said}");

    // What only the target has, also stands in the way.
    let memory = on_server(DatabaseOptions::new(server.url()));
    let more = json!({"path": "/memories/more", "file_text": "more"});
    caller.done(&memory, "create_memory_file", &more);
    let said = other.refuses("to", &url, 1);
    assert!(said.contains("the target has the document `more` of another memory"), "{said}");
    // The other toolsets can be moved.
    let moved = other.moves("to", &url, &["--toolset=records"]);
    assert!(moved.starts_with("records: moved "), "{moved}");
    // Nor are files overwritten.
    let said = here.refuses("from", &url, 1);
    assert!(said.contains("`plan` is another one in the target"), "{said}");
    assert!(!here.path("data/files/more").exists());
}

#[test]
fn what_the_database_cannot_hold_is_named_before_anything_is_moved() {
    let Some(server) = PostgresServer::start() else { return };
    let caller = Caller::new();
    let here = Machine::new();
    let memory = here.memory("sqlite");
    let stored = json!({"agent_id": "ada", "type": "core", "content": "a"});
    let id = caller.done(&memory, "store_memory", &stored)["id"].as_str().unwrap().to_owned();
    let episode = json!({"agent_id": "Lin", "memory": "a"});
    caller.done(&memory, "add_episodic_memory", &episode);
    let long: Vec<String> = (0..20).map(|_| "x".repeat(200)).collect();
    let item = json!({"namespace": long, "key": "k", "value": {}});
    caller.done(&memory, "put_item", &item);
    caller.done(&memory, "create_memory_file", &json!({"path": "/memories/a", "file_text": "a"}));
    drop(memory);
    let change = |file: &str, sql: &str| {
        let database = rusqlite::Connection::open(here.path(file)).unwrap();
        database.execute_batch(sql).unwrap();
    };
    change("records/memories.db", "UPDATE memories SET content = 'a' || char(0) || 'b'");
    change("data/agent_memory.db", "UPDATE episodic_memories SET memory = 'a' || char(0) || 'b'");
    change("data/agent_memory.db", "ALTER TABLE core_memories ADD COLUMN mood TEXT");
    change("data/agent_memory.db", "CREATE TABLE others (a)");
    let url = server.url_text();
    let said = here.refuses("to", &url, 1);
    for part in [
        format!("`memories`, key 1, agent 1 (ada), id {id}: `content` has the character NUL"),
        "`episodic_memories`, id 1, agent_id Lin".to_owned(),
        "`namespace` and `key` have 4062 bytes".to_owned(),
        "the column `mood` to `core_memories`".to_owned(),
        "the table `others` of another program stays".to_owned(),
    ] {
        assert!(said.contains(&part), "{part}: {said}");
    }
    let server = database(&url);
    for table in ["memories", "episodic_memories", "items", "agent_memory.documents"] {
        assert_eq!(count(&server, table), 0, "{table}");
    }
}

#[test]
fn a_memory_is_moved_to_a_tenant_and_back() {
    let Some(server) = PostgresServer::start() else { return };
    let options = DatabaseOptions::new(server.url());
    options.create_tenant("acme").unwrap();
    let caller = Caller::new();
    let here = Machine::new();
    let other = Machine::new();
    let back = Machine::new();
    let url = server.url_text();
    for (machine, text) in [(&here, "mine"), (&other, "another's")] {
        let memory = machine.memory("sqlite");
        let stored = json!({"agent_id": "ada", "type": "core", "content": text});
        caller.done(&memory, "store_memory", &stored);
        let added = json!({"store": "team", "path": "notes/a", "content": text});
        caller.done(&memory, "add_memory", &added);
    }
    other.moves("to", &url, &[]);
    here.moves("to", &url, &["--tenant=acme"]);
    back.moves("from", &url, &["--tenant=acme"]);
    assert_eq!(back.contents().1, here.contents().1);
    let query = json!({"agent_id": "ada"});
    let memory = on_server(options);
    let tenant = caller.runtime.block_on(memory.of_tenant("acme")).unwrap();
    for (memory, text) in [(&memory, "another's"), (&tenant, "mine")] {
        let found = caller.done(memory, "query_memories", &query);
        assert_eq!(found["memories"][0]["content"], text);
    }
    let output = here.moved("to", &url, &["--tenant=globex"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_command_that_cannot_be_understood_moves_nothing() {
    let here = Machine::new();
    for (arguments, said) in [
        (vec!["move"], "--to"),
        (vec!["move", "--to"], "there is no URL of a database"),
        (vec!["move", "--to=postgresql://a/b", "--from"], "cannot be used with"),
        (vec!["move", "--to=postgresql:///x", "--toolset=sessions"], "`sessions` has no memory"),
        (vec!["move", "--to=postgresql:///x", "--toolset=nothing"], "no toolset `nothing`"),
    ] {
        let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
        let output = here.command(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let shown = String::from_utf8_lossy(&output.stderr);
        assert!(shown.contains(said), "{arguments:?}: {shown}");
    }
}
