//! Named places: directories that may not exist before their first use.

use agent_memory_storage::{Error, ErrorCode};
use agent_memory_storage_files::{Layout, io_error};
use std::io::ErrorKind;
use std::path::{Component, PathBuf};

/// A directory to be granted under a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlace {
    /// The component's name for the place.
    pub label: String,
    /// The directory. It is created at its first use.
    pub directory: PathBuf,
    /// Whether only the owner may read it (modes 700 and 600). Otherwise modes follow the umask.
    pub is_private: bool,
    /// The names of its kept databases.
    pub databases: Vec<String>,
}

/// A granted named place.
#[derive(Debug)]
pub(super) struct GrantedPlace {
    /// The path of the directory. The part that existed at the grant is canonical.
    pub path: PathBuf,
    /// The path as it was given, for messages.
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

    /// The layout of the place.
    pub fn layout(&self) -> Result<Layout, Error> {
        Layout::of_directory(&self.path, &self.location, self.is_private, &self.databases)
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
