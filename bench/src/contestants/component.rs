//! The component with storage in memory. It runs the product's image in a fresh instance for each
//! call, like the product's host, with the same storage as the native core.

use std::{io, process};

use agent_memory_core::storage::version_of;
use agent_memory_core::storage::{self, Storage};
use agent_memory_host::Image;
use agent_memory_storage_memory::MemoryStorage;
use wasmtime::component::{self, HasSelf, Linker, Resource};
use wasmtime::{Engine, Store};

use super::refused;
use crate::comparison::{Contestant, Cost};
use crate::work::{Calls, NOWHERE, Work};

mod bindings {
    #![allow(missing_docs, reason = "generated from `wit/`, which documents each item")]
    wasmtime::component::bindgen!({
        path: ["../wit/storage", "../wit/toolbox"],
        world: "agent-memory:toolbox/memory",
    });
}

use bindings::MemoryPre;
use bindings::agent_memory::storage::documents::{
    Area, Change, CommitError, Document, Entry, EntryKind, Error, Host, HostTree, HostWriter,
    Place, PlaceKind, Status, Tree, Writer,
};
use bindings::agent_memory::storage::types::{self, ErrorCode};
use bindings::exports::agent_memory::toolbox::toolbox;

pub struct Component {
    component: MemoryPre<Lent>,
    /// `None` during a call, which takes the storage.
    storage: Option<MemoryStorage>,
    work: Work,
    tool: &'static str,
    arguments: Vec<String>,
}

impl Component {
    pub const NAME: &str = "the component";

    pub fn new(work: Work, calls: &Calls) -> wasmtime::Result<Self> {
        let engine = Engine::new(&agent_memory_image::pooled(1))?;
        // SAFETY: the bytes are the host's own image.
        let image = Image::embedded();
        let component = unsafe { component::Component::deserialize(&engine, image.code())? };
        let mut linker = Linker::new(&engine);
        bindings::agent_memory::storage::documents::add_to_linker::<_, HasSelf<Lent>>(
            &mut linker,
            |lent| lent,
        )?;
        linker.define_unknown_imports_as_traps(&component)?;
        Ok(Self {
            component: MemoryPre::new(linker.instantiate_pre(&component)?)?,
            storage: Some(MemoryStorage::new()),
            work,
            tool: calls.tool,
            arguments: calls.texts(),
        })
    }

    fn call(&mut self, index: usize) -> wasmtime::Result<()> {
        let storage = self.storage.take().expect("no call is running");
        let mut store = Store::new(self.component.engine(), Lent { storage, open: None });
        store.set_epoch_deadline(u64::MAX / 2);
        let answer = self.component.instantiate(&mut store).and_then(|memory| {
            let toolbox = memory.agent_memory_toolbox_toolbox();
            toolbox.call_call_tool(&mut store, self.tool, &self.arguments[index], &context())
        });
        self.storage = Some(store.into_data().storage);
        match answer? {
            Ok(outcome) if outcome.answer.is_ok() => Ok(()),
            answer => Err(refused(self.tool, &format!("{answer:?}")).into()),
        }
    }
}

impl Contestant for Component {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.work.lend(self.storage.as_ref().expect("no call is running"));
        Ok(())
    }

    fn take_turn(&mut self) -> io::Result<Cost> {
        Cost::between(process::id(), self.arguments.len(), || {
            (0..self.arguments.len())
                .try_for_each(|index| self.call(index))
                .map_err(io::Error::other)
        })
    }
}

fn context() -> toolbox::Context {
    toolbox::Context {
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
    }
}

/// The state of a call: the storage that it uses, and its open tree.
struct Lent {
    storage: MemoryStorage,
    /// The place of the open tree.
    open: Option<storage::Place>,
}

impl Lent {
    fn tree(&self) -> Result<Box<dyn storage::Tree + '_>, storage::Error> {
        self.storage.open(self.open.as_ref().expect("a tree is opened before it is used"))
    }
}

impl types::Host for Lent {}

impl Host for Lent {
    fn open(&mut self, place: Place) -> Result<Resource<Tree>, Error> {
        let Place::Repository(path) = place else { unreachable!("no measured tool has one") };
        self.open = Some(storage::Place::repository(path));
        self.tree()?;
        Ok(Resource::new_own(0))
    }

