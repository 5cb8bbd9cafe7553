//! Concurrent calls on storage that locks by scope (an agent or a store), as a server for many agents
//! does. They show that a call reads and changes nothing outside of its scope.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use agent_memory_conformance::case::{Format, Operation};
use agent_memory_conformance::core_runner::{context_of, tables_of};
use agent_memory_conformance::faults::{Action, FaultyStorage, PendingOperation, Plan};
use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_conformance::in_memory::MemoryStorage;
use agent_memory_core::storage::{Area, Place, Storage};
use agent_memory_core::toolbox;
use serde_json::{Value, json};

/// The number of calls of each thread.
const CALLS: u64 = 25;

/// Storage that locks like files, and storage that locks like a server and has the tables of a place.
fn kinds(label: &str) -> [InMemoryStorage; 2] {
    [granted(InMemoryStorage::new()), server(label)]
}

/// Storage that locks like a server. It panics if two scopes change one row or document.
fn server(label: &str) -> InMemoryStorage {
    let storage = granted(InMemoryStorage::like_a_server());
    storage.make_tables(&Place::named(label), &tables_of(label));
    storage
}

fn granted(storage: InMemoryStorage) -> InMemoryStorage {
    storage.grant(Place::named("records"));
    storage.grant(Place::named("layers"));
    storage.grant(Place::named("files"));
    storage.grant(Place::named("items"));
    storage.grant(Place::repository("/project"));
    storage.grant_family("stores");
    storage
}

/// Each format on storage of each kind.
fn of_each_format() -> impl Iterator<Item = (Format, InMemoryStorage)> {
    Format::ALL.into_iter().flat_map(|format| kinds("records").map(|storage| (format, storage)))
}

/// One thread that makes calls.
struct Client {
    storage: InMemoryStorage,
    number: u64,
    format: Format,
    calls: u64,
}

impl Client {
    fn new(storage: InMemoryStorage, number: u64, format: Format) -> Self {
        Self { storage, number, format, calls: 0 }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let storage = self.storage.another();
        self.call_in(&storage, tool, arguments)
    }

    /// Makes a call in `storage`, which is over the storage of the client.
    fn call_in(&mut self, storage: &dyn Storage, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        let context = context_of(&json!({
            "settings": {"toolsets": ["all"], "records": {"format": self.format.name()}},
            "now": "2025-01-20T10:00:00.000Z",
            "seed": self.number * 1_000_000 + self.calls,
        }));
        let outcome = toolbox::call_tool(storage, tool, &arguments.to_string(), &context);
        serde_json::from_str(outcome.expect(tool).json()).expect("JSON")
    }
}

/// Runs `work` for each client on a thread of its own and returns the results.
fn at_once<T: Send>(
    storage: &InMemoryStorage,
    clients: u64,
    format: Format,
    work: impl Fn(&mut Client) -> T + Sync,
) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|number| {
                let storage = storage.another();
                let work = &work;
                scope.spawn(move || work(&mut Client::new(storage, number, format)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    })
}

#[test]
fn the_lock_of_a_scope_excludes_only_the_same_scope_and_the_whole_place() {
    let place = Place::repository("/project");
    let storage = MemoryStorage::new();
    storage.grant(place.clone());
    let ada = storage.lock_for_transaction(&place, Some("ada")).expect("the lock");
    drop(storage.another().lock_for_transaction(&place, Some("bob")).expect("the lock"));
    let waiting: Vec<_> = [Some("ada"), None]
        .into_iter()
        .map(|scope| {
            let other = storage.another();
            let place = place.clone();
            thread::spawn(move || other.lock_for_transaction(&place, scope).map(drop))
        })
        .collect();
    thread::sleep(Duration::from_millis(50));
    assert!(waiting.iter().all(|thread| !thread.is_finished()));
    drop(ada);
    for thread in waiting {
        thread.join().expect("it ends").expect("the lock");
    }
}

#[test]
fn records_that_several_clients_add_at_once_are_all_stored() {
    for (format, storage) in of_each_format() {
        let agent = |client: &Client| ["ada", "bob"][client.number as usize % 2];
        at_once(&storage, 4, format, |client| {
            for number in 0..CALLS {
                let content = format!("{} of {}", number, client.number);
                let arguments = json!({"agent_id": agent(client), "content": content});
                let added = client.call("records_add_core_memory", arguments);
                assert_eq!(added["created"], true, "{added}");
            }
        });
        let totals = at_once(&storage, 2, format, |client| {
            client.call("query_memories", json!({"agent_id": agent(client)}))["total"].clone()
        });
        assert_eq!(totals, [json!(2 * CALLS), json!(2 * CALLS)], "{format:?}");
    }
}

