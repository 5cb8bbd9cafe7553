//! A place on this machine: its documents, its lock and its databases.

use super::database::Database;
use super::files_writer::FilesWriter;
use super::lock_key::LockKey;
use super::lock_timeout::LockTimeout;
use super::lock_wait::Locks;
use super::sqlite_database::Databases;
use super::tree::{Locking, Tree, TreeBackend};
use super::writer::Writer;
use agent_memory_storage::database::Kind;
use agent_memory_storage::{Documents, Error, ErrorCode};
use agent_memory_storage_files::places::GrantedPlace;
use agent_memory_storage_files::{self as files, Cache, Durability, Layout};
use std::sync::Arc;

/// A place in files.
#[derive(Debug)]
pub(super) struct FilesTree {
    files: files::Tree,
    /// The named place. `None` for a repository.
    named: Option<Arc<GrantedPlace>>,
    local: Arc<Local>,
    key: LockKey,
}

/// The parts that all places of a storage on this machine share.
#[derive(Debug)]
pub(super) struct Local {
    pub durability: Durability,
    pub locks: Arc<Locks>,
    pub databases: Databases,
    pub cache: Arc<Cache>,
}

impl FilesTree {
    pub fn open(local: &Arc<Local>, layout: Layout, named: Option<Arc<GrantedPlace>>) -> Tree {
        let key = LockKey::Directory(layout.lock_path().to_owned());
        let files = files::Tree::with_cache(layout, local.durability, local.cache.clone());
        Tree::new(FilesTree { files, named, local: local.clone(), key })
    }
}

impl TreeBackend for FilesTree {
    fn documents(&self) -> &dyn Documents {
        &self.files
    }

    fn location(&self) -> &str {
        self.files.layout().location()
    }

    fn lock_key(&self) -> &LockKey {
        &self.key
    }

    fn has_atomic_commits(&self) -> bool {
        false
    }

    fn lock(&self, _: Option<&str>, timeout: LockTimeout) -> Locking {
        let Local { locks, cache, .. } = &*self.local;
        let acquiring = FilesWriter::acquire(self.files.clone(), cache.clone(), locks, timeout);
        Box::pin(async move { Ok(Writer::new(acquiring.await?)) })
    }

    fn open_database(&self, name: &str, kind: Kind, create: bool) -> Result<Database, Error> {
        let file = match kind {
            Kind::Kept => self.named.as_ref().and_then(|place| place.file_of(name)),
            Kind::Derived => Some(name),
        };
        let Some(file) = file else {
            let message = format!(
                "the database `{}` is not granted: none of this name is kept in `{}`",
                name.escape_debug(),
                self.location().trim_end_matches('/')
            );
            return Err(Error::new(ErrorCode::NotGranted, message));
        };
        self.local.databases.open(self.files.layout(), file, kind, create)
    }
}
