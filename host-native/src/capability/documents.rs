//! The trees of documents of a call.

use super::Answer;
use super::imports::documents::{
    Area, Change, CommitError, Document, Entry, EntryKind, Host, HostTree, HostWriter, Place,
    PlaceKind, Splice, Status, Tree, Writer,
};
use super::imports::types::{Error, ErrorCode};
use crate::call::Call;
use crate::queue;
use crate::storage;
use std::sync::Arc;
use wasmtime::Result;
use wasmtime::component::Resource;

impl Host for Call {
    fn open(&mut self, place: Place) -> Answer<Resource<Tree>> {
        self.asked(|call| {
            let tree = call.tree(&place.into())?;
            call.lend(tree)
        })
    }

    fn list_places(&mut self, kind: PlaceKind) -> Answer<Vec<String>> {
        let kind = kind.into();
        self.asked(|call| {
            let listed = call.places(&kind);
            let has_none = kind == storage::PlaceKind::Repository
                && listed.as_ref().is_ok_and(|names| names.is_empty());
            let listed = if has_none && call.ask_roots()? { call.places(&kind) } else { listed };
            Ok(listed.map_err(Error::from))
        })
    }

    fn create_place(&mut self, place: Place) -> Answer<Resource<Tree>> {
        let place = place.into();
        self.asked(|call| {
            if let Err(error) = call.lock_rules.check_create() {
                return Ok(Err(error.into()));
            }
            let timeout = storage::LockTimeout::new(call.storage.options().lock_wait);
            let Call { writer_turn, storage, key, .. } = &*call;
            let created =
                Call::created(writer_turn.as_ref(), storage, &place, timeout, key.as_ref());
            let created = call.wait(created)?;
            call.lend(created)
        })
    }

    fn version_of(&mut self, contents: Vec<u8>) -> Result<String> {
        self.asked(|_| Ok(storage::version_of(&contents)))
    }
}

impl Call {
    /// Opens a place. If it is not granted, asks the call's `roots` for more granted directories.
    pub(super) fn tree(&mut self, place: &storage::Place) -> Answer<storage::Tree, storage::Error> {
        let opened = self.open_place(place);
        let refused = |error: &storage::Error| error.code == storage::ErrorCode::NotGranted;
        if matches!(place, storage::Place::Repository(_))
            && opened.as_ref().is_err_and(refused)
            && self.ask_roots()?
        {
            return Ok(self.open_place(place));
        }
        Ok(opened)
    }

    fn open_place(
        &self,
        place: &storage::Place,
    ) -> std::result::Result<storage::Tree, storage::Error> {
        self.storage.open_within(place, &self.granted, self.only.as_deref(), self.key.as_ref())
    }

    fn places(
        &self,
        kind: &storage::PlaceKind,
    ) -> std::result::Result<Vec<String>, storage::Error> {
        self.storage.list_places_within(kind, &self.granted, self.only.as_deref())
    }

    /// Asks the call's `roots` for more granted directories. Returns `false` if the call has no `roots`,
    /// or if they were asked before.
    fn ask_roots(&mut self) -> Result<bool> {
        let Some(roots) = self.roots.take() else { return Ok(false) };
        self.granted = self.wait(roots.roots())?;
        Ok(true)
    }

    /// The documents of a tree. If the call has a writer of the tree's place, they are read through that
    /// writer.
    fn reader(&self, tree: &Resource<Tree>) -> Result<&dyn storage::Documents> {
        let tree = self.opened.get(tree)?;
        Ok(match self.lock_rules.writer_of(tree.lock_key()) {
            None => tree,
            Some(writer) => self.opened.get(&Resource::<storage::Writer>::new_borrow(writer))?,
        })
    }

    fn lend(
        &mut self,
        tree: std::result::Result<storage::Tree, storage::Error>,
    ) -> Answer<Resource<Tree>> {
        Ok(match tree {
            Ok(tree) => Ok(self.opened.push(tree)?),
            Err(error) => Err(error.into()),
        })
    }

