//! The embedding library with its places on PostgreSQL. Each case has a tenant of its own.

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
use agent_memory_host::storage::{Area, Change, EntryKind};
use agent_memory_storage_postgres::{Options, Reader, Server};
use serde_json::Value;

use crate::TIMEOUT;
use crate::postgres::PostgresServer;
use crate::runners::component::ComponentSession;
use crate::scratch::Scratch;

/// The name in the report, and of its expectations.
pub const RUNNER: &str = "postgres";

/// The beginning of the locations of stores.
const STORES: &str = "postgresql:stores";

/// The URL of the server of this run.
static URL: Mutex<Option<DatabaseUrl>> = Mutex::new(None);

/// The last tenant.
static TENANT: AtomicI64 = AtomicI64::new(0);

/// Runs the cases on a server that this starts. `None` without PostgreSQL.
#[track_caller]
pub fn report(cases: &[Case]) -> Option<Report> {
    let server = PostgresServer::start()?;
    *URL.lock().expect("no panic") = Some(server.url());
    Some(super::report(RUNNER, PostgresSession::start, &Expectations::load(RUNNER), cases))
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
        let url = URL.lock().expect("no panic").clone().ok_or("there is no server")?;
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
        self.session.query(sql)
    }

    fn finish(self: Box<Self>) -> Result<Documents, String> {
        let on_disk = self.session.finish()?;
        let Some(label) = self.label else { return Ok(on_disk) };
        if !on_disk.is_empty() {
            return Err(format!("these are in files: {:?}", on_disk.keys()));
        }
        let mut documents = Documents::new();
        let failed = |error: agent_memory_host::storage::Error| error.message;
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

/// Moves the documents that a case gives from the scratch directory to the server.
fn move_to_server(
    case: &Case,
    label: &str,
    scratch: &Scratch,
    server: &Server,
) -> Result<(), String> {
    let failed = |error: agent_memory_host::storage::Error| error.message;
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

/// Adds the documents of a place, from a directory on, by their paths after a prefix.
///
/// # Errors
///
/// Those of the database.
pub fn collect(
    reader: &Reader,
    directory: &str,
    prefix: &str,
    documents: &mut Documents,
) -> Result<(), agent_memory_host::storage::Error> {
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
