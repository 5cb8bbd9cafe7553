//! A minimal host with storage in memory runs the product's component. It shows that `wit/storage` is
//! all that a host has to implement.

use agent_memory_conformance::in_memory::InMemoryStorage;
use agent_memory_core::storage::{self, Storage, database as sql};
use agent_memory_host::Image;
use bindings::exports::agent_memory::toolbox::toolbox;
use serde_json::{Value, json};
use wasmtime::component::{Component, HasSelf, Linker, Resource};
use wasmtime::{Engine, Result, Store};

mod bindings {
    #![allow(missing_docs, reason = "generated from `wit/`, which documents each item")]
    wasmtime::component::bindgen!({
        path: ["../wit/storage", "../wit/toolbox"],
        world: "agent-memory:toolbox/memory",
        imports: { default: trappable },
    });
}

use bindings::Memory;
use bindings::agent_memory::storage::{database, documents, types};

/// The resources that a call has opened. They are freed with the process.
struct Host {
    storage: &'static InMemoryStorage,
    trees: Vec<&'static dyn storage::Tree>,
    writers: Vec<Option<Box<dyn storage::Writer>>>,
    connections: Vec<&'static dyn sql::Connection>,
    transactions: Vec<Option<Box<dyn sql::Transaction>>>,
}

type Answer<T, E = types::Error> = Result<std::result::Result<T, E>>;

/// Stores a value, and returns a handle of it for the component.
fn lend<T, R: 'static>(all: &mut Vec<T>, one: T) -> Resource<R> {
    all.push(one);
    Resource::new_own(all.len() as u32 - 1)
}

fn at<T: 'static>(handle: &Resource<T>) -> usize {
    handle.rep() as usize
}

fn place(place: types::Place) -> storage::Place {
    match place {
        types::Place::Repository(path) => storage::Place::Repository(path),
        types::Place::Named(types::NamedPlace { label, name }) => {
            storage::Place::Named { label, name }
        }
    }
}

fn area(area: documents::Area) -> storage::Area {
    match area {
        documents::Area::Documents => storage::Area::Documents,
        documents::Area::Bookkeeping => storage::Area::Bookkeeping,
    }
}

/// The codes have the same names.
fn error(error: storage::Error) -> types::Error {
    use storage::ErrorCode as From;
    use types::ErrorCode as To;
    let code = match error.code {
        From::NotFound => To::NotFound,
        From::AlreadyExists => To::AlreadyExists,
        From::VersionMismatch => To::VersionMismatch,
        From::NotGranted => To::NotGranted,
        From::TooLarge => To::TooLarge,
        From::InvalidPath => To::InvalidPath,
        From::Busy => To::Busy,
        From::Nested => To::Nested,
        From::ReadOnly => To::ReadOnly,
        other => unreachable!("storage in memory does not fail with {other:?}"),
    };
    types::Error { code, message: error.message, detail: error.detail }
}

fn status(status: storage::Status) -> documents::Status {
    let kind = match status.kind {
        storage::EntryKind::File => documents::EntryKind::File,
        storage::EntryKind::Directory => documents::EntryKind::Directory,
        storage::EntryKind::Other => documents::EntryKind::Other,
    };
    documents::Status { kind, size: status.size, stamp: status.stamp }
}

fn change(change: documents::Change) -> storage::Change {
    let splice = |splice: documents::Splice| storage::Splice {
        range: splice.at as usize..(splice.at + splice.removes) as usize,
        inserts: splice.inserts,
    };
    match change {
        documents::Change::Put(put) => storage::Change::Put {
            area: area(put.area),
            path: put.path,
            contents: put.contents,
            expects: put.expects,
        },
        documents::Change::Edit(edit) => storage::Change::Edit {
            area: area(edit.area),
            path: edit.path,
            splices: edit.splices.into_iter().map(splice).collect(),
            expects: edit.expects,
        },
        documents::Change::Delete(delete) => storage::Change::Delete {
            area: area(delete.area),
            path: delete.path,
            expects: delete.expects,
        },
        documents::Change::Copy(copy) => storage::Change::Copy {
            area: area(copy.area),
            from: copy.from,
            to: copy.to,
            expects: copy.expects,
        },
        documents::Change::Rename(rename) => storage::Change::Rename {
            area: area(rename.area),
            from: rename.from,
            to: rename.to,
            expects: rename.expects,
        },
    }
}

