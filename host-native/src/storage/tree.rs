//! A place that was opened: its documents, its lock and its databases.

use super::named::GrantedPlace;
use super::{
    Area, Database, DatabaseKind, Document, Documents, Entry, Error, ErrorCode, LockTimeout,
    Shared, Status, Writer,
};
use agent_memory_storage_files::{self as files, Layout};
use std::path::Path;
use std::sync::Arc;

/// The documents and databases of a place that is granted. A clone is the same tree.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) files: files::Tree,
    /// None for a repository.
    named: Option<Arc<GrantedPlace>>,
    pub(super) storage: Arc<Shared>,
}

impl Tree {
    pub(super) fn new(
        storage: &Arc<Shared>,
        layout: Layout,
        named: Option<Arc<GrantedPlace>>,
    ) -> Self {
        let (durability, cache) = (storage.options.durability, storage.cache.clone());
        Tree {
            files: files::Tree::with_cache(layout, durability, cache),
            named,
            storage: storage.clone(),
        }
    }

    /// Where the tree is, for messages only: by the name under which it was opened.
    pub fn location(&self) -> &str {
        self.files.layout().location()
    }

    /// The lock directory, canonical: trees with the same one share one lock.
    pub fn lock_key(&self) -> &Path {
        self.files.layout().lock_path()
    }

    /// Whether all changes of a commit stand or none, whenever the host ends.
    pub fn has_atomic_commits(&self) -> bool {
        false
    }

    /// Takes the last place in the queue for the place's lock, now, and waits for the lock when
    /// polled.
    ///
    /// Dropping the future gives up the wait at once. First come, first served among those who ask
    /// this storage or a clone of it; between processes nobody is starved.
    ///
    /// # Errors
    ///
    /// `busy` where the timeout passes; `read-only` where the lock cannot be written; `no-space`;
    /// `invalid-path` where something else stands in place of its files; `io`.
    ///
    /// # Panics
    ///
    /// When polled outside a tokio runtime with time.
    pub fn lock(
        &self,
        timeout: LockTimeout,
    ) -> impl Future<Output = Result<Writer, Error>> + Send + use<> {
        Writer::acquire(self.clone(), timeout)
    }

    /// Opens a database of the tree's place; creates it where it is missing and `create` is set.
    ///
    /// # Errors
    ///
    /// `not-granted` for one to be kept that the place does not have; otherwise those of
    /// [`Database::open`](agent_memory_storage_sqlite::Database::open).
    pub fn open_database(
        &self,
        name: &str,
        kind: DatabaseKind,
        create: bool,
    ) -> Result<Database, Error> {
        let file = match kind {
            DatabaseKind::Kept => self.named.as_ref().and_then(|place| place.file_of(name)),
            DatabaseKind::Derived => Some(name),
        };
        let Some(file) = file else {
            let message = format!(
                "the database `{}` is not granted: none of this name is kept in `{}`",
                name.escape_debug(),
                self.location().trim_end_matches('/')
            );
            return Err(Error::new(ErrorCode::NotGranted, message));
        };
        Database::open(self, file, kind, create)
    }
}

impl Documents for Tree {
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error> {
        self.files.stat(area, path)
    }

    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error> {
        self.files.read(area, path, max_bytes)
    }

    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error> {
        self.files.list(area, directory)
    }
}