    /// Creates a place after every earlier writer of the same client has asked for its lock. The call
    /// keeps its turn among the writers.
    async fn created(
        writer_turn: Option<&queue::Turn>,
        storage: &storage::Storage,
        place: &storage::Place,
        timeout: storage::LockTimeout,
        key: Option<&Arc<storage::CallKey>>,
    ) -> std::result::Result<storage::Tree, storage::Error> {
        if let Some(writer_turn) = writer_turn {
            timeout.within(writer_turn.served()).await?;
        }
        storage.create_place_with(place, timeout, key).await
    }

    /// Asks for a lock after every earlier writer of the same client, and waits for it.
    pub(super) async fn in_turn<T, Asked>(
        turn: Option<queue::Turn>,
        timeout: storage::LockTimeout,
        ask: impl FnOnce(storage::LockTimeout) -> Asked,
    ) -> std::result::Result<T, storage::Error>
    where
        Asked: Future<Output = std::result::Result<T, storage::Error>>,
    {
        if let Some(turn) = &turn {
            timeout.within(turn.served()).await?;
        }
        // This call joins the lock's own queue. Only then may the client's next writer ask.
        let asked = ask(timeout);
        drop(turn);
        asked.await
    }
}

impl HostTree for Call {
    fn stat(&mut self, tree: Resource<Tree>, area: Area, path: String) -> Answer<Option<Status>> {
        self.asked(|call| {
            let found = call.reader(&tree)?.stat(area.into(), &path);
            Ok(found.map(|status| status.map(Status::from)).map_err(Error::from))
        })
    }

    fn read(
        &mut self,
        tree: Resource<Tree>,
        area: Area,
        path: String,
        max_bytes: u64,
    ) -> Answer<Option<Document>> {
        self.asked(|call| {
            let read = call.reader(&tree)?.read(area.into(), &path, max_bytes);
            Ok(read.map(|document| document.map(Document::from)).map_err(Error::from))
        })
    }

    fn list(
        &mut self,
        tree: Resource<Tree>,
        area: Area,
        directory: String,
    ) -> Answer<Option<Vec<Entry>>> {
        self.asked(|call| {
            let listed = call.reader(&tree)?.list(area.into(), &directory);
            let entries = |all: Vec<storage::Entry>| all.into_iter().map(Entry::from).collect();
            Ok(listed.map(|found| found.map(entries)).map_err(Error::from))
        })
    }

    fn location(&mut self, tree: Resource<Tree>) -> Result<String> {
        self.asked(|call| Ok(call.opened.get(&tree)?.location().to_owned()))
    }

    fn has_atomic_commits(&mut self, tree: Resource<Tree>) -> Result<bool> {
        self.asked(|call| Ok(call.opened.get(&tree)?.has_atomic_commits()))
    }

    fn lock(&mut self, tree: Resource<Tree>, scope: Option<String>) -> Answer<Resource<Writer>> {
        self.asked(|call| {
            let tree = call.opened.get(&tree)?;
            if let Err(error) = call.lock_rules.check_lock() {
                return Ok(Err(error.into()));
            }
            let turn = call.writer_turn.take();
            let timeout = storage::LockTimeout::new(call.storage.options().lock_wait);
            let locked =
                Call::in_turn(turn, timeout, |timeout| tree.lock_scope(scope.as_deref(), timeout));
            Ok(match call.wait(locked)? {
                Ok(writer) => {
                    let lock = writer.lock_key().clone();
                    let writer = call.opened.push(writer)?;
                    call.lock_rules.locked(lock, writer.rep());
                    Ok(writer)
                }
                Err(error) => Err(error.into()),
            })
        })
    }

    fn drop(&mut self, tree: Resource<Tree>) -> Result<()> {
        self.opened.delete(tree)?;
        Ok(())
    }
}

