//! Trees of documents, lent to a call.

use super::imports::documents::{
    Change, CommitError, Document, Entry, EntryKind, Host, HostTree, HostWriter, Place, PlaceKind,
    Side, Tree, Writer,
};
use super::imports::storage_types::{Error, ErrorCode};
use crate::engine::Call;
use crate::storage;
use std::sync::Arc;
use wasmtime::Result;
use wasmtime::component::Resource;

/// What the component gets: an error is its own to handle, whereas that of the outer `Result` ends
/// the call.
type Answer<T, E = Error> = Result<std::result::Result<T, E>>;

/// A commit goes on to its end on its own thread when the call is given up meanwhile, and the lock
/// is held until then.
pub type SharedWriter = Arc<storage::Writer>;

/// Runs what waits for a disk on a thread that may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    Ok(tokio::task::spawn_blocking(work).await?)
}

impl Host for Call {
    async fn open(&mut self, place: Place) -> Answer<Resource<Tree>> {
        self.count()?;
        let mut opened = self.open_granted(place.clone()).await?;
        let refused = |error: &storage::Error| error.code == storage::ErrorCode::NotGranted;
        if opened.as_ref().is_err_and(refused)
            && let Some(roots) = self.roots.take()
        {
            self.granted = roots.roots().await;
            opened = self.open_granted(place).await?;
        }
        self.lend(opened)
    }

    async fn list_places(&mut self, kind: PlaceKind) -> Answer<Vec<String>> {
        self.count()?;
        let storage = self.storage.clone();
        let listed = blocking(move || storage.list_places(kind.into())).await?;
        Ok(listed.map_err(Error::from))
    }

    async fn create_place(&mut self, place: Place) -> Answer<Resource<Tree>> {
        self.count()?;
        let storage = self.storage.clone();
        let created = blocking(move || storage.create_place(&place.into())).await?;
        self.lend(created)
    }

    fn version_of(&mut self, contents: Vec<u8>) -> Result<String> {
        self.count()?;
        Ok(storage::version_of(&contents))
    }
}

impl Call {
    async fn open_granted(
        &mut self,
        place: Place,
    ) -> Result<std::result::Result<storage::Tree, storage::Error>> {
        let (storage, granted) = (self.storage.clone(), self.granted.clone());
        blocking(move || storage.open(&place.into(), &granted)).await
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

    /// Waits for the tree's lock, after every writer that arrived earlier.
    async fn acquire(
        &mut self,
        tree: &storage::Tree,
    ) -> std::result::Result<storage::Writer, storage::Error> {
        let patience = storage::Patience::new(self.storage.options().lock_wait);
        let turn = self.turn.take();
        if let Some(turn) = &turn {
            patience.within(turn.is_first()).await?;
        }
        // This joins the tree's own queue; only then may the next writer ask.
        let acquiring = tree.acquire(patience);
        drop(turn);
        acquiring.await
    }
}

impl HostTree for Call {
    async fn read(
        &mut self,
        tree: Resource<Tree>,
        side: Side,
        path: String,
        max_bytes: u64,
    ) -> Answer<Option<Document>> {
        self.count()?;
        let tree = self.opened.get(&tree)?.clone();
        let read = blocking(move || tree.read(side.into(), &path, max_bytes)).await?;
        Ok(match read {
            Ok(document) => Ok(document.map(Document::from)),
            Err(error) => Err(error.into()),
        })
    }

    async fn list(
        &mut self,
        tree: Resource<Tree>,
        side: Side,
        directory: String,
    ) -> Answer<Option<Vec<Entry>>> {
        self.count()?;
        let tree = self.opened.get(&tree)?.clone();
        let listed = blocking(move || tree.list(side.into(), &directory)).await?;
        Ok(match listed {
            Ok(entries) => Ok(entries.map(|all| all.into_iter().map(Entry::from).collect())),
            Err(error) => Err(error.into()),
        })
    }

    fn location(&mut self, tree: Resource<Tree>) -> Result<String> {
        self.count()?;
        Ok(self.opened.get(&tree)?.location().to_owned())
    }

    async fn lock(&mut self, tree: Resource<Tree>) -> Answer<Resource<Writer>> {
        self.count()?;
        if self.writes {
            return Ok(Err(nested()));
        }
        let tree = self.opened.get(&tree)?.clone();
        Ok(match self.acquire(&tree).await {
            Ok(writer) => {
                let writer = self.opened.push(Arc::new(writer))?;
                self.writes = true;
                Ok(writer)
            }
            Err(error) => Err(error.into()),
        })
    }

    fn drop(&mut self, tree: Resource<Tree>) -> Result<()> {
        self.opened.delete(tree)?;
        Ok(())
    }
}

impl HostWriter for Call {
    async fn commit(
        &mut self,
        writer: Resource<Writer>,
        changes: Vec<Change>,
    ) -> Answer<Vec<String>, CommitError> {
        self.count()?;
        let writer = self.opened.get(&writer)?.clone();
        let changes: Vec<_> = changes.into_iter().map(storage::Change::from).collect();
        let committed = blocking(move || writer.commit(&changes)).await?;
        Ok(committed.map_err(CommitError::from))
    }

    fn drop(&mut self, writer: Resource<Writer>) -> Result<()> {
        self.opened.delete(writer)?;
        self.writes = false;
        Ok(())
    }
}

fn nested() -> Error {
    Error {
        code: ErrorCode::Nested,
        message: "the call holds a writer already: a call takes at most one".to_owned(),
        detail: None,
    }
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
    InvalidPath Busy Nested Cancelled Io);
