//! Trees of documents, lent to a call.

use super::Answer;
use super::imports::documents::{
    Change, CommitError, Document, Entry, EntryKind, Host, HostTree, HostWriter, Place, PlaceKind,
    Side, Splice, Tree, Writer,
};
use super::imports::storage_types::{Error, ErrorCode};
use crate::engine::Call;
use crate::queue;
use crate::storage;
use wasmtime::Result;
use wasmtime::component::Resource;

impl Host for Call {
    fn open(&mut self, place: Place) -> Answer<Resource<Tree>> {
        self.asked(|call| {
            let place = storage::Place::from(place);
            let mut opened = call.storage.open(&place, &call.granted);
            let refused = |error: &storage::Error| error.code == storage::ErrorCode::NotGranted;
            if opened.as_ref().is_err_and(refused)
                && let Some(roots) = call.roots.take()
            {
                call.granted = call.wait(roots.roots())?;
                opened = call.storage.open(&place, &call.granted);
            }
            call.lend(opened)
        })
    }

    fn list_places(&mut self, kind: PlaceKind) -> Answer<Vec<String>> {
        self.asked(|call| Ok(call.storage.list_places(kind.into()).map_err(Error::from)))
    }

    fn create_place(&mut self, place: Place) -> Answer<Resource<Tree>> {
        self.asked(|call| call.lend(call.storage.create_place(&place.into())))
    }

    fn version_of(&mut self, contents: Vec<u8>) -> Result<String> {
        self.asked(|_| Ok(storage::version_of(&contents)))
    }
}

impl Call {
    fn lend(
        &mut self,
        tree: std::result::Result<storage::Tree, storage::Error>,
    ) -> Answer<Resource<Tree>> {
        Ok(match tree {
            Ok(tree) => Ok(self.opened.push(tree)?),
            Err(error) => Err(error.into()),
        })
    }

    /// Asks for a lock after every writer that arrived earlier, and waits for it.
    pub(super) async fn in_turn<T, Asked>(
        place: Option<queue::Place>,
        patience: storage::Patience,
        ask: impl FnOnce(storage::Patience) -> Asked,
    ) -> std::result::Result<T, storage::Error>
    where
        Asked: Future<Output = std::result::Result<T, storage::Error>>,
    {
        if let Some(place) = &place {
            patience.within(place.served()).await?;
        }
        // This joins the lock's own queue; only then may the next writer ask.
        let asked = ask(patience);
        drop(place);
        asked.await
    }
}

impl HostTree for Call {
    fn read(
        &mut self,
        tree: Resource<Tree>,
        side: Side,
        path: String,
        max_bytes: u64,
    ) -> Answer<Option<Document>> {
        self.asked(|call| {
            let read = call.opened.get(&tree)?.read(side.into(), &path, max_bytes);
            Ok(read.map(|document| document.map(Document::from)).map_err(Error::from))
        })
    }

    fn list(
        &mut self,
        tree: Resource<Tree>,
        side: Side,
        directory: String,
    ) -> Answer<Option<Vec<Entry>>> {
        self.asked(|call| {
            let listed = call.opened.get(&tree)?.list(side.into(), &directory);
            let entries = |all: Vec<storage::Entry>| all.into_iter().map(Entry::from).collect();
            Ok(listed.map(|found| found.map(entries)).map_err(Error::from))
        })
    }

    fn location(&mut self, tree: Resource<Tree>) -> Result<String> {
        self.asked(|call| Ok(call.opened.get(&tree)?.location().to_owned()))
    }

    fn lock(&mut self, tree: Resource<Tree>) -> Answer<Resource<Writer>> {
        self.asked(|call| {
            if call.writer.is_some() {
                let message = "the call holds a writer already: a call takes at most one";
                return Ok(Err(nested(message)));
            }
            if call.transacts || call.has_committed {
                let message =
                    "the call has a transaction, or has committed one: it takes its writer before";
                return Ok(Err(nested(message)));
            }
            let place = call.writer_place.take();
            let tree = call.opened.get(&tree)?;
            let patience = storage::Patience::new(call.storage.options().lock_wait);
            let locked = Call::in_turn(place, patience, |patience| tree.lock(patience));
            Ok(match call.wait(locked)? {
                Ok(writer) => {
                    let writer = call.opened.push(writer)?;
                    call.writer = Some(writer.rep());
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
    ) -> Answer<Vec<String>, CommitError> {
        self.asked(|call| {
            let changes: Vec<_> = changes.into_iter().map(storage::Change::from).collect();
            let writer = call.opened.get(&writer)?;
            let committed = writer.commit(&changes);
            if let Ok(versions) = &committed {
                writer.keep(changes, versions);
            }
            Ok(committed.map_err(CommitError::from))
        })
    }

    fn drop(&mut self, writer: Resource<Writer>) -> Result<()> {
        self.opened.delete(writer)?;
        self.writer = None;
        Ok(())
    }
}

pub(super) fn nested(message: &str) -> Error {
    Error { code: ErrorCode::Nested, message: message.to_owned(), detail: None }
}

impl From<Place> for storage::Place {
    fn from(place: Place) -> storage::Place {
        storage::Place { kind: place.kind.into(), name: place.name }
    }
}

impl From<Change> for storage::Change {
    fn from(change: Change) -> storage::Change {
        match change {
            Change::Put(put) => storage::Change::Put {
                side: put.side.into(),
                path: put.path,
                contents: put.contents,
                expects: put.expects,
            },
            Change::Edit(edit) => storage::Change::Edit {
                side: edit.side.into(),
                path: edit.path,
                splices: edit.splices.into_iter().map(storage::Splice::from).collect(),
                expects: edit.expects,
            },
            Change::Delete(delete) => storage::Change::Delete {
                side: delete.side.into(),
                path: delete.path,
                expects: delete.expects,
            },
            Change::Copy(backup) => storage::Change::Copy {
                side: backup.side.into(),
                from: backup.from,
                to: backup.to,
                expects: backup.expects,
            },
        }
    }
}

impl From<Splice> for storage::Splice {
    fn from(splice: Splice) -> storage::Splice {
        storage::Splice { at: splice.at, removes: splice.removes, inserts: splice.inserts }
    }
}

impl From<storage::Document> for Document {
    fn from(document: storage::Document) -> Document {
        Document { contents: document.contents, version: document.version }
    }
}

impl From<storage::Entry> for Entry {
    fn from(entry: storage::Entry) -> Entry {
        Entry { name: entry.name, kind: entry.kind.into(), size: entry.size }
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

/// Turns each value of an enum into the one of the same name.
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

same_names!(PlaceKind => storage::PlaceKind: Repository Records Store Data);
same_names!(Side => storage::Side: Documents Bookkeeping);
same_names!(storage::EntryKind => EntryKind: File Directory Other);
same_names!(storage::ErrorCode => ErrorCode:
    NotFound AlreadyExists VersionMismatch NotGranted NoSpace ReadOnly Permission TooLarge
    InvalidPath Busy Nested Cancelled Corrupted Io);