#[test]
fn two_clients_cannot_create_agents_whose_names_differ_only_in_case() {
    for _ in 0..CALLS {
        for (format, storage) in of_each_format() {
            let created = at_once(&storage, 2, format, |client| {
                let agent = ["Ada", "ada"][client.number as usize];
                let arguments = json!({"agent_id": agent, "content": "x"});
                client.call("records_add_core_memory", arguments).get("created").is_some()
            });
            assert_eq!(created.into_iter().filter(|created| *created).count(), 1, "{format:?}");
        }
    }
}

#[test]
fn writers_of_another_agent_succeed_during_conversions() {
    for storage in kinds("records") {
        at_once(&storage, 2, Format::Json, |client| {
            for number in 0..CALLS {
                if client.number == 0 {
                    let agent = format!("ada-{number}");
                    client.call(
                        "records_add_core_memory",
                        json!({"agent_id": agent, "content": "x"}),
                    );
                    let to_rows = json!({"agent_id": agent, "to": "sqlite"});
                    let converted = client.call("convert_records", to_rows);
                    assert_eq!(converted["converted"], true, "{converted}");
                } else {
                    let arguments = json!({"agent_id": "bob", "content": "y"});
                    let added = client.call("records_add_core_memory", arguments);
                    assert_eq!(added["created"], true, "{added}");
                }
            }
        });
    }
}

#[test]
fn entries_that_several_clients_append_to_one_log_are_all_stored() {
    for storage in kinds("records") {
        let session = json!({"agent_name": "ada", "repo_root": "/project"});
        at_once(&storage, 4, Format::Json, |client| {
            client.call("start_session", session.clone());
            for number in 0..CALLS {
                let mut entry = session.clone();
                entry["section"] = json!("Decisions");
                entry["content"] = json!(format!("- {number} of {}", client.number));
                let appended = client.call("append_entry", entry);
                assert_eq!(appended.get("error"), None, "{appended}");
            }
        });
        let place = Place::repository("/project");
        let documents = storage.documents(&place, Area::Documents);
        let log = String::from_utf8(documents["ada/logs/2025-01-20.md"].clone()).expect("UTF-8");
        assert_eq!(log.matches(" of ").count() as u64, 4 * CALLS, "{log}");
    }
}

#[test]
fn recent_memories_that_several_clients_add_at_once_are_each_summarised_once() {
    for storage in kinds("layers") {
        at_once(&storage, 4, Format::Json, |client| {
            for number in 0..CALLS {
                let agent = ["ada", "bob"][client.number as usize % 2];
                let memory = format!("{number} of {}", client.number);
                let added =
                    client.call("add_recent_memory", json!({"agent_id": agent, "memory": memory}));
                assert_eq!(added["created"], true, "{added}");
                assert_eq!(added["warnings"], json!([]), "{added}");
            }
        });
        for agent in ["ada", "bob"] {
            let number = |sql: &str| {
                let rows = storage.query_sql(&format!("{sql} WHERE agent_id = '{agent}'"));
                rows.expect(sql)[0][0].as_u64().expect("a number")
            };
            let recent = number("SELECT count(*) FROM recent_memories");
            assert!(recent < 10, "{recent}");
            let composted = number("SELECT sum(original_count) FROM memory_compost");
            assert_eq!(recent + composted, 2 * CALLS);
            assert_eq!(number("SELECT max(original_count) FROM memory_compost"), 10);
            assert_eq!(number("SELECT sum(original_count) FROM layers_summaries"), composted);
        }
    }
}

#[test]
fn nothing_is_lost_and_the_index_agrees_when_many_add_and_move_in_one_category() {
    for storage in kinds("records") {
        let clients = 4;
        let answers = at_once(&storage, clients, Format::Json, |client| {
            let mut answers = Vec::new();
            for number in 0..CALLS {
                let path = format!("notes/c{}-{number}", client.number);
                let memory = json!({"store": "team", "path": path, "content": "x"});
                answers.push(client.call("add_memory", memory));
                if number % 5 == 0 {
                    let to = format!("moved/c{}-{number}", client.number);
                    let memory = json!({"store": "team", "from_path": path, "to_path": to});
                    answers.push(client.call("move_memory", memory));
                }
            }
            answers
        });
        for answer in answers.iter().flatten() {
            assert_eq!(answer["warnings"], json!([]), "{answer}");
        }
        let place = Place::in_group("stores", "team");
        let before = storage.documents(&place, Area::Documents);
        let memories = before.keys().filter(|path| path.ends_with(".md")).count() as u64;
        assert_eq!(memories, clients * CALLS);
        let counted = at_once(&storage, 1, Format::Json, |client| {
            client.call("reindex_store", json!({"store": "team"}));
            let arguments = json!({"store": "team", "recursive": true, "limit": 1000});
            client.call("list_memories", arguments)["count"].as_u64()
        });
        assert_eq!(counted, [Some(memories)]);
        assert_eq!(storage.documents(&place, Area::Documents), before, "the indexes were right");
    }
}