impl types::Host for Host {}

impl documents::Host for Host {
    fn open(&mut self, of: types::Place) -> Answer<Resource<documents::Tree>> {
        let opened = self.storage.open(&place(of)).map_err(error);
        Ok(opened.map(|tree| lend(&mut self.trees, Box::leak(tree))))
    }

    fn list_places(&mut self, kind: types::PlaceKind) -> Answer<Vec<String>> {
        let listed = match kind {
            types::PlaceKind::Repository => self.storage.list_repositories(),
            types::PlaceKind::Named(label) => self.storage.list_places(&label),
        };
        Ok(listed.map_err(error))
    }

    fn create_place(&mut self, _: types::Place) -> Answer<Resource<documents::Tree>> {
        unreachable!("the component does not ask")
    }

    fn version_of(&mut self, contents: Vec<u8>) -> Result<String> {
        Ok(storage::version_of(&contents))
    }
}

impl documents::HostTree for Host {
    fn stat(
        &mut self,
        tree: Resource<documents::Tree>,
        of: documents::Area,
        path: String,
    ) -> Answer<Option<documents::Status>> {
        let found = self.trees[at(&tree)].stat(area(of), &path).map_err(error);
        Ok(found.map(|found| found.map(status)))
    }

    fn read(
        &mut self,
        tree: Resource<documents::Tree>,
        of: documents::Area,
        path: String,
        max_bytes: u64,
    ) -> Answer<Option<documents::Document>> {
        let read = self.trees[at(&tree)].read(area(of), &path, max_bytes).map_err(error);
        let document = |document: storage::Document| documents::Document {
            contents: document.contents,
            version: document.version,
        };
        Ok(read.map(|read| read.map(document)))
    }

    fn list(
        &mut self,
        tree: Resource<documents::Tree>,
        of: documents::Area,
        directory: String,
    ) -> Answer<Option<Vec<documents::Entry>>> {
        let listed = self.trees[at(&tree)].list(area(of), &directory).map_err(error);
        let entry = |entry: storage::Entry| documents::Entry {
            name: entry.name,
            status: status(entry.status),
        };
        Ok(listed.map(|listed| listed.map(|all| all.into_iter().map(entry).collect())))
    }

    fn location(&mut self, _: Resource<documents::Tree>) -> Result<String> {
        Ok("memory".to_owned())
    }

    fn has_atomic_commits(&mut self, _: Resource<documents::Tree>) -> Result<bool> {
        Ok(true)
    }

    fn lock(
        &mut self,
        tree: Resource<documents::Tree>,
        scope: Option<String>,
    ) -> Answer<Resource<documents::Writer>> {
        let locked = self.trees[at(&tree)].lock(scope.as_deref()).map_err(error);
        Ok(locked.map(|writer| lend(&mut self.writers, Some(writer))))
    }

    fn drop(&mut self, _: Resource<documents::Tree>) -> Result<()> {
        Ok(())
    }
}

impl documents::HostWriter for Host {
    fn commit(
        &mut self,
        writer: Resource<documents::Writer>,
        changes: Vec<documents::Change>,
    ) -> Answer<Vec<Option<String>>, documents::CommitError> {
        let changes: Vec<_> = changes.into_iter().map(change).collect();
        let writer = self.writers[at(&writer)].as_ref().expect("it is held");
        Ok(writer.commit(&changes).map_err(|failed| documents::CommitError {
            error: error(failed.error),
            change: failed.change,
            applied: failed.applied,
        }))
    }

    fn drop(&mut self, writer: Resource<documents::Writer>) -> Result<()> {
        self.writers[at(&writer)] = None;
        Ok(())
    }
}

