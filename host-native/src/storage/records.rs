//! The directory of records: a private place, which need not exist until something is kept.

use super::directory::Directory;
use super::lock::LockDirectory;
use super::tree::{Base, Tree, TreeParts};
use super::{Error, ErrorCode, Shared};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The database of all agents' records.
pub(super) const DATABASE: &str = "memories.db";

/// The host's own directory in it: locks and bookkeeping.
const PRIVATE: &str = ".agent-memory";

/// A file of a database must not be opened beside SQLite: closing it would let go of SQLite's
/// locks.
const OWN_NAMES: [&str; 5] =
    [PRIVATE, DATABASE, "memories.db-wal", "memories.db-shm", "memories.db-journal"];

/// A granted directory of records.
#[derive(Clone, Debug)]
pub(super) struct Records {
    /// Canonical as far as it existed when it was granted.
    path: PathBuf,
    /// As it was given.
    location: String,
}

impl Records {
    /// Grants a directory that need not exist.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let shown = directory.display();
        let refused = |reason: &str| {
            Error::new(
                ErrorCode::InvalidPath,
                format!("cannot keep records in `{shown}`: {reason}"),
            )
        };
        let failed = |error| Error::from_io(&error, &format!("keep records in `{shown}`"));
        let Some(location) = directory.to_str().filter(|path| !path.contains('\0')) else {
            return Err(refused("its path is not UTF-8, or has a NUL character"));
        };
        let absolute = std::path::absolute(directory).map_err(failed)?;
        for above in absolute.ancestors() {
            let canonical = match above.canonicalize() {
                Ok(canonical) => canonical,
                Err(error) if is_missing(error.kind()) => continue,
                Err(error) => return Err(failed(error)),
            };
            let rest = absolute.strip_prefix(above).expect("an ancestor of it");
            if rest.components().any(|name| name == Component::ParentDir) {
                return Err(refused("it has a `..` below a directory that does not exist"));
            }
            if !canonical.is_dir() {
                return Err(refused("something other than a directory stands there: move it away"));
            }
            let path = canonical.join(rest);
            if path.to_str().is_none() {
                return Err(refused("it leads to a path that is not UTF-8"));
            }
            let trimmed = location.trim_end_matches('/');
            let location = if trimmed.is_empty() { "/" } else { trimmed }.to_owned();
            return Ok(Records { path, location });
        }
        Err(refused("there is no directory above it"))
    }

    pub fn tree(&self, storage: &Arc<Shared>) -> Result<Tree, Error> {
        let root = self.base()?;
        let private = root.below(&[PRIVATE]);
        Ok(Tree(Arc::new(TreeParts {
            documents: root,
            bookkeeping: private.below(&["bookkeeping"]),
            lock: Arc::new(LockDirectory {
                base: private,
                path: self.path.join(PRIVATE),
                after: None,
                hide: false,
                private: true,
            }),
            location: self.location.clone(),
            storage: storage.clone(),
            private: true,
            own_names: &OWN_NAMES,
        })))
    }

    /// The lock of those who write to the database.
    pub fn database_lock(&self) -> Result<LockDirectory, Error> {
        Ok(LockDirectory {
            base: self.base()?.below(&[PRIVATE, "database"]),
            path: self.path.join(PRIVATE).join("database"),
            after: Some(self.path.join(PRIVATE)),
            hide: false,
            private: true,
        })
    }

    /// The directory, as far as it exists now.
    pub fn base(&self) -> Result<Base, Error> {
        let attempt = || format!("open `{}`", self.location);
        let (directory, names) = Directory::open_nearest(&self.path)
            .map_err(|errno| Error::from_errno(errno, &attempt()))?;
        let names: Vec<&str> = names.into_iter().filter_map(|name| name.to_str()).collect();
        Ok(Base::of(directory).below(&names))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn location(&self) -> &str {
        &self.location
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
