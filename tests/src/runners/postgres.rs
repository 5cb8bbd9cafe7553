//! The embedding library with its places on PostgreSQL. Each case has a tenant of its own. One case in
//! ten goes through a pooler in transaction mode; with `AGENT_MEMORY_POOLER=1`, all cases do.

use std::env;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use agent_memory_conformance::case::{Case, Documents, Places, Request};
use agent_memory_conformance::expectations::Expectations;
use agent_memory_conformance::report::Report;
use agent_memory_conformance::runner::{Answer, Session};
use agent_memory_host::database::{DatabaseOptions, DatabaseUrl};
use agent_memory_host::storage::api::Documents as _;
use agent_memory_host::storage::{Area, Change, EntryKind, Error, Statement, Value as SqlValue};
use agent_memory_storage_memory::sql;
use agent_memory_storage_postgres::{Options, Reader, Server};
use serde_json::{Value, json};

use crate::TIMEOUT;
use crate::postgres::{Pooler, PostgresServer, url_at};
use crate::runners::component::ComponentSession;
use crate::scratch::Scratch;

/// The name of the runner in the report, and of its expectations.
pub const RUNNER: &str = "postgres";

/// The most rows of a query.
const MAX_ROWS: u32 = 100_000;

/// The tables of spec 002, which a case gives in SQLite.
const LAYERS: [&str; 5] =
    ["core_memories", "recent_memories", "current_task", "episodic_memories", "memory_compost"];

/// The beginning of the locations of stores.
const STORES: &str = "postgresql:stores";

/// The variable that asks for a pooler in every case.
const POOLER: &str = "AGENT_MEMORY_POOLER";

/// The connections of the pooler: more than the cases that run at once need.
const POOLED: usize = 40;

/// The URLs of the server of this run and of its pooler.
static URLS: Mutex<Option<(DatabaseUrl, DatabaseUrl)>> = Mutex::new(None);

/// The id of the tenant that was made last.
static TENANT: AtomicI64 = AtomicI64::new(0);

/// Starts a server and runs the cases on it. `None` without PostgreSQL.
#[track_caller]
pub fn report(cases: &[Case]) -> Option<Report> {
    let server = PostgresServer::start()?;
    let pooler = Pooler::start(&server, POOLED);
    let pooled = pooler.as_ref().map(|pooler| url_at(pooler.socket_directory()));
    let pooled = pooled.map_or_else(|| server.url(), |url| url.parse().expect("a URL"));
    *URLS.lock().expect("no panic") = Some((server.url(), pooled));
    Some(super::report(RUNNER, PostgresSession::start, &Expectations::load(RUNNER), cases))
}

/// Whether a case goes through the pooler. Without the variable, a sum over its name chooses one case
/// in ten, the same ones in each run.
fn is_pooled(case: &Case) -> bool {
    env::var(POOLER).is_ok_and(|asked| !matches!(asked.as_str(), "" | "0"))
        || case.name.bytes().map(usize::from).sum::<usize>() % 10 == 0
}

/// A case with its places on the server.
struct PostgresSession {
    session: Box<ComponentSession>,
    server: Server,
    /// The label of the place with the documents of the case. None for a repository.
    label: Option<&'static str>,
}

impl PostgresSession {
    fn start(case: &Case) -> Result<Box<dyn Session>, String> {
        let urls = URLS.lock().expect("no panic").clone().ok_or("there is no server")?;
        let url = if is_pooled(case) { urls.1 } else { urls.0 };
        let tenant = TENANT.fetch_add(1, Ordering::Relaxed) + 1;
        let options = DatabaseOptions::new(url.clone()).with_connections(2).with_tenant(tenant);
        let server = Server::new(Options {
            url,
            connections: 2,
            tenant,
            statement_time: Duration::from_secs(30),
        });
        let server = server.map_err(|error| error.message)?;
        let label = match case.toolset() {
            "records" => Some("records"),
            "files" => Some("files"),
            "stores" => Some("stores"),
            _ => None,
        };
        let scratch = Scratch::from_case(case);
        empty_tables(&server)?;
        if case.toolset() == "layers" {
            move_rows_to_server(&scratch, &server)?;
        }
        if let Some(label) = label {
            move_to_server(case, label, &scratch, &server)?;
        }
        let session = Box::new(ComponentSession::open(case, scratch, Some(options))?);
        Ok(Box::new(Self { session, server, label }))
    }
}

impl Session for PostgresSession {
    fn request(&mut self, request: &Request) -> Result<Answer, String> {
        self.session.request(request)
    }

    fn follow_ups(&self) -> Option<&[Value]> {
        self.session.follow_ups()
    }

    fn places(&self) -> Places {
        Places { stores: STORES.into(), ..self.session.places() }
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        rows(&self.server, sql)
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        let on_disk = self.session.finish()?;
        let Some(label) = self.label else { return Ok(on_disk) };
        if !on_disk.is_empty() {
            return Err(format!("these are in files: {:?}", on_disk.keys()));
        }
        let mut documents = Documents::new();
        if label == "stores" {
            for name in self.server.places(label).map_err(failed)? {
                let reader = self.server.tree(label, &name).reader();
                collect(&reader, "", &format!("{name}/"), &mut documents).map_err(failed)?;
            }
        } else {
            let reader = self.server.tree(label, "").reader();
            collect(&reader, "", "", &mut documents).map_err(failed)?;
        }
        Ok(documents)
    }
}

fn failed(error: Error) -> String {
    error.message
}

