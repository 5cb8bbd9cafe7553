//! The smallest host for the component. It loads the product's image, runs one `read_summary` on plain
//! files, and prints the result. It has no protocol, no async runtime, no locks and no grants.

use std::path::PathBuf;
use std::{env, fs, io};

use agent_memory_host::Image;
use wasmtime::component::{Component, HasSelf, Linker, Resource};
use wasmtime::{Engine, Store};

mod bindings {
    #![allow(missing_docs, reason = "generated from `wit/`, which documents each item")]
    wasmtime::component::bindgen!({
        path: ["../wit/storage", "../wit/toolbox"],
        world: "agent-memory:toolbox/memory",
    });
}

use bindings::Memory;
use bindings::agent_memory::storage::documents::{
    Area, Change, CommitError, Document, Entry, EntryKind, Error, Host, HostTree, HostWriter,
    Place, PlaceKind, Status, Tree, Writer,
};
use bindings::agent_memory::storage::types::{self, ErrorCode};
use bindings::exports::agent_memory::toolbox::toolbox;

fn main() -> wasmtime::Result<()> {
    let root = env::args().nth(1).expect("usage: bare-host REPOSITORY");
    let engine = Engine::new(&agent_memory_image::engine_config())?;
    // SAFETY: the bytes are the host's own image.
    let component = unsafe { Component::deserialize(&engine, Image::embedded().code())? };
    let mut linker = Linker::new(&engine);
    bindings::agent_memory::storage::documents::add_to_linker::<_, HasSelf<Files>>(
        &mut linker,
        |files| files,
    )?;
    linker.define_unknown_imports_as_traps(&component)?;
    let mut store = Store::new(&engine, Files(PathBuf::new()));
    store.set_epoch_deadline(u64::MAX / 2);
    let memory = Memory::instantiate(&mut store, &component, &linker)?;
    let arguments = serde_json::json!({"agent_name": "ada", "repo_root": root}).to_string();
    let context = toolbox::Context {
        settings: toolbox::Settings {
            toolsets: vec!["sessions".to_owned()],
            of_toolsets: Vec::new(),
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
    let outcome = toolbox.call_call_tool(&mut store, "read_summary", &arguments, &context)?;
    let answer = outcome.expect("the tool is mounted").answer;
    println!("{}", answer.unwrap_or_else(|refusal| refusal.json));
    Ok(())
}

/// The directory of the open tree of documents.
struct Files(PathBuf);

impl types::Host for Files {}

impl Host for Files {
    fn open(&mut self, place: Place) -> Result<Resource<Tree>, Error> {
        let Place::Repository(path) = place else { return Err(unsupported()) };
        self.0 = PathBuf::from(path).join(".github/agent-memory");
        Ok(Resource::new_own(0))
    }

    fn list_places(&mut self, _: PlaceKind) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    fn create_place(&mut self, _: Place) -> Result<Resource<Tree>, Error> {
        Err(unsupported())
    }

    fn version_of(&mut self, _: Vec<u8>) -> String {
        String::new()
    }
}

impl HostTree for Files {
    fn stat(&mut self, _: Resource<Tree>, _: Area, _: String) -> Result<Option<Status>, Error> {
        Err(unsupported())
    }

    fn read(
        &mut self,
        _: Resource<Tree>,
        _: Area,
        path: String,
        _: u64,
    ) -> Result<Option<Document>, Error> {
        let document = |contents| Document { contents, version: String::new() };
        absent_is_none(fs::read(self.0.join(path)).map(document))
    }

    fn list(
        &mut self,
        _: Resource<Tree>,
        _: Area,
        directory: String,
    ) -> Result<Option<Vec<Entry>>, Error> {
        let entry = |entry: fs::DirEntry| {
            let kind =
                if entry.file_type()?.is_dir() { EntryKind::Directory } else { EntryKind::File };
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok(Entry { name, status: Status { kind, size: 0, stamp: String::new() } })
        };
        let entries = fs::read_dir(self.0.join(directory));
        absent_is_none(entries.and_then(|entries| entries.map(|found| entry(found?)).collect()))
    }

    fn location(&mut self, _: Resource<Tree>) -> String {
        self.0.display().to_string()
    }

    fn has_atomic_commits(&mut self, _: Resource<Tree>) -> bool {
        false
    }

    fn lock(&mut self, _: Resource<Tree>, _: Option<String>) -> Result<Resource<Writer>, Error> {
        Err(unsupported())
    }

    fn drop(&mut self, _: Resource<Tree>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl HostWriter for Files {
    fn commit(
        &mut self,
        _: Resource<Writer>,
        _: Vec<Change>,
    ) -> Result<Vec<Option<String>>, CommitError> {
        Err(CommitError { error: unsupported(), change: None, applied: 0 })
    }

    fn drop(&mut self, _: Resource<Writer>) -> wasmtime::Result<()> {
        Ok(())
    }
}

fn absent_is_none<T>(read: io::Result<T>) -> Result<Option<T>, Error> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error { code: ErrorCode::Io, message: error.to_string(), detail: None }),
    }
}

fn unsupported() -> Error {
    Error {
        code: ErrorCode::NotGranted,
        message: "a bare host does not support this".into(),
        detail: None,
    }
}