#[test]
fn edits_of_one_file_that_several_clients_make_at_once_all_stand() {
    for storage in kinds("records") {
        let clients = 4;
        let line = |client: u64, call: u64| format!("c{client}-{call}");
        let lines = (0..clients).flat_map(|client| (0..CALLS).map(move |call| line(client, call)));
        let text: String = lines.map(|line| format!("{line}: open\n")).collect();
        let place = Place::named("files");
        storage.put(&place, Area::Documents, "todo.md", text.clone());
        at_once(&storage, clients, Format::Json, |client| {
            for call in 0..CALLS {
                let line = line(client.number, call);
                let edit = json!({
                    "path": "/memories/todo.md",
                    "old_str": format!("{line}: open\n"), "new_str": format!("{line}: done\n"),
                });
                let answer = client.call("str_replace_memory_file", edit);
                assert_eq!(answer.get("error"), None, "{answer}");
            }
        });
        let after = storage.documents(&place, Area::Documents).remove("todo.md");
        assert_eq!(after, Some(text.replace("open", "done").into_bytes()));
    }
}

#[test]
fn batches_of_items_that_several_clients_make_at_once_all_stand() {
    for storage in kinds("items") {
        let clients = 4;
        at_once(&storage, clients, Format::Json, |client| {
            for call in 0..CALLS {
                let put = |part: u64| {
                    let key = format!("c{}-{call}-{part}", client.number);
                    json!({"put": {"namespace": ["race"], "key": key, "value": {"n": client.number}}})
                };
                let of_all =
                    json!({"put": {"namespace": ["race"], "key": "all", "value": {"n": call}}});
                let operations = [put(0), of_all, put(1)];
                let answer = client.call("batch_items", json!({ "operations": operations }));
                assert_eq!(answer.get("error"), None, "{answer}");
            }
        });
        let found = at_once(&storage, 1, Format::Json, |client| {
            client.call("search_items", json!({"limit": 1000}))["items"].clone()
        });
        let items = found[0].as_array().expect("the items");
        assert_eq!(items.len() as u64, clients * CALLS * 2 + 1);
    }
}

#[test]
fn items_of_several_namespaces_that_are_put_and_expire_at_once_are_all_there() {
    for storage in kinds("items") {
        at_once(&storage, 4, Format::Json, |client| {
            let namespace = json!(["users", format!("user-{}", client.number)]);
            for call in 0..CALLS {
                let put = |key: String, ttl: Option<u64>| json!({"namespace": namespace, "key": key, "value": {}, "ttl_seconds": ttl});
                // This item has expired when the client calls again.
                client.call("put_item", put("brief".into(), Some(1)));
                client.call("put_item", put(format!("k{call}"), None));
                let both = [["users", "both"], ["users", "others"]].map(
                    |namespace| json!({"put": {"namespace": namespace, "key": "k", "value": {}}}),
                );
                client.call("batch_items", json!({ "operations": both }));
            }
        });
        let found = at_once(&storage, 1, Format::Json, |client| {
            client.call("search_items", json!({"limit": 1000}))["items"].clone()
        });
        let keys = found[0].as_array().expect("the items").iter().map(|item| &item["key"]);
        assert_eq!(keys.filter(|key| **key != "brief").count() as u64, 4 * CALLS + 2);
    }
}

/// Stops a call before its transaction is committed.
struct Gate {
    reached: Sender<()>,
    opened: Receiver<()>,
}

impl Plan for Gate {
    fn decide(&self, pending: PendingOperation) -> Action {
        if pending.operation == Operation::CommitTransaction && !pending.changes.is_empty() {
            self.reached.send(()).expect("the test waits for it");
            self.opened.recv().expect("the test opens it");
        }
        Action::Proceed
    }
}