impl HostWriter for Call {
    fn commit(
        &mut self,
        writer: Resource<Writer>,
        changes: Vec<Change>,
    ) -> Answer<Vec<Option<String>>, CommitError> {
        self.asked(|call| {
            let changes: Vec<_> = changes.into_iter().map(storage::Change::from).collect();
            let committed = call.opened.get(&writer)?.commit_and_cache(changes);
            Ok(committed.map_err(CommitError::from))
        })
    }

    fn drop(&mut self, writer: Resource<Writer>) -> Result<()> {
        self.opened.delete(writer)?;
        self.lock_rules.unlocked();
        Ok(())
    }
}

impl From<Place> for storage::Place {
    fn from(place: Place) -> storage::Place {
        match place {
            Place::Repository(top_level) => storage::Place::Repository(top_level),
            Place::Named(named) => storage::Place::Named { label: named.label, name: named.name },
        }
    }
}

impl From<PlaceKind> for storage::PlaceKind {
    fn from(kind: PlaceKind) -> storage::PlaceKind {
        match kind {
            PlaceKind::Repository => storage::PlaceKind::Repository,
            PlaceKind::Named(label) => storage::PlaceKind::Named(label),
        }
    }
}

impl From<Change> for storage::Change {
    fn from(change: Change) -> storage::Change {
        match change {
            Change::Put(put) => storage::Change::Put {
                area: put.area.into(),
                path: put.path,
                contents: put.contents,
                expects: put.expects,
            },
            Change::Edit(edit) => storage::Change::Edit {
                area: edit.area.into(),
                path: edit.path,
                splices: edit.splices.into_iter().map(storage::Splice::from).collect(),
                expects: edit.expects,
            },
            Change::Delete(delete) => storage::Change::Delete {
                area: delete.area.into(),
                path: delete.path,
                expects: delete.expects,
            },
            Change::Copy(backup) => storage::Change::Copy {
                area: backup.area.into(),
                from: backup.from,
                to: backup.to,
                expects: backup.expects,
            },
            Change::Rename(rename) => storage::Change::Rename {
                area: rename.area.into(),
                from: rename.from,
                to: rename.to,
                expects: rename.expects,
            },
        }
    }
}

impl From<Splice> for storage::Splice {
    /// A number too large for `usize` becomes `usize::MAX`, which is still beyond the end of every
    /// document.
    fn from(splice: Splice) -> storage::Splice {
        let start = usize::try_from(splice.at).unwrap_or(usize::MAX);
        let removes = usize::try_from(splice.removes).unwrap_or(usize::MAX);
        storage::Splice { range: start..start.saturating_add(removes), inserts: splice.inserts }
    }
}

impl From<storage::Document> for Document {
    fn from(document: storage::Document) -> Document {
        Document { contents: document.contents, version: document.version }
    }
}

impl From<storage::Entry> for Entry {
    fn from(entry: storage::Entry) -> Entry {
        Entry { name: entry.name, status: entry.status.into() }
    }
}

impl From<storage::Status> for Status {
    fn from(status: storage::Status) -> Status {
        Status { kind: status.kind.into(), size: status.size, stamp: status.stamp }
    }
}

impl From<storage::Error> for Error {
    fn from(error: storage::Error) -> Error {
        Error { code: error.code.into(), message: error.message, detail: error.detail }
    }
}

impl From<storage::CommitError> for CommitError {
    fn from(failed: storage::CommitError) -> CommitError {
        CommitError { error: failed.error.into(), change: failed.change, applied: failed.applied }
    }
}

/// Converts each value of an enum to the value with the same name.
macro_rules! same_names {
    ($from:ty => $to:ty: $($name:ident)*) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value {
                    $(<$from>::$name => Self::$name,)*
                }
            }
        }
    };
}

same_names!(Area => storage::Area: Documents Bookkeeping);
same_names!(storage::EntryKind => EntryKind: File Directory Other);
storage::api::with_error_codes!(same_names!(storage::ErrorCode => ErrorCode:));