impl database::Host for Host {
    fn open(
        &mut self,
        of: types::Place,
        name: String,
        kind: database::Kind,
        create: bool,
    ) -> Answer<Resource<database::Connection>> {
        let kind = match kind {
            database::Kind::Kept => sql::Kind::Kept,
            database::Kind::Derived => sql::Kind::Derived,
        };
        let opened = self.storage.open_database(&place(of), &name, kind, create).map_err(error);
        Ok(opened.map(|database| lend(&mut self.connections, Box::leak(database))))
    }
}

fn statement(statement: database::Statement) -> sql::Statement {
    let value = |value| match value {
        database::Value::Null => sql::Value::Null,
        database::Value::Integer(value) => sql::Value::Integer(value),
        database::Value::Real(value) => sql::Value::Real(value),
        database::Value::Text(value) => sql::Value::Text(value),
        database::Value::Blob(value) => sql::Value::Blob(value),
    };
    let parameters = statement.parameters.into_iter().map(value).collect();
    sql::Statement { sql: statement.sql, parameters }
}

fn rows(rows: sql::Rows) -> database::Rows {
    let value = |value| match value {
        sql::Value::Null => database::Value::Null,
        sql::Value::Integer(value) => database::Value::Integer(value),
        sql::Value::Real(value) => database::Value::Real(value),
        sql::Value::Text(value) => database::Value::Text(value),
        sql::Value::Blob(value) => database::Value::Blob(value),
    };
    let row = |row: Vec<sql::Value>| row.into_iter().map(value).collect();
    database::Rows {
        columns: rows.columns,
        rows: rows.rows.into_iter().map(row).collect(),
        truncated: rows.truncated,
    }
}

impl database::HostConnection for Host {
    fn dialect(&mut self, _: Resource<database::Connection>) -> Result<database::Dialect> {
        Ok(database::Dialect::Sqlite)
    }

    fn query(
        &mut self,
        connection: Resource<database::Connection>,
        of: database::Statement,
        max_rows: u32,
    ) -> Answer<database::Rows> {
        let connection = self.connections[at(&connection)];
        Ok(connection.query(&statement(of), max_rows).map(rows).map_err(error))
    }

    fn begin(
        &mut self,
        connection: Resource<database::Connection>,
        mode: database::Mode,
    ) -> Answer<Resource<database::Transaction>> {
        let mode = match &mode {
            database::Mode::Read => sql::Mode::Read,
            database::Mode::Write(scope) => sql::Mode::Write(scope.as_deref()),
        };
        let begun = self.connections[at(&connection)].begin(mode).map_err(error);
        Ok(begun.map(|transaction| lend(&mut self.transactions, Some(transaction))))
    }

    fn drop(&mut self, _: Resource<database::Connection>) -> Result<()> {
        Ok(())
    }
}

impl Host {
    fn transaction(&self, handle: &Resource<database::Transaction>) -> &dyn sql::Transaction {
        self.transactions[at(handle)].as_deref().expect("it is open")
    }
}

impl database::HostTransaction for Host {
    fn query(
        &mut self,
        transaction: Resource<database::Transaction>,
        of: database::Statement,
        max_rows: u32,
    ) -> Answer<database::Rows> {
        let found = self.transaction(&transaction).query(&statement(of), max_rows);
        Ok(found.map(rows).map_err(error))
    }

    fn execute(
        &mut self,
        transaction: Resource<database::Transaction>,
        statements: Vec<database::Statement>,
    ) -> Answer<Vec<database::Effect>> {
        let statements: Vec<_> = statements.into_iter().map(statement).collect();
        let effect = |effect: sql::Effect| database::Effect { changes: effect.changes };
        let effects = self.transaction(&transaction).execute(&statements);
        Ok(effects.map(|all| all.into_iter().map(effect).collect()).map_err(error))
    }

    fn commit(&mut self, transaction: Resource<database::Transaction>) -> Answer<()> {
        Ok(self.transaction(&transaction).commit().map_err(error))
    }