/// Deletes the rows of earlier cases from the tables of toolsets, so that the ids of a case begin with
/// 1.
fn empty_tables(server: &Server) -> Result<(), String> {
    let of_toolsets = "SELECT c.relname::text FROM pg_class AS c \
        JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant' \
        WHERE c.relkind = 'r' AND a.atttypid = 'agent_memory.tenant'::regtype";
    let tables: Vec<String> = rows(server, of_toolsets)?
        .iter()
        .filter_map(|row| Some(format!("agent_memory.{}", row.first()?.as_str()?)))
        .collect();
    server.execute(&format!("TRUNCATE {} RESTART IDENTITY", tables.join(", "))).map_err(failed)
}

/// The rows of a query of the server, as JSON.
fn rows(server: &Server, sql: &str) -> Result<Vec<Vec<Value>>, String> {
    let statement = Statement { sql: sql.to_owned(), parameters: Vec::new() };
    let answer = server.database().query(&statement, MAX_ROWS);
    let answer = answer.map_err(|error| format!("{}: {sql}", error.message))?;
    let value = |value| match value {
        SqlValue::Null => Ok(Value::Null),
        SqlValue::Integer(value) => Ok(value.into()),
        SqlValue::Real(value) => Ok(value.into()),
        SqlValue::Text(value) => Ok(value.into()),
        SqlValue::Blob(_) => Err(format!("a blob is no JSON: {sql}")),
    };
    let row = |row: Vec<SqlValue>| row.into_iter().map(value).collect();
    answer.rows.into_iter().map(row).collect()
}

/// Runs a statement as the tenant of the server.
fn execute(server: &Server, sql: &str) -> Result<(), String> {
    let tenant = server.tenant();
    let sql = format!("BEGIN; SET LOCAL agent_memory.tenant = '{tenant}'; {sql}; COMMIT");
    server.execute(&sql).map_err(failed)
}

/// Moves the rows of layers that a case gives from a SQLite file to the server. They keep their ids.
fn move_rows_to_server(scratch: &Scratch, server: &Server) -> Result<(), String> {
    let file = scratch.layers_file();
    if !file.exists() {
        return Ok(());
    }
    let here = |sql: &str| sql::rows_of_file(&file, sql);
    for table in LAYERS {
        let columns = here(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
        let columns: Vec<&str> = columns.iter().filter_map(|row| row[0].as_str()).collect();
        if columns.is_empty() {
            continue;
        }
        let named = columns.iter().map(|name| format!("'{name}', \"{name}\""));
        let object = format!("json_object({})", named.collect::<Vec<_>>().join(", "));
        let given = here(&format!("SELECT {object} FROM {table} ORDER BY id"))?;
        let given: Result<Vec<Value>, _> = given
            .iter()
            .map(|row| serde_json::from_str(row[0].as_str().unwrap_or_default()))
            .collect();
        let given = json!(given.map_err(|error| error.to_string())?).to_string();
        let columns = columns.join(", ");
        let insert = format!(
            "INSERT INTO agent_memory.{table} (tenant, {columns}) OVERRIDING SYSTEM VALUE \
             SELECT {}, {columns} FROM json_populate_recordset(NULL::agent_memory.{table}, \
             convert_from('\\x{}', 'UTF8')::json)",
            server.tenant(),
            given.bytes().map(|byte| format!("{byte:02x}")).collect::<String>()
        );
        execute(server, &insert)?;
        let last = here(&format!("SELECT seq FROM sqlite_sequence WHERE name = '{table}'"))?;
        if let Some(last) = last.first().and_then(|row| row[0].as_i64()) {
            let next = last + 1;
            let restart =
                format!("ALTER TABLE agent_memory.{table} ALTER COLUMN id RESTART WITH {next}");
            execute(server, &restart)?;
        }
        let agents = format!(
            "INSERT INTO agent_memory.layers_agents (tenant, agent_id) \
             SELECT DISTINCT tenant, agent_id FROM agent_memory.{table} ON CONFLICT DO NOTHING"
        );
        execute(server, &agents)?;
    }
    let directory = file.parent().expect("it is in a directory");
    fs::remove_dir_all(directory).map_err(|error| error.to_string())
}

/// Moves the documents that a case gives from the scratch directory to the server.
fn move_to_server(
    case: &Case,
    label: &str,
    scratch: &Scratch,
    server: &Server,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let put = |name: &str, path: &str, contents: Vec<u8>| {
        let area = Area::Documents;
        let change = Change::Put { area, path: path.to_owned(), contents, expects: None };
        let lock = runtime.block_on(server.tree(label, name).lock(None, TIMEOUT));
        lock.map_err(failed)?.commit(vec![change]).map_err(|error| error.error.message)
    };
    if label == "stores" {
        for name in case.given_stores() {
            server.create_place(label, name).map_err(failed)?;
        }
    }
    for (path, contents) in scratch.documents() {
        match path.split_once('/').filter(|_| label == "stores") {
            Some((name, path)) => put(name, path, contents)?,
            None => put("", &path, contents)?,
        };
    }
    for directory in [scratch.memory_dir(), scratch.data_dir()] {
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Adds the documents below a directory of a place to `documents`, with `prefix` before each path.
///
/// # Errors
///
/// The errors of the database.
pub fn collect(
    reader: &Reader,
    directory: &str,
    prefix: &str,
    documents: &mut Documents,
) -> Result<(), Error> {
    for entry in reader.list(Area::Documents, directory)?.unwrap_or_default() {
        let path = match directory {
            "" => entry.name,
            _ => format!("{directory}/{}", entry.name),
        };
        if entry.status.kind == EntryKind::Directory {
            collect(reader, &path, prefix, documents)?;
        } else if let Some(document) = reader.read(Area::Documents, &path, u64::MAX)? {
            documents.insert(format!("{prefix}{path}"), document.contents);
        }
    }
    Ok(())
}