    fn list_places(&mut self, _: PlaceKind) -> Result<Vec<String>, Error> {
        // With no places, no call reports a changed resource.
        Ok(Vec::new())
    }

    fn create_place(&mut self, _: Place) -> Result<Resource<Tree>, Error> {
        unreachable!("no measured tool asks for it")
    }

    fn version_of(&mut self, contents: Vec<u8>) -> String {
        version_of(&contents)
    }
}

impl HostTree for Lent {
    fn stat(&mut self, _: Resource<Tree>, of: Area, path: String) -> Result<Option<Status>, Error> {
        Ok(self.tree()?.stat(area(of), &path)?.map(Status::from))
    }

    fn read(
        &mut self,
        _: Resource<Tree>,
        of: Area,
        path: String,
        max_bytes: u64,
    ) -> Result<Option<Document>, Error> {
        let document = self.tree()?.read(area(of), &path, max_bytes)?;
        Ok(document.map(|found| Document { contents: found.contents, version: found.version }))
    }

    fn list(
        &mut self,
        _: Resource<Tree>,
        of: Area,
        directory: String,
    ) -> Result<Option<Vec<Entry>>, Error> {
        let entries = self.tree()?.list(area(of), &directory)?;
        Ok(entries.map(|entries| entries.into_iter().map(Entry::from).collect()))
    }

    fn location(&mut self, _: Resource<Tree>) -> String {
        NOWHERE.to_owned()
    }

    fn has_atomic_commits(&mut self, _: Resource<Tree>) -> bool {
        true
    }

    fn lock(&mut self, _: Resource<Tree>, _: Option<String>) -> Result<Resource<Writer>, Error> {
        Ok(Resource::new_own(0))
    }

    fn drop(&mut self, _: Resource<Tree>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl HostWriter for Lent {
    fn commit(
        &mut self,
        _: Resource<Writer>,
        changes: Vec<Change>,
    ) -> Result<Vec<Option<String>>, CommitError> {
        let changes: Vec<_> = changes.into_iter().map(storage::Change::from).collect();
        let failed =
            |error: storage::Error| CommitError { error: error.into(), change: None, applied: 0 };
        let tree = self.tree().map_err(failed)?;
        let writer = tree.lock(None).map_err(failed)?;
        writer.commit(&changes).map_err(|error| failed(error.error))
    }

    fn drop(&mut self, _: Resource<Writer>) -> wasmtime::Result<()> {
        Ok(())
    }
}

fn area(area: Area) -> storage::Area {
    match area {
        Area::Documents => storage::Area::Documents,
        Area::Bookkeeping => storage::Area::Bookkeeping,
    }
}

impl From<storage::Entry> for Entry {
    fn from(entry: storage::Entry) -> Self {
        Self { name: entry.name, status: entry.status.into() }
    }
}

impl From<storage::Status> for Status {
    fn from(status: storage::Status) -> Self {
        let kind = match status.kind {
            storage::EntryKind::File => EntryKind::File,
            storage::EntryKind::Directory => EntryKind::Directory,
            storage::EntryKind::Other => EntryKind::Other,
        };
        Self { kind, size: status.size, stamp: status.stamp }
    }
}

impl From<Change> for storage::Change {
    fn from(change: Change) -> Self {
        match change {
            Change::Put(put) => Self::Put {
                area: area(put.area),
                path: put.path,
                contents: put.contents,
                expects: put.expects,
            },
            Change::Edit(_) | Change::Delete(_) | Change::Copy(_) | Change::Rename(_) => {
                unreachable!("measured calls in memory put complete documents")
            }
        }
    }
}

/// Every error gets the code `Io`, since measured calls do not fail. The message says what happened.
impl From<storage::Error> for Error {
    fn from(error: storage::Error) -> Self {
        Self { code: ErrorCode::Io, message: error.message, detail: error.detail }
    }
}

#[cfg(test)]
impl Component {
    pub fn storage(&self) -> &MemoryStorage {
        self.storage.as_ref().expect("no call is running")
    }
}
