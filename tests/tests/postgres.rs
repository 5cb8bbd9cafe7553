//! Several servers with one memory on PostgreSQL: servers that are killed, a database that crashes,
//! connections that break at the commit, and what is refused.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use agent_memory_host::database::{DatabaseOptions, Migrated, RowSecurity};
use agent_memory_host::storage::api::Documents as _;
use agent_memory_host::storage::{Area, Change, ErrorCode, Statement, Value};
use agent_memory_storage_postgres::Server;
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::breaking_proxy::{Break, start_passing, start_proxy};
use agent_memory_tests::http_server::{HttpServer, send_to};
use agent_memory_tests::postgres::{self, PostgresServer, url_at};
use agent_memory_tests::product::program;
use serde_json::json;

/// How many servers share the database.
const SERVERS: usize = 3;
/// How many clients each server has.
const CLIENTS: usize = 3;
/// How many memories each client adds.
const ADDS: usize = 24;
/// How often the first server is killed, and the database restarted in between.
const KILLS: usize = 3;
/// The time between two attempts of a client whose server or database is away.
const PAUSE: Duration = Duration::from_millis(20);

#[test]
fn nothing_is_lost_or_doubled_between_servers_that_are_killed_and_a_database_that_crashes() {
    race("json", |server, agent, content| {
        let reader = server.tree("records", "").reader();
        let document = reader.read(Area::Documents, &format!("{agent}.json"), u64::MAX).unwrap();
        let text = String::from_utf8(document.expect("the agent has records").contents).unwrap();
        text.matches(content).count()
    });
}

#[test]
fn no_row_is_lost_or_doubled_either() {
    race("sqlite", |server, agent, content| {
        let sql = "SELECT 1 FROM memories AS m JOIN agents AS a ON a.key = m.agent \
                   WHERE a.name = ?1 AND m.content = ?2";
        let parameters = [agent, content].map(|text| Value::Text(text.to_owned())).to_vec();
        let statement = Statement { sql: sql.to_owned(), parameters };
        server.database().query(&statement, 10).unwrap().rows.len()
    });
}

