//! `agent-memory move`: the memory of a machine in a database, and back in files. Every tool gives the
//! same answers before and after; every document and row is the same.

#[path = "moving/machine.rs"]
mod machine;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::storage::{Statement, Value as Stored};
use agent_memory_storage_postgres::Server;
use agent_memory_tests::postgres::{PostgresServer, database};
use machine::{Caller, Documents, Machine, answers, fill, on_server};
use serde_json::{Value, json};

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
    // A second move has nothing to do.
    let again = here.moves("to", &url, &[]);
    assert!(again.lines().all(|line| line.ends_with("of them there already")), "{again}");

    let of_files = answers(&caller, &here.memory("sqlite"));
    let of_server = answers(&caller, &on_server(DatabaseOptions::new(server.url())));
    assert_same(&of_files, &of_server);

    let back = Machine::new();
    let returned = back.moves("from", &url, &[]);
    assert_eq!(returned, moved);
    let (documents, rows) = here.contents();
    let (documents_back, rows_back) = back.contents();
    assert_eq!(rows_back, rows);
    let names = |documents: &Documents| documents.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&documents_back), names(&documents));
    for (name, bytes) in &documents {
        // The registry of stores is made anew.
        assert!(name.ends_with("stores.yaml") || documents_back[name] == *bytes, "{name}");
    }

    // All three memories accept new calls, which get new ids.
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

/// Starts a move and kills it once it prints this line.
fn kill_after(machine: &Machine, direction: &str, url: &str, said: &str) {
    let mut command = machine.command(&machine.arguments(direction, url));
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let was_said = lines.map(Result::unwrap).any(|line| line == said);
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(was_said, "it never says `{said}`");
}

/// Starts a move and kills it once the database has this number of memories.
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

/// The number of memories of an agent, enough for a kill in the middle of a move.
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

    // A document that only the target has prevents the move, too.
    let memory = on_server(DatabaseOptions::new(server.url()));
    let more = json!({"path": "/memories/more", "file_text": "more"});
    caller.done(&memory, "create_memory_file", &more);
    let said = other.refuses("to", &url, 1);
    assert!(said.contains("the target has the document `more` of another memory"), "{said}");
    // The other toolsets can still be moved.
    let moved = other.moves("to", &url, &["--toolset=records"]);
    assert!(moved.starts_with("records: moved "), "{moved}");
    // A move back overwrites no file, either.
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
fn an_id_that_would_use_up_those_of_all_tenants_is_named_before_anything_is_moved() {
    let Some(server) = PostgresServer::start() else { return };
    let options = DatabaseOptions::new(server.url());
    options.create_tenant("acme").unwrap();
    let caller = Caller::new();
    let here = Machine::new();
    let memory = here.memory("sqlite");
    let item = json!({"namespace": ["a"], "key": "k", "value": {}});
    caller.done(&memory, "put_item", &item);
    let task = json!({"agent_id": "ada", "task": "a"});
    caller.done(&memory, "set_current_task", &task);
    drop(memory);
    for (file, sql) in [
        ("data/items.db", "UPDATE items SET id = 9223372036854775807"),
        ("data/agent_memory.db", "UPDATE sqlite_sequence SET seq = 9007199254740991"),
    ] {
        rusqlite::Connection::open(here.path(file)).unwrap().execute_batch(sql).unwrap();
    }
    let output = here.moved("to", &server.url_text(), &["--tenant=acme"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    for part in [
        "`items`, id 9223372036854775807, ",
        "`id` is not from 1 to 4503599627370496: give the row another id",
        "`sqlite_sequence` counts the ids of `current_task` beyond 4503599627370496",
        "nothing was moved",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let memory = on_server(options);
    caller.done(&memory, "put_item", &item);
    caller.done(&memory, "set_current_task", &task);
}

#[test]
fn what_only_the_target_has_is_named_also_where_the_source_has_nothing() {
    let Some(server) = PostgresServer::start() else { return };
    let caller = Caller::new();
    let url = server.url_text();
    let here = Machine::new();
    let other = Machine::new();
    let memory = here.memory("sqlite");
    let stored = json!({"agent_id": "ada", "type": "core", "content": "mine"});
    caller.done(&memory, "store_memory", &stored);
    let added = json!({"store": "mine", "path": "notes/a", "content": "mine"});
    caller.done(&memory, "add_memory", &added);
    let memory = other.memory("sqlite");
    let added = json!({"store": "foreign", "path": "notes/b", "content": "another's"});
    caller.done(&memory, "add_memory", &added);
    let file = json!({"path": "/memories/plan", "file_text": "another's"});
    caller.done(&memory, "create_memory_file", &file);
    let item = json!({"namespace": ["a"], "key": "k", "value": {}});
    caller.done(&memory, "put_item", &item);
    drop(memory);
    other.moves("to", &url, &[]);

    let said = here.refuses("to", &url, 1);
    for part in [
        "postgresql:stores/foreign: the target has the document `notes/b",
        "postgresql:files: the target has the document `plan` of another memory",
        "the target has rows of another memory in `items`: move into an empty memory, such as that",
        "nothing was moved",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(count(&database(&url), "memories"), 0);
    let said = here.refuses("from", &url, 1);
    for part in [
        ": the target has the document `notes/a",
        "the target has rows of another memory in `memories`: move into an empty memory, in another",
        "nothing was moved",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!here.path("data/files/plan").exists());
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
    let tenant = caller.runtime.block_on(memory.for_tenant("acme")).unwrap();
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
