//! Named places: directories and database files that need not exist before their first use. Also
//! the places of a family, and the location of its registry.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use agent_memory_storage::{Error, ErrorCode};
use serde::{Deserialize, Serialize};

use super::registry::FileLocation;
use crate::{Kind, Layout, OWN, canonical, display, io_error, is_absolute, kind_at};

/// A place to be granted under a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlace {
    /// The component's name for the place.
    pub label: String,
    /// The form of the place on the file system.
    pub kind: NamedPlaceKind,
    /// The path of the place. A missing directory or file is created at its first use.
    pub path: PathBuf,
    /// Whether only the owner may read the place (modes 700 and 600). Otherwise modes follow the umask.
    pub is_private: bool,
    /// The names of the place's kept databases. A place that is a file has one: the component's name for
    /// the database, whatever the file is called.
    pub databases: Vec<String>,
}

/// The form of a named place on the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedPlaceKind {
    /// A directory with documents and databases.
    Directory,
    /// A database file, without documents. Its lock directory is beside it.
    File,
}

/// A granted named place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GrantedPlace {
    /// The directory, or the directory of the file. The part that existed at the grant is canonical.
    pub directory: PathBuf,
    /// The name of the file. `None` if the place is a directory.
    file: Option<String>,
    /// The path as it was given, for messages.
    location: String,
    is_private: bool,
    databases: Vec<String>,
    /// Whether the lock directory needs a `.gitignore`, also in a private place.
    hides_lock: bool,
}

impl GrantedPlace {
    pub(super) fn new(place: NamedPlace) -> Result<Self, Error> {
        let (directory, file, location) = match place.kind {
            NamedPlaceKind::Directory => {
                let path = NewPath { label: &place.label, path: &place.path };
                (path.directory(&path.absolute()?)?, None, path.location()?)
            }
            NamedPlaceKind::File => {
                let FileLocation { directory, name, location } =
                    FileLocation::new(&place.label, &place.path)?;
                (directory, Some(name), location)
            }
        };
        let NamedPlace { is_private, databases, .. } = place;
        let hides_lock = !is_private;
        Ok(GrantedPlace { directory, file, location, is_private, databases, hides_lock })
    }

    /// A place of a family, by its canonical directory.
    pub(super) fn from_group(directory: PathBuf, is_private: bool, databases: Vec<String>) -> Self {
        let location = display(&directory);
        GrantedPlace { directory, file: None, location, is_private, databases, hides_lock: true }
    }

    /// The layout of the place.
    pub(super) fn layout(&self) -> Result<Layout, Error> {
        let GrantedPlace { directory, file, location, is_private, databases, .. } = self;
        let layout = match file {
            Some(file) => Layout::from_file(directory, file, location, *is_private)?,
            None => Layout::from_directory(directory, location, *is_private, databases)?,
        };
        Ok(if self.hides_lock { layout.hiding_lock() } else { layout })
    }

    /// The file name of a database in the directory. None if the place does not have the database.
    pub fn file_of<'a>(&'a self, database: &'a str) -> Option<&'a str> {
        let is_granted = self.databases.iter().any(|own| own == database);
        is_granted.then(|| self.file.as_deref().unwrap_or(database))
    }

    /// The path of the directory or the file.
    pub(super) fn path(&self) -> PathBuf {
        self.file.iter().fold(self.directory.clone(), |directory, file| directory.join(file))
    }
}

impl FileLocation {
    /// Follows the symbolic links in the existing part of a path.
    pub(super) fn new(label: &str, path: &Path) -> Result<Self, Error> {
        let path = NewPath { label, path };
        let location = path.location()?;
        let (directory, name) = path.file(&path.absolute()?)?;
        Ok(FileLocation { directory, name, location })
    }
}

/// A path to be granted, and its label for messages.
struct NewPath<'a> {
    label: &'a str,
    path: &'a Path,
}

