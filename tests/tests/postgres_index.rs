//! The index of a place on PostgreSQL, which all servers share: which server writes it, which servers
//! read it, and that no answer depends on it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agent_memory_host::database::DatabaseOptions;
use agent_memory_host::storage::api::database::Transaction as _;
use agent_memory_host::storage::{Error, ErrorCode, Rows, Statement, Value};
use agent_memory_host::{AgentMemory, Clock};
use agent_memory_storage_postgres::{Database, Options, Server, Transaction};
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::postgres::{Pooler, PostgresServer, database, url_at};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

/// The number of memories of each agent and of the store: too many for a search without an index.
const MEMORIES: usize = 40;

/// How many calls each of several searchers makes.
const CALLS: usize = 12;

/// The time of all calls, because the score of a hit depends on its age.
const NOW: &str = "2026-01-20T10:00:00Z";

/// The tables of derived databases.
const TABLES: [&str; 7] = [
    "segments",
    "postings",
    "index_version",
    "vector_collections",
    "vector_documents",
    "vectors",
    "vector_version",
];

fn server_of(directory: &std::path::Path, tenant: i64, connections: usize) -> Server {
    let url = url_at(directory).parse().unwrap();
    Server::new(Options { url, connections, tenant, statement_time: TIMEOUT }).unwrap()
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

fn text(sql: &str) -> Statement {
    Statement { sql: sql.to_owned(), parameters: Vec::new() }
}

fn insert(segment: i64) -> Statement {
    let sql = "INSERT INTO segments (segment, collection, work, documents, gone) \
               VALUES (?1, 'ada', 1, ?2, ?2)";
    let parameters = vec![Value::Integer(segment), Value::Blob(vec![0])];
    Statement { sql: sql.to_owned(), parameters }
}

fn begin(runtime: &Runtime, database: &Database) -> Result<Transaction, Error> {
    runtime.block_on(database.begin_derived())
}

#[track_caller]
fn write(runtime: &Runtime, database: &Database, segment: i64) {
    let transaction = begin(runtime, database).unwrap();
    transaction.execute(&[insert(segment)]).unwrap();
    transaction.commit().unwrap();
}

fn numbers(rows: Result<Rows, Error>) -> Vec<i64> {
    let number = |row: Vec<Value>| match row[..] {
        [Value::Integer(number)] => number,
        _ => panic!("{row:?}"),
    };
    rows.unwrap().rows.into_iter().map(number).collect()
}

fn segments(database: &Database) -> Vec<i64> {
    numbers(database.query(&text("SELECT segment FROM segments ORDER BY segment"), 100))
}

#[test]
fn a_derived_database_is_busy_at_once_while_another_server_changes_it() {
    let Some(postgres) = PostgresServer::start() else { return };
    let runtime = runtime();
    let [one, other] = [(); 2].map(|()| server_of(postgres.socket_directory(), 1, 2));
    let of = |server: &Server| server.derived_database("stores", "team", "search.db");
    let changing = begin(&runtime, &of(&one)).unwrap();
    changing.execute(&[insert(1)]).unwrap();
    let error = begin(&runtime, &of(&other)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Busy);
    assert!(error.message.contains("another call changes `search.db` now"), "{error}");
    // Derived databases of another name or place can be changed.
    drop(begin(&runtime, &other.derived_database("stores", "team", "vectors.db")).unwrap());
    write(&runtime, &other.derived_database("stores", "sales", "search.db"), 1);
    assert!(segments(&of(&other)).is_empty());
    changing.commit().unwrap();
    assert_eq!(segments(&of(&other)), [1]);
    write(&runtime, &of(&other), 2);
    // Rows that are not committed are not stored.
    let changing = begin(&runtime, &of(&one)).unwrap();
    changing.execute(&[insert(3)]).unwrap();
    drop(changing);
    assert_eq!(segments(&of(&one)), [1, 2]);
    // A failed statement ends its transaction. The next transaction can begin.
    let changing = begin(&runtime, &of(&one)).unwrap();
    assert_eq!(changing.execute(&[insert(2)]).unwrap_err().code, ErrorCode::AlreadyExists);
    write(&runtime, &of(&other), 3);
}

#[test]
fn a_derived_database_is_written_while_a_call_has_the_lock_of_the_place() {
    let Some(postgres) = PostgresServer::start() else { return };
    let runtime = runtime();
    // The writer has one of two connections.
    let server = server_of(postgres.socket_directory(), 1, 2);
    let lock = runtime.block_on(server.tree("stores", "team").lock(None, TIMEOUT)).unwrap();
    let derived = server.derived_database("stores", "team", "search.db");
    write(&runtime, &derived, 1);
    assert_eq!(segments(&derived), [1]);
    // Without a free connection, nothing is written, and the call goes on.
    let reading = runtime.block_on(server.database().begin_read_under(&lock)).unwrap();
    assert_eq!(begin(&runtime, &derived).unwrap_err().code, ErrorCode::Busy);
    drop((reading, lock));
    write(&runtime, &derived, 2);
}

#[test]
fn a_transaction_that_reads_a_derived_database_sees_one_snapshot() {
    let Some(postgres) = PostgresServer::start() else { return };
    let runtime = runtime();
    let server = server_of(postgres.socket_directory(), 1, 4);
    let derived = || server.derived_database("records", "", "search.db");
    write(&runtime, &derived(), 1);
    let one = derived();
    let reading = runtime.block_on(one.begin_read()).unwrap();
    let all = text("SELECT segment FROM segments ORDER BY segment");
    assert_eq!(numbers(reading.query(&all, 10)), [1]);
    write(&runtime, &derived(), 2);
    assert_eq!(numbers(reading.query(&all, 10)), [1]);
    assert_eq!(reading.execute(&[insert(3)]).unwrap_err().code, ErrorCode::ReadOnly);
    assert_eq!(segments(&derived()), [1, 2]);
}

/// Statements that put a row in each table of derived databases.
const ROWS: [&str; 7] = [
    "INSERT INTO segments (segment, collection, work, documents, gone) VALUES (1, 'a', 1, '', '')",
    "INSERT INTO postings (segment, stem, parts) VALUES (1, 1, '')",
    "INSERT INTO index_version (version) VALUES (1)",
    "INSERT INTO vector_collections (name, model) VALUES ('a', 'model')",
    "INSERT INTO vector_documents (collection, document, version, texts) VALUES (1, 1, 1, '')",
    "INSERT INTO vectors (collection, document, text) VALUES (1, 1, 1)",
    "INSERT INTO vector_version (version) VALUES (1)",
];

#[test]
fn each_place_and_each_tenant_has_derived_databases_of_its_own() {
    let Some(postgres) = PostgresServer::start() else { return };
    let runtime = runtime();
    // Row-level security does not hold for a superuser. Then the views alone keep tenants apart.
    let url = postgres.administrator_url_text().parse().unwrap();
    let administrator =
        Server::new(Options { url, connections: 2, tenant: 1, statement_time: TIMEOUT }).unwrap();
    for server in [server_of(postgres.socket_directory(), 1, 2), administrator] {
        let of = |tenant: i64, place: &str| {
            server.for_tenant(tenant).derived_database("stores", place, "search.db")
        };
        // A quote in the name of a place does not end its text in SQL.
        let owners = [of(1, "team"), of(2, "team"), of(1, "o'hara"), of(1, "sales")];
        for (statement, table) in ROWS.iter().zip(TABLES) {
            let count = || {
                let count = text(&format!("SELECT count(*) FROM {table}"));
                owners.each_ref().map(|owner| numbers(owner.query(&count, 1))[0])
            };
            for (number, owner) in owners[..3].iter().enumerate() {
                let transaction = begin(&runtime, owner).unwrap();
                transaction.execute(&[text(statement)]).unwrap();
                transaction.commit().unwrap();
                let expected = [0, 1, 2, 3].map(|at| i64::from(at <= number && at < 3));
                assert_eq!(count(), expected, "{table}");
            }
            // Nothing else is changed or deleted.
            let transaction = begin(&runtime, &owners[0]).unwrap();
            transaction.execute(&[text(&format!("DELETE FROM {table}"))]).unwrap();
            transaction.commit().unwrap();
            assert_eq!(count(), [0, 1, 1, 0], "{table}");
            for owner in &owners[1..3] {
                let transaction = begin(&runtime, owner).unwrap();
                transaction.execute(&[text(&format!("DELETE FROM {table}"))]).unwrap();
                transaction.commit().unwrap();
            }
        }
    }
}

#[test]
fn no_place_outlives_its_transaction_behind_a_pooler() {
    let Some(postgres) = PostgresServer::start() else { return };
    let Some(pooler) = Pooler::start(&postgres, 2) else { return };
    let runtime = runtime();
    let server = server_of(pooler.socket_directory(), 1, 2);
    let places = ["team", "sales", "support"];
    for round in 1..=3 {
        for (number, place) in places.iter().enumerate() {
            let derived = server.derived_database("stores", place, "search.db");
            write(&runtime, &derived, round * 10 + number as i64);
            let own: Vec<i64> = (1..=round).map(|round| round * 10 + number as i64).collect();
            assert_eq!(segments(&derived), own);
            // A connection that was set to a place still serves tables that have no places.
            server.database().query(&text("SELECT count(*) FROM memories"), 1).unwrap();
        }
    }
}

/// A server with records and a store, which it shares with other servers.
struct Host {
    memory: AgentMemory,
    runtime: Arc<Runtime>,
}

impl Host {
    fn new(postgres: &PostgresServer, has_index: bool) -> Self {
        let options = DatabaseOptions::new(postgres.url());
        let clock = Clock::Fixed { start: NOW.parse().unwrap(), step: Duration::ZERO };
        let builder = AgentMemory::builder().toolsets(["records", "stores", "memory"]);
        let mut builder = builder.clock(clock).database(options);
        if !has_index {
            builder = builder.looks_only();
        }
        Host { memory: builder.build().unwrap(), runtime: Arc::new(runtime()) }
    }

    #[track_caller]
    fn call(&self, tool: &str, arguments: &Json) -> Json {
        let arguments = arguments.to_string();
        let outcome = self.runtime.block_on(self.memory.call(tool, &arguments)).unwrap();
        serde_json::from_str(outcome.json()).unwrap()
    }

    /// Adds memories to an agent with rows and to a store.
    fn fill(&self) {
        for number in 0..MEMORIES {
            let arguments = json!({ "agent_id": "ada", "content": content(number) });
            self.call("add_core_memory", &arguments);
        }
        (0..MEMORIES).for_each(|number| self.add_to_store(number));
    }

    fn add_to_store(&self, number: usize) {
        let path = format!("notes/note-{number}");
        let arguments = json!({ "store": "team", "path": path, "content": content(number) });
        self.call("add_memory", &arguments);
    }

    fn search(&self, query: &str) -> Json {
        self.call("search_memory", &json!({ "query": query, "limit": 50 }))
    }
}

/// A text of some length, whose last word is in no other text.
fn content(number: usize) -> String {
    let words = ["kite", "drawer", "zebra", "passport", "plane", "harbour"];
    let sentence = |at: usize| {
        let [one, other] = [words[at % 6], words[(at + number) % 5]];
        format!("The {one} lies beside the {other}. ")
    };
    let sentences: String = (0..80).map(sentence).collect();
    format!("{sentences}It is called {}.", name(number))
}

/// A word that only one memory has.
fn name(number: usize) -> String {
    let letters = b"bdfglmnprt";
    let syllable = |digit: usize| format!("{}o", char::from(letters[digit % 10]));
    format!("quark{}{}x", syllable(number / 10), syllable(number))
}

const QUERIES: [&str; 4] = ["zebra drawer", "kites", "the passport beside planes", "harbour"];

#[track_caller]
fn indexed(host: &Host, postgres: &PostgresServer) {
    for _ in 0..3 {
        host.search("kite");
    }
    assert!(stems(postgres).len() > 2 * 8, "there is no index");
}

/// The stems of all postings.
fn stems(postgres: &PostgresServer) -> Vec<i64> {
    let administrator = database(&postgres.administrator_url_text());
    let sql = "SELECT stem FROM agent_memory.postings ORDER BY place, stem";
    numbers(administrator.database().query(&text(sql), 100_000))
}

/// Checks that a host finds the same as `direct`, which uses no index.
#[track_caller]
fn check(host: &Host, direct: &Host, what: &str) {
    for query in QUERIES {
        assert_eq!(host.search(query), direct.search(query), "{what}: {query}");
    }
}

/// Gives each memory of the agent a vector.
const VECTORS: &str = "INSERT INTO agent_memory.vector_version (tenant, place, version) \
    VALUES (0, 'records', 1); \
    INSERT INTO agent_memory.vector_collections (tenant, place, name, model, dimension) \
    VALUES (0, 'records', 'ada', 'model', 1); \
    INSERT INTO agent_memory.vector_documents (tenant, place, collection, document, version, texts) \
    SELECT 0, 'records', c.collection, m.key, 1, '\\x0100000000000000' \
    FROM agent_memory.memories AS m, agent_memory.vector_collections AS c; \
    INSERT INTO agent_memory.vectors (tenant, place, collection, document, text, numbers) \
    SELECT 0, 'records', c.collection, m.key, 1, '\\x0000803f' \
    FROM agent_memory.memories AS m, agent_memory.vector_collections AS c";

#[test]
fn a_text_that_one_server_forgets_leaves_the_index_that_another_made() {
    let Some(postgres) = PostgresServer::start() else { return };
    let [searches, forgets] = [(); 2].map(|()| Host::new(&postgres, true));
    searches.fill();
    indexed(&searches, &postgres);
    let with_name = |number: usize| {
        let found = searches.search(&name(number));
        let hits = found["hits"].as_array().unwrap().clone();
        let has_name = |hit: &Json| hit["passage"].as_str().unwrap().contains(&name(number));
        hits.into_iter().filter(has_name).collect::<Vec<_>>()
    };
    // An agent's memory and a memory of the store have the word.
    let before = stems(&postgres);
    assert_eq!(with_name(7).len(), 2);
    forgets.call("forget_memory", &json!({ "text": name(7) }));
    let left = stems(&postgres);
    assert!(left.len() + 2 <= before.len(), "{} of {}", left.len(), before.len());
    assert!(with_name(7).is_empty());
    // A deleted memory leaves the index, too, and loses its vector.
    let administrator = database(&postgres.administrator_url_text());
    administrator.execute(VECTORS).unwrap();
    let vectors = || {
        let sql = "SELECT (SELECT count(*) FROM agent_memory.vectors) \
                   - (SELECT count(*) FROM agent_memory.memories)";
        numbers(administrator.database().query(&text(sql), 1))
    };
    let row = with_name(8).into_iter().find(|hit| hit["id"].is_string()).unwrap();
    let deleted = json!({ "agent_id": "ada", "id": row["id"], "permanent": true });
    let before = stems(&postgres);
    forgets.call("delete_memory", &deleted);
    assert!(stems(&postgres).len() < before.len());
    assert_eq!(vectors(), [0]);
    check(&searches, &Host::new(&postgres, false), "after forgetting");
}

#[test]
fn servers_that_search_and_add_at_once_give_the_answers_of_direct_reading() {
    let Some(postgres) = PostgresServer::start() else { return };
    let hosts = [(); 2].map(|()| Host::new(&postgres, true));
    hosts[0].fill();
    thread::scope(|scope| {
        for (at, host) in hosts.iter().enumerate() {
            for client in 0..2 {
                scope.spawn(move || {
                    for call in 0..CALLS {
                        let number = 1_000 * (at + 1) + 100 * client + call;
                        host.add_to_store(number);
                        let content = format!("{} Number {number}.", content(number));
                        let arguments = json!({ "agent_id": "ada", "content": content });
                        host.call("add_core_memory", &arguments);
                        let found = host.search(QUERIES[call % QUERIES.len()]);
                        assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
                    }
                });
            }
        }
    });
    let direct = Host::new(&postgres, false);
    for host in &hosts {
        check(host, &direct, "after all");
    }
    assert!(stems(&postgres).len() > 16);
}

#[test]
fn a_searcher_whose_connection_ends_while_it_indexes_answers_rightly() {
    let Some(postgres) = PostgresServer::start() else { return };
    let [host, other] = [(); 2].map(|()| Host::new(&postgres, true));
    let direct = Host::new(&postgres, false);
    host.fill();
    let administrator = database(&postgres.administrator_url_text());
    // Breaks the connection while the postings of a segment are inserted, after the segment itself.
    let breaks = "CREATE FUNCTION public.breaks() RETURNS trigger LANGUAGE plpgsql AS \
                  $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$; \
                  CREATE TRIGGER breaks AFTER INSERT ON agent_memory.postings \
                  FOR EACH STATEMENT EXECUTE FUNCTION public.breaks()";
    administrator.execute(breaks).unwrap();
    for _ in 0..2 {
        check(&host, &direct, "its connection breaks");
        check(&other, &direct, "its connection breaks");
    }
    assert!(stems(&postgres).is_empty());
    administrator.execute("DROP TRIGGER breaks ON agent_memory.postings").unwrap();
    indexed(&other, &postgres);
    check(&host, &direct, "an index of another server");
}

#[test]
fn a_damaged_index_is_made_anew() {
    let Some(postgres) = PostgresServer::start() else { return };
    let host = Host::new(&postgres, true);
    let direct = Host::new(&postgres, false);
    host.fill();
    let administrator = database(&postgres.administrator_url_text());
    for damage in [
        "UPDATE agent_memory.segments SET documents = '\\x01'",
        "UPDATE agent_memory.segments SET documents = ''",
        "UPDATE agent_memory.segments SET gone = '\\xff7f'",
        "UPDATE agent_memory.segments SET collection = 'other'",
        "UPDATE agent_memory.postings SET parts = '\\x80'",
        "UPDATE agent_memory.postings SET parts = '\\xffff7f'",
        "DELETE FROM agent_memory.segments",
        "DELETE FROM agent_memory.index_version",
        "UPDATE agent_memory.index_version SET version = 99",
        "TRUNCATE agent_memory.segments, agent_memory.postings, agent_memory.index_version",
    ] {
        indexed(&host, &postgres);
        administrator.execute(damage).unwrap();
        check(&host, &direct, damage);
        indexed(&host, &postgres);
        check(&host, &direct, damage);
    }
    // Forgetting a text deletes an index that cannot be read, since it may have the text.
    administrator.execute("UPDATE agent_memory.segments SET documents = '\\x01'").unwrap();
    host.call("forget_memory", &json!({ "text": name(7) }));
    assert!(stems(&postgres).is_empty());
}

#[test]
fn a_host_that_only_looks_leaves_no_index() {
    let Some(postgres) = PostgresServer::start() else { return };
    Host::new(&postgres, true).fill();
    check(&Host::new(&postgres, false), &Host::new(&postgres, false), "no index");
    assert!(stems(&postgres).is_empty());
}
