//! Named places: directories that need not exist until something is kept in them.

use super::directory::Directory;
use super::lock::LockDirectory;
use super::tree::{Base, Tree, TreeParts};
use super::{Error, ErrorCode, Shared};
use std::io::ErrorKind;
use std::path::{Component, PathBuf};
use std::sync::Arc;

/// The host's own directory in it: the lock, bookkeeping and derived databases.
const OWN: &str = ".agent-memory";

/// What SQLite puts beside the file of a database.
pub(super) const BESIDE_DATABASE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A directory to be granted under a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlace {
    /// What the component calls it.
    pub label: String,
    /// It need not exist: what is missing is made when something is kept.
    pub directory: PathBuf,
    /// Whether all in it is for its owner alone (modes 700 and 600). Otherwise it follows the umask.
    pub is_private: bool,
    /// The names of the databases that may be kept in it.
    pub databases: Vec<String>,
}

/// A named place that is granted.
#[derive(Debug)]
pub(super) struct GrantedPlace {
    /// Canonical as far as it existed when it was granted.
    pub path: PathBuf,
    /// As it was given.
    location: String,
    is_private: bool,
    pub databases: Vec<String>,
}

impl GrantedPlace {
    pub fn new(place: NamedPlace) -> Result<Self, Error> {
        let NamedPlace { label, directory, is_private, databases } = place;
        let shown = directory.display();
        let refused = |reason: &str| {
            let message = format!("cannot keep {label} in `{shown}`: {reason}");
            Error::new(ErrorCode::InvalidPath, message)
        };
        let failed = |error| Error::from_io(&error, &format!("keep {label} in `{shown}`"));
        let Some(location) = directory.to_str().filter(|path| !path.contains('\0')) else {
            return Err(refused("its path is not UTF-8, or has a NUL character"));
        };
        let absolute = std::path::absolute(&directory).map_err(failed)?;
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
            return Ok(GrantedPlace { path, location, is_private, databases });
        }
        Err(refused("there is no directory above it"))
    }

    pub fn tree(self: &Arc<Self>, storage: &Arc<Shared>) -> Result<Tree, Error> {
        let failed = |errno| Error::from_errno(errno, &format!("open `{}`", self.location));
        let (directory, names) = Directory::open_nearest(&self.path).map_err(failed)?;
        let names: Vec<&str> = names.into_iter().filter_map(|name| name.to_str()).collect();
        let root = Base::of(directory).below(&names);
        let own = root.below(&[OWN]);
        Ok(Tree(Arc::new(TreeParts {
            documents: root,
            bookkeeping: own.below(&["bookkeeping"]),
            lock: Arc::new(LockDirectory {
                base: own,
                path: self.path.join(OWN),
                hide: !self.is_private,
                private: self.is_private,
            }),
            location: self.location.clone(),
            storage: storage.clone(),
            named: Some(self.clone()),
        })))
    }

    /// Whether no path of a document begins with this name, in any case. A file of a database must
    /// not be opened beside SQLite: closing it would let go of SQLite's locks.
    pub fn owns(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let is_of = |database: &String| {
            let suffix = name.strip_prefix(&database.to_ascii_lowercase());
            suffix.is_some_and(|suffix| suffix.is_empty() || BESIDE_DATABASE.contains(&suffix))
        };
        name == OWN || self.databases.iter().any(is_of)
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