#[test]
fn a_writer_waits_for_no_open_transaction_of_another_scope_and_both_are_kept() {
    let record = |agent: &str, content: &str| json!({"agent_id": agent, "content": content});
    let recent = |agent: &str, memory: &str| json!({"agent_id": agent, "memory": memory});
    type Arguments = fn(&str, &str) -> Value;
    let calls: [(&str, &str, Arguments, &str); 2] = [
        ("records", "records_add_core_memory", record, "SELECT count(*) FROM memories"),
        ("layers", "add_recent_memory", recent, "SELECT count(*) FROM recent_memories"),
    ];
    for (label, tool, arguments, count) in calls {
        let storage = server(label);
        let client = |number| Client::new(storage.another(), number, Format::Sqlite);
        let mut beside = client(0);
        // The first call of an agent makes the agent's row. Later calls find it.
        for round in 0..3_u64 {
            thread::scope(|scope| {
                let (reached, is_reached) = channel();
                // If the test fails, it drops the sender, so the other thread ends, too.
                let (open, opened) = channel();
                let mut held = client(round + 1);
                let gated = FaultyStorage::new(storage.another(), Gate { reached, opened });
                let text = format!("held {round}");
                let ada = scope.spawn(move || held.call_in(&gated, tool, arguments("ada", &text)));
                is_reached.recv().expect("it comes to its commit");
                let text = format!("beside {round}");
                let answer = beside.call(tool, arguments("bob", &text));
                assert_eq!(answer.get("error"), None, "{answer}");
                assert_eq!(
                    storage.query_sql(count),
                    Ok(vec![vec![json!(2 * round + 1)]]),
                    "{tool}"
                );
                open.send(()).expect("it waits");
                let answer = ada.join().expect("it ends");
                assert_eq!(answer.get("error"), None, "{answer}");
            });
            assert_eq!(storage.query_sql(count), Ok(vec![vec![json!(2 * round + 2)]]), "{tool}");
        }
    }
}

/// How long a commit waits for the writer of the other thread.
const BETWEEN: Duration = Duration::from_millis(500);

/// Lets a writer of another thread begin before a commit of documents. The commit goes on once the
/// writer has ended, or after a pause: the writer may be waiting for the lock.
struct WriterBetween {
    begin: Sender<()>,
    ended: Receiver<()>,
}

impl Plan for WriterBetween {
    fn decide(&self, pending: PendingOperation) -> Action {
        if pending.operation == Operation::Commit {
            self.begin.send(()).expect("the writer waits for it");
            let _ = self.ended.recv_timeout(BETWEEN);
        }
        Action::Proceed
    }
}

#[test]
fn no_writer_of_the_agent_comes_into_a_conversion_on_a_server() {
    let place = Place::named("records");
    for (to, before, expected) in [
        ("sqlite", Format::Json, vec!["ada.json.converted"]),
        ("json", Format::Sqlite, vec!["ada.json"]),
    ] {
        let storage = server("records");
        let client = |number, format| Client::new(storage.another(), number, format);
        let record = |content: &str| json!({"agent_id": "ada", "content": content});
        client(1, before).call("records_add_core_memory", record("before"));
        let (converted, added) = thread::scope(|scope| {
            let (begin, begun) = channel();
            let (end, ended) = channel();
            let mut writer = client(2, before);
            let added = scope.spawn(move || {
                begun.recv().expect("the conversion comes to its commit");
                let added = writer.call("records_add_core_memory", record("between"));
                // The conversion may have gone on without waiting for it.
                let _ = end.send(());
                added
            });
            let between = FaultyStorage::new(storage.another(), WriterBetween { begin, ended });
            let arguments = json!({"agent_id": "ada", "to": to});
            let converted = client(3, before).call_in(&between, "convert_records", arguments);
            drop(between);
            (converted, added.join().expect("it ends"))
        });
        assert_eq!(converted, json!({"converted": true, "records": 1}), "to {to}");
        assert_eq!(added["created"], true, "{added}");
        let documents = storage.documents(&place, Area::Documents);
        let names = documents.keys().filter(|name| !name.ends_with(".backup"));
        assert_eq!(names.collect::<Vec<_>>(), expected);
        let all = client(4, before).call("query_memories", json!({"agent_id": "ada"}));
        assert_eq!(all["total"], 2, "{all}");
        let rows = if to == "sqlite" { 2 } else { 0 };
        assert_eq!(storage.query_sql("SELECT count(*) FROM memories"), Ok(vec![vec![json!(rows)]]));
        let again = json!({"agent_id": "ada", "to": to});
        let again = client(5, before).call("convert_records", again);
        assert_eq!(again, json!({"converted": false, "records": 2}));
    }
}