/// Adds memories in a format of records, while servers are killed. `stored` counts the memories of an
/// agent with a content.
fn race(format: &str, stored: impl Fn(&Server, &str, &str) -> usize) {
    let Some(mut database) = PostgresServer::start() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let url_file = scratch.path().join("url");
    fs::write(&url_file, database.url_text() + "\n").unwrap();
    let start = || {
        let arguments = [
            "--toolset=records".to_owned(),
            format!("--database-url-file={}", url_file.display()),
            format!("--data-dir={}", scratch.path().join("data").display()),
            "--lock-wait=60s".to_owned(),
            format!("--records-format={format}"),
        ];
        HttpServer::start(&arguments, scratch.path())
    };
    let servers: Vec<RwLock<HttpServer>> = (0..SERVERS).map(|_| RwLock::new(start())).collect();
    let acknowledged = Mutex::new(Vec::new());
    let unanswered = Mutex::new(Vec::new());
    let count = AtomicUsize::new(0);
    let total = SERVERS * CLIENTS * ADDS;
    thread::scope(|scope| {
        for client in 0..SERVERS * CLIENTS {
            let servers = &servers;
            let acknowledged = &acknowledged;
            let unanswered = &unanswered;
            let count = &count;
            scope.spawn(move || {
                for number in 0..ADDS {
                    let agent = if number % 2 == 0 { "shared" } else { &format!("own-{client}") };
                    let content = format!("memory <{client}.{number}>");
                    let server = &servers[client % SERVERS];
                    let done = if add(server, agent, &content) { acknowledged } else { unanswered };
                    done.lock().unwrap().push((agent.to_owned(), content));
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for kill in 1..=KILLS {
            wait_until(|| count.load(Ordering::SeqCst) >= total * kill / (KILLS + 1));
            // Requests in flight end with a broken connection.
            let old = std::mem::replace(&mut *servers[0].write().unwrap(), start());
            drop(old);
            if kill == 2 {
                database.restart();
            }
        }
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    let unanswered = unanswered.into_inner().unwrap();
    println!("{} acknowledged, {} without an answer", acknowledged.len(), unanswered.len());
    assert_eq!(acknowledged.len() + unanswered.len(), total);
    assert!(acknowledged.len() > total / 2);
    let server = server_of(&database);
    for (agent, content) in &acknowledged {
        assert_eq!(stored(&server, agent, content), 1, "{agent}: {content}");
    }
    for (agent, content) in &unanswered {
        assert!(stored(&server, agent, content) <= 1, "{agent}: {content}");
    }
}

/// Adds a memory. Whether it was acknowledged: otherwise the server ended before it answered. An error
/// that names a retry changed nothing, so the same memory is added again.
fn add(server: &RwLock<HttpServer>, agent: &str, content: &str) -> bool {
    let until = Instant::now() + TIMEOUT;
    loop {
        assert!(Instant::now() < until, "{content} is never stored");
        let reply = {
            let arguments = json!({"agent_id": agent, "content": content});
            let parameters = json!({"name": "add_core_memory", "arguments": arguments});
            let running = server.read().unwrap();
            let address = running.address.clone();
            let bytes = running.stateless_bytes("tools/call", parameters);
            // The server may be killed meanwhile.
            drop(running);
            send_to(&address, &bytes)
        };
        if reply.json().is_null() {
            return false;
        }
        let result = &reply.json()["result"];
        if result["isError"] != true {
            assert_eq!(result["structuredContent"]["created"], true, "{}", reply.body);
            return true;
        }
        assert!(reply.body.contains("try again"), "{}", reply.body);
        thread::sleep(PAUSE);
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < until, "it takes too long");
        thread::sleep(Duration::from_millis(1));
    }
}

fn server_of(database: &PostgresServer) -> Server {
    postgres::database(&database.url_text())
}

#[test]
fn the_outcome_of_a_commit_whose_connection_broke_is_found_out() {
    let Some(database) = PostgresServer::start() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (path, broken) in [("before", Break::Before), ("after", Break::After)] {
        let directory = tempfile::tempdir().unwrap();
        start_proxy(directory.path(), database.socket_directory(), broken);
        let server = postgres::database(&url_at(directory.path()));
        let tree = server.tree("records", "");
        let put = || Change::Put {
            area: Area::Documents,
            path: path.into(),
            contents: b"text".to_vec(),
            expects: None,
        };
        let lock = runtime.block_on(tree.lock(Some("ada".into()), TIMEOUT)).unwrap();
        let committed = lock.commit(vec![put()]);
        let is_there = tree.reader().stat(Area::Documents, path).unwrap().is_some();
        if broken == Break::After {
            assert!(committed.is_ok() && is_there, "{committed:?}");
            continue;
        }
        let error = committed.unwrap_err().error;
        assert_eq!(error.code, ErrorCode::Busy);
        assert!(error.message.contains("nothing was changed: try again"), "{error}");
        assert!(!is_there);
        // The same writer takes its lock anew.
        lock.commit(vec![put()]).unwrap();
    }
}

#[test]
fn a_read_and_the_tenant_that_it_sets_take_one_round_trip() {
    let Some(database) = PostgresServer::start() else { return };
    let directory = tempfile::tempdir().unwrap();
    start_passing(directory.path(), database.socket_directory(), |mut client, mut server| {
        let mut held = Vec::new();
        let mut bytes = [0; 1 << 16];
        while let Ok(read @ 1..) = client.read(&mut bytes) {
            held.extend_from_slice(&bytes[..read]);
            let has = |wanted: &[u8]| held.windows(wanted.len()).any(|window| window == wanted);
            // The server gets nothing of a transaction before its end.
            if has(b"BEGIN") && !has(b"COMMIT\0") {
                continue;
            }
            if server.write_all(&held).is_err() {
                break;
            }
            held.clear();
        }
    });
    let server = postgres::database(&url_at(directory.path()));
    let reader = server.tree("records", "").reader();
    assert!(reader.stat(Area::Documents, "ada.json").unwrap().is_none());
    assert!(server.places("stores").unwrap().is_empty());
}

#[test]
fn programs_that_migrate_at_once_make_the_tables_once() {
    let Some(database) = PostgresServer::start() else { return };
    psql_like(&database, "DROP SCHEMA agent_memory CASCADE");
    let made = thread::scope(|scope| {
        let programs: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| DatabaseOptions::new(database.url()).migrate().unwrap()))
            .collect();
        let made = programs.into_iter().map(|program| program.join().unwrap());
        made.filter(|made| *made == Migrated::Created).count()
    });
    assert_eq!(made, 1);
    DatabaseOptions::new(database.url()).check().unwrap();
}

/// The tables of the first version, as it made them.
const VERSION_1: &str = include_str!("postgres/version-1.sql");

#[test]
fn a_migration_keeps_the_documents_of_an_earlier_version() {
    let Some(database) = PostgresServer::start() else { return };
    psql_like(&database, "DROP SCHEMA agent_memory CASCADE");
    psql_like(&database, VERSION_1);
    psql_like(
        &database,
        "INSERT INTO agent_memory.version (version, database) VALUES (1, 'name'); \
         INSERT INTO agent_memory.places (tenant, place) VALUES (0, 'stores/team'); \
         INSERT INTO agent_memory.documents (tenant, place, area, path, version, bytes) \
         VALUES (0, 'stores/team', 0, 'plan.md', 'v', 'text'), \
         (7, 'stores/team', 0, 'other.md', 'v', 'text')",
    );
    let options = DatabaseOptions::new(database.url());
    let message = options.check().unwrap_err().message;
    assert!(message.contains("run `agent-memory database migrate`"), "{message}");
    let made = thread::scope(|scope| {
        let programs = [(); 4].map(|()| scope.spawn(|| options.migrate().unwrap()));
        programs.map(|program| program.join().unwrap())
    });
    assert_eq!(made.iter().filter(|made| **made == Migrated::Updated).count(), 1, "{made:?}");
    options.check().unwrap();
    assert_eq!(options.migrate().unwrap(), Migrated::UpToDate);
    assert_eq!(options.row_security().unwrap(), RowSecurity::InForce);
    options.create_tenant("acme").unwrap();
    let server = server_of(&database);
    assert_eq!(server.check().unwrap().database, "name");
    assert_eq!(server.places("stores").unwrap(), ["team"]);
    for (tenant, path) in [(0, "plan.md"), (7, "other.md")] {
        let reader = server.of_tenant(tenant).tree("stores", "team").reader();
        let listed = reader.list(Area::Documents, "").unwrap().unwrap();
        assert_eq!(listed.iter().map(|entry| &*entry.name).collect::<Vec<_>>(), [path]);
        let read = reader.read(Area::Documents, path, 10).unwrap().unwrap();
        assert_eq!((&*read.version, &*read.contents), ("v", &b"text"[..]));
    }
}

/// The tables of the second version, as it made them.
const VERSION_2: &str = include_str!("postgres/version-2.sql");

#[test]
fn a_migration_keeps_the_rows_of_the_second_version_and_adds_the_tables_of_indexes() {
    let Some(database) = PostgresServer::start() else { return };
    psql_like(&database, "DROP SCHEMA agent_memory, agent_memory_rows CASCADE");
    psql_like(&database, VERSION_2);
    psql_like(
        &database,
        "BEGIN; SET LOCAL agent_memory.tenant = '7'; \
         INSERT INTO agent_memory.version (version, database) VALUES (2, 'name'); \
         INSERT INTO agent_memory.documents (tenant, place, area, path, version, bytes) \
         VALUES (7, 'files', 0, 'plan.md', 'v', 'text'); \
         INSERT INTO agent_memory.agents (name) VALUES ('ada'); COMMIT",
    );
    let options = DatabaseOptions::new(database.url());
    let message = options.check().unwrap_err().message;
    assert!(message.contains("run `agent-memory database migrate`"), "{message}");
    assert_eq!(options.migrate().unwrap(), Migrated::Updated);
    assert_eq!(options.migrate().unwrap(), Migrated::UpToDate);
    options.check().unwrap();
    assert_eq!(options.row_security().unwrap(), RowSecurity::InForce);
    let server = server_of(&database).of_tenant(7);
    let rows = |database: &agent_memory_storage_postgres::Database, sql: &str| {
        let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
        database.query(&statement, 10).unwrap().rows
    };
    let ada = [[Value::Text("ada".to_owned())]];
    assert_eq!(rows(&server.database(), "SELECT name FROM agents"), ada);
    let reader = server.tree("files", "").reader();
    assert!(reader.read(Area::Documents, "plan.md", 10).unwrap().is_some());
    let index = server.derived_database("files", "", "search.db");
    for table in ["segments", "postings", "index_version", "vectors", "vector_version"] {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(rows(&index, &count), [[Value::Integer(0)]], "{table}");
    }
}

/// Runs a statement as an administrator would.
fn psql_like(database: &PostgresServer, sql: &str) {
    server_of(database).execute(sql).unwrap();
}

#[test]
fn no_message_has_the_user_or_the_password_of_the_database() {
    let scratch = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], url: &str| -> Output {
        let mut command = Command::new(program("agent-memory"));
        command.args(arguments).env_clear().env("HOME", scratch.path());
        command.env("AGENT_MEMORY_DATABASE_URL", url).env("AGENT_MEMORY_LOG_LEVEL", "DEBUG");
        command.current_dir(scratch.path()).output().unwrap()
    };
    for url in [
        "postgresql://adauser:s3cret@127.0.0.1:1/memory",
        "postgresql://adauser:s3cret@127.0.0.1:port/memory",
        "postgresql://adauser:s3cret@127.0.0.1/memory?sslmode=s3cret",
        "postgresql://adauser:s3cret@host.invalid/memory",
        "adauser:s3cret",
    ] {
        for arguments in
            [&["database", "check"][..], &["database", "migrate"], &["serve"], &["doctor"]]
        {
            let output = run(arguments, url);
            let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            let text = text.concat();
            assert!(!text.contains("s3cret") && !text.contains("adauser"), "{arguments:?}: {text}");
            assert!(arguments == ["doctor"] || !output.status.success(), "{arguments:?}: {text}");
            let has_no_address = url.contains("host.invalid") && arguments[0] == "database";
            assert!(!has_no_address || text.contains("has no address"), "{arguments:?}: {text}");
        }
    }
}

#[test]
fn a_database_without_tables_says_what_to_do() {
    let Some(database) = PostgresServer::start() else { return };
    psql_like(&database, "DROP SCHEMA agent_memory CASCADE");
    let check = || DatabaseOptions::new(database.url()).check().unwrap_err().message;
    assert!(check().contains("run `agent-memory database migrate`"));
    DatabaseOptions::new(database.url()).migrate().unwrap();
    psql_like(&database, "UPDATE agent_memory.version SET version = 99");
    assert!(check().contains("update this program"));
}

#[test]
fn a_user_who_may_not_make_the_tables_learns_who_may() {
    let Some(database) = PostgresServer::start() else { return };
    psql_like(&database, "DROP SCHEMA agent_memory CASCADE");
    psql_like(&database, "DROP SCHEMA agent_memory_rows CASCADE");
    let administrator = agent_memory_tests::postgres::database(&database.administrator_url_text());
    administrator.execute("ALTER DATABASE memory OWNER TO CURRENT_USER").unwrap();
    let refused = DatabaseOptions::new(database.url()).migrate().unwrap_err();
    assert_eq!(refused.code, ErrorCode::Permission);
    assert!(refused.message.contains("the right CREATE on the database"), "{}", refused.message);
    administrator.execute("GRANT CREATE ON DATABASE memory TO memory").unwrap();
    DatabaseOptions::new(database.url()).migrate().unwrap();
}