impl NewPath<'_> {
    fn refused(&self, reason: &str) -> Error {
        let label = self.label;
        let shown = self.path.display();
        let message = format!("cannot keep {label} in `{shown}`: {reason}");
        Error::new(ErrorCode::InvalidPath, message)
    }

    /// The error if a file or directory of another kind is at the path. It has a `detail`, so
    /// [`may_pass`] is true for it: a person may move the obstacle away while the host runs.
    fn occupied(&self, reason: &str, detail: &str) -> Error {
        Error { detail: Some(detail.to_owned()), ..self.refused(reason) }
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        io_error(error, &format!("keep {} in `{}`", self.label, self.path.display()))
    }

    fn absolute(&self) -> Result<PathBuf, Error> {
        if is_absolute(self.path) {
            return Ok(self.path.to_owned());
        }
        std::path::absolute(self.path).map_err(|error| self.failed(&error))
    }

    /// The path as it was given, for messages.
    fn location(&self) -> Result<String, Error> {
        if self.path.to_str().is_none_or(|path| path.contains('\0')) {
            return Err(self.refused("its path is not UTF-8, or has a NUL character"));
        }
        let location = display(self.path);
        let trimmed = location.trim_end_matches('/');
        Ok(if trimmed.is_empty() { "/" } else { trimmed }.to_owned())
    }

    /// The path of a directory, with its existing part made canonical.
    fn directory(&self, absolute: &Path) -> Result<PathBuf, Error> {
        for above in absolute.ancestors() {
            let canonical = match canonical(above) {
                Ok(canonical) => canonical,
                Err(error) if is_missing(error.kind()) => continue,
                Err(error) => return Err(self.failed(&error)),
            };
            let rest = absolute.strip_prefix(above).expect("an ancestor of it");
            if rest.components().any(|name| name == Component::ParentDir) {
                return Err(self.refused("it has a `..` below a directory that does not exist"));
            }
            if kind_at(&canonical, false) != Ok(Kind::Directory) {
                let reason = "something other than a directory stands there: move it away";
                return Err(self.occupied(reason, "ENOTDIR"));
            }
            let path = canonical.join(rest);
            if path.to_str().is_none() {
                return Err(self.refused("it leads to a path that is not UTF-8"));
            }
            return Ok(path);
        }
        Err(self.refused("there is no directory above it"))
    }

    /// The canonical directory of a file and its name. If the file exists, links are followed.
    fn file(&self, absolute: &Path) -> Result<(PathBuf, String), Error> {
        let last = absolute.as_os_str().as_encoded_bytes().last();
        let is_directory = last.is_some_and(|&last| std::path::is_separator(last.into()));
        let (Some(parent), Some(name), false) =
            (absolute.parent(), absolute.file_name(), is_directory)
        else {
            return Err(self.refused("it is the path of a directory: name a file in it"));
        };
        let (directory, name) = match canonical(absolute) {
            Ok(canonical) if kind_at(&canonical, false) != Ok(Kind::File) => {
                let reason = "something other than a file stands there: move it away";
                return Err(self.occupied(reason, "EISDIR"));
            }
            Ok(canonical) => {
                let directory = canonical.parent().map(Path::to_owned);
                (directory.unwrap_or_default(), canonical.file_name().map(ToOwned::to_owned))
            }
            Err(error) if is_missing(error.kind()) => {
                (self.directory(parent)?, Some(name.to_owned()))
            }
            Err(error) => return Err(self.failed(&error)),
        };
        let name = name.and_then(|name| name.into_string().ok());
        let Some(name) = name.filter(|_| directory.to_str().is_some()) else {
            return Err(self.refused("it leads to a path that is not UTF-8"));
        };
        if name.eq_ignore_ascii_case(OWN) {
            return Err(self.refused("this name is for the lock: use another"));
        }
        Ok((directory, name))
    }
}

/// Whether an error of a grant comes from the file system as it is now, not from the path itself: the
/// same grant may succeed later.
pub(super) fn may_pass(error: &Error) -> bool {
    error.detail.is_some()
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