    fn drop(&mut self, transaction: Resource<database::Transaction>) -> Result<()> {
        self.transactions[at(&transaction)] = None;
        Ok(())
    }
}

/// A call of the product's component, in an instance of its own.
fn call(storage: &'static InMemoryStorage, tool: &str, arguments: Value) -> Result<Value> {
    storage.begin_call();
    let engine = Engine::new(&agent_memory_image::engine_config())?;
    // SAFETY: the code is the host's own image.
    let component = unsafe { Component::deserialize(&engine, Image::embedded().code())? };
    let mut linker = Linker::<Host>::new(&engine);
    Imports::add_to_linker(&mut linker)?;
    // The WASI imports, which are never called.
    linker.define_unknown_imports_as_traps(&component)?;
    let host = Host {
        storage,
        trees: Vec::new(),
        writers: Vec::new(),
        connections: Vec::new(),
        transactions: Vec::new(),
    };
    let mut store = Store::new(&engine, host);
    store.set_epoch_deadline(1);
    let memory = Memory::instantiate(&mut store, &component, &linker)?;
    let context = toolbox::Context {
        settings: toolbox::Settings {
            toolsets: vec!["sessions".to_owned(), "records".to_owned()],
            of_toolsets: vec![toolbox::ToolsetSettings {
                toolset: "records".to_owned(),
                values: json!({"format": "sqlite"}).to_string(),
            }],
        },
        now: 1_737_367_200_000,
        zone: toolbox::Zone { offset_minutes: 0, changes: Vec::new() },
        seed: 1,
        principal: None,
        agents: None,
        stores: None,
        repository: None,
        models: Vec::new(),
        embedder: None,
        vector: None,
    };
    let toolbox = memory.agent_memory_toolbox_toolbox();
    let outcome = toolbox.call_call_tool(&mut store, tool, &arguments.to_string(), &context)?;
    let outcome = outcome.expect("the tool is mounted");
    let text = outcome.answer.unwrap_or_else(|refusal| refusal.json);
    Ok(serde_json::from_str(&text).expect("JSON"))
}

struct Imports;

impl Imports {
    fn add_to_linker(linker: &mut Linker<Host>) -> Result<()> {
        types::add_to_linker::<_, HasSelf<_>>(linker, |host| host)?;
        documents::add_to_linker::<_, HasSelf<_>>(linker, |host| host)?;
        database::add_to_linker::<_, HasSelf<_>>(linker, |host| host)
    }
}

#[test]
fn another_host_over_storage_in_memory_runs_the_component() {
    let storage: &'static InMemoryStorage = Box::leak(Box::default());
    storage.grant(storage::Place::repository("/project"));
    storage.grant(storage::Place::named("records"));
    let call = |tool: &str, arguments: Value| call(storage, tool, arguments).expect(tool);

    let session = json!({"agent_name": "ada", "repo_root": "/project"});
    assert_eq!(call("start_session", session.clone())["created"], true);
    let mut entry = session.clone();
    entry["section"] = json!("Decisions");
    entry["content"] = json!("- We begin.");
    assert_eq!(call("append_entry", entry)["section"], "Decisions");
    let place = storage::Place::repository("/project");
    let documents = storage.documents(&place, storage::Area::Documents);
    assert!(String::from_utf8_lossy(&documents["ada/logs/2025-01-20.md"]).contains("- We begin."));

    assert_eq!(call("add_core_memory", json!({"content": "tabs"}))["created"], true);
    assert_eq!(call("query_memories", json!({"search": "TAB"}))["total"], 1);
    let refused = call("delete_memory", json!({"id": "00000000-0000-4000-8000-000000000000"}));
    assert_eq!(refused["error"]["code"], "NOT_FOUND");
    assert_eq!(call("convert_records", json!({"to": "json"}))["converted"], true);
    let files = storage.documents(&storage::Place::named("records"), storage::Area::Documents);
    assert!(files.contains_key("default.json"));
}
