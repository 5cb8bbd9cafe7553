//! A database that several servers share: connections that break at the commit, migrations, messages of
//! errors, and missing rights.

use std::io::{Read as _, Write as _};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use agent_memory_host::database::{DatabaseOptions, Migrated, RowSecurity};
use agent_memory_host::storage::api::Documents as _;
use agent_memory_host::storage::{Area, Change, ErrorCode, Statement, Value};
use agent_memory_storage_postgres::{Options, Server, ToolsetTables, VERSION};
use agent_memory_tests::TIMEOUT;
use agent_memory_tests::breaking_proxy::{Break, start_passing, start_proxy};
use agent_memory_tests::http_server::HttpServer;
use agent_memory_tests::postgres::{self, PostgresServer, once_it_answers, url_at};
use agent_memory_tests::product::program;
use serde_json::json;

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
        // After the failed commit, the same writer takes its lock again.
        lock.commit(vec![put()]).unwrap();
    }
}

#[test]
fn a_read_and_the_tenant_that_it_sets_take_one_round_trip() {
    let Some(database) = PostgresServer::start() else { return };
    let directory = tempfile::tempdir().unwrap();
    start_passing(directory.path(), database.socket_directory(), |mut client, mut server, _| {
        let mut held = Vec::new();
        let mut bytes = [0; 1 << 16];
        while let Ok(read @ 1..) = client.read(&mut bytes) {
            held.extend_from_slice(&bytes[..read]);
            let has = |wanted: &[u8]| held.windows(wanted.len()).any(|window| window == wanted);
            // Holds back a transaction until its COMMIT. A client that waits for an answer before would
            // hang.
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
    server.check().unwrap();
    assert_eq!(server.places("stores").unwrap(), ["team"]);
    for (tenant, path) in [(0, "plan.md"), (7, "other.md")] {
        let reader = server.for_tenant(tenant).tree("stores", "team").reader();
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
    let server = server_of(&database).for_tenant(7);
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
fn no_message_repeats_a_url_that_was_given_in_the_wrong_place() {
    let scratch = tempfile::tempdir().unwrap();
    let url = "postgresql://adauser:s3cret@127.0.0.1:1/memory?application_name=s3cret";
    let option = |name: &str| format!("--{name}={url}");
    for (command, argument) in [
        ("doctor", option("data-dir")),
        ("serve", option("memory-dir")),
        ("serve", option("allow")),
        ("database check", option("database-pool")),
        ("database check", option("database-url-file")),
        ("database check", url.to_owned()),
        ("move", url.to_owned()),
        ("call get_memory_summary", option("layers-db")),
        ("store add", url.to_owned()),
    ] {
        let mut program = Command::new(program("agent-memory"));
        program.args(command.split(' ')).arg(&argument);
        program.env_clear().env("HOME", scratch.path()).current_dir(scratch.path());
        let output = program.output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let text = text.concat();
        assert!(!text.contains("s3cret") && !text.contains("adauser"), "{command}: {text}");
        assert!(!output.status.success() && !text.is_empty(), "{command}: {text}");
        let is_path = ["-dir=", "-db="].iter().any(|end| argument.contains(end));
        assert!(!is_path || text.contains("`--database-url` and"), "{command}: {text}");
    }
}

#[test]
fn no_message_of_the_database_passes_on_a_parameter_of_the_url() {
    let Some(database) = PostgresServer::start() else { return };
    for parameter in ["options=-c%20work_mem%3DS3cret", "options=-c%20S3cret%3D1"] {
        let url = format!("{}?{parameter}", database.url_text()).parse().unwrap();
        let message = DatabaseOptions::new(url).check().unwrap_err().message;
        assert!(message.contains("correct the parameters of its URL"), "{message}");
        assert!(!message.contains("S3cret"), "{message}");
    }
}

#[test]
fn a_migration_does_not_wait_for_another_one_without_limit() {
    let Some(database) = PostgresServer::start() else { return };
    let other = server_of(&database);
    other.execute("SELECT pg_advisory_lock(7018690069350149477)").unwrap();
    let url = database.url();
    let statement_time = Duration::from_secs(1);
    let server = Server::new(Options { url, connections: 2, tenant: 0, statement_time }).unwrap();
    let tables = ToolsetTables { kept: Vec::new(), derived: Vec::new() };
    let error = server.migrate(&tables).unwrap_err();
    assert_eq!(error.code, ErrorCode::Busy);
    assert!(error.message.contains("another migration has not ended for 1 s"), "{error}");
    drop(other);
    once_it_answers(|| server.migrate(&tables));
}

#[test]
fn a_user_who_may_not_change_rows_is_told_which_right_is_missing() {
    let Some(database) = PostgresServer::start() else { return };
    psql_like(
        &database,
        "GRANT USAGE ON SCHEMA agent_memory, agent_memory_rows TO PUBLIC; \
         GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA agent_memory, agent_memory_rows TO PUBLIC",
    );
    let administrator = postgres::database(&database.administrator_url_text());
    administrator.execute("CREATE ROLE other LOGIN").unwrap();
    let url = database.url_text().replace("memory@", "other@");
    let check = || DatabaseOptions::new(url.parse().unwrap()).check();
    let error = check().unwrap_err();
    assert_eq!(error.code, ErrorCode::Permission);
    assert!(error.message.contains("lacks the right DELETE on agent_memory."), "{error}");
    psql_like(
        &database,
        "GRANT UPDATE, DELETE ON ALL TABLES IN SCHEMA agent_memory, agent_memory_rows TO PUBLIC",
    );
    check().unwrap();
}

#[test]
fn a_database_that_has_lost_its_version_says_how_to_restore_it() {
    let Some(database) = PostgresServer::start() else { return };
    psql_like(&database, "DELETE FROM agent_memory.version");
    let options = DatabaseOptions::new(database.url());
    for error in [options.check().unwrap_err(), options.migrate().unwrap_err()] {
        assert!(error.message.contains("`agent_memory.version` has lost its row"), "{error}");
        let (_, rest) = error.message.split_once("by `").unwrap();
        let (statement, _) = rest.split_once('`').unwrap();
        assert!(statement.starts_with("INSERT INTO agent_memory.version"), "{error}");
    }
    psql_like(&database, &format!("INSERT INTO agent_memory.version (version) VALUES ({VERSION})"));
    options.check().unwrap();
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
fn a_path_that_is_too_long_for_the_index_of_a_database_is_refused_as_a_path() {
    let Some(database) = PostgresServer::start() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let path = format!("/memories{}", format!("/{}", "x".repeat(200)).repeat(13));
    let mut create = Command::new(program("agent-memory"));
    create.args(["call", "create_memory_file", "--toolset=files"]);
    create.arg(json!({"path": path, "file_text": "text"}).to_string());
    create.env("HOME", scratch.path()).current_dir(scratch.path());
    let output = create.env("AGENT_MEMORY_DATABASE_URL", database.url_text()).output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    assert!(answer.contains("INVALID_PATH") && answer.contains("shorten it"), "{answer}");
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

#[test]
fn calls_that_read_a_document_in_a_transaction_do_not_wait_for_each_other() {
    let Some(database) = PostgresServer::start() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let arguments = [
        "--toolset=records".to_owned(),
        format!("--database-url={}", database.url_text()),
        format!("--data-dir={}", scratch.path().join("data").display()),
        "--database-pool=2".to_owned(),
    ];
    let server = HttpServer::start(&arguments, scratch.path());
    // An agent without rows is looked for among the documents, while the rows are read.
    thread::scope(|scope| {
        for client in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..10 {
                    let agent = format!("agent-{client}-{number}");
                    let found = server.call("query_memories", json!({ "agent_id": agent }));
                    assert_eq!(found["memories"], json!([]), "{found}");
                }
            });
        }
    });
}
