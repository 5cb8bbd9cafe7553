//! Named places: directories that need not exist until something is kept in them.

use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{Layout, io_error};
use std::io::ErrorKind;
use std::path::{Component, PathBuf};

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
        let failed = |error| io_error(&error, &format!("keep {label} in `{shown}`"));
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

    /// Where its parts are.
    pub fn layout(&self) -> Result<Layout, Error> {
        Layout::of_directory(&self.path, &self.location, self.is_private, &self.databases)
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
