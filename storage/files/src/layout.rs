//! The layout of a place on the file system: where its documents and its lock directory are, and which
//! names the host reserves.

use std::io::Write;
use std::path::{Path, PathBuf};

use agent_memory_storage::{Area, EntryKind, Error, ErrorCode};

use super::base::Base;
use super::directory::{Directory, Kind, Metadata, kind_at};
use super::errno::{Errno, errno_of};
use super::error::errno_error;
use super::repository::Repository;

/// The host's own directory in a place, for the lock, bookkeeping and derived databases.
pub const OWN: &str = ".agent-memory";

/// The suffixes of the files that SQLite keeps beside a database.
pub const BESIDE_DATABASE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The names, in lower case, that a host keeps for itself at the root of a place with these databases.
///
/// Only SQLite may open the file of a database: if this process opened and closed it otherwise, the
/// system would release SQLite's locks on it.
pub fn reserved_names(databases: &[String]) -> Vec<String> {
    let mut reserved = vec![OWN.to_owned()];
    for database in databases {
        let database = database.to_ascii_lowercase();
        reserved.extend(BESIDE_DATABASE.map(|suffix| format!("{database}{suffix}")));
        reserved.push(database);
    }
    reserved
}

/// Where a place has its documents and its lock directory. Directories are created at their first use.
#[derive(Clone, Debug)]
pub struct Layout {
    documents: Base,
    lock: Base,
    /// The canonical path of the directory of documents or, if the place is a file, of its directory.
    path: PathBuf,
    /// The canonical path of the lock directory.
    lock_path: PathBuf,
    /// The place as its caller named it, for messages.
    location: String,
    is_private: bool,
    /// Whether the lock directory needs a `.gitignore`.
    hides_lock: bool,
    /// The names that are reserved at the root, in lower case. `None`: every name is reserved.
    reserved: Option<Vec<String>>,
}

impl Layout {
    /// The layout of a repository.
    ///
    /// # Errors
    ///
    /// `permission`, `io`.
    pub fn from_repository(repository: Repository) -> Result<Self, Error> {
        let open = |path: &Path| {
            Directory::open(path)
                .map_err(|errno| errno_error(errno, &format!("open `{}`", repository.named)))
        };
        let top_level = Base::new(open(&repository.top_level)?);
        Ok(Layout {
            documents: top_level.below(&[".github", "agent-memory"]),
            lock: Base::new(open(&repository.lock_parent)?).below(&[repository.lock_name]),
            path: repository.top_level.join(".github/agent-memory"),
            lock_path: repository.lock_directory(),
            location: format!("{}/.github/agent-memory", repository.named.trim_end_matches('/')),
            is_private: false,
            hides_lock: repository.hides_lock,
            reserved: Some(Vec::new()),
        })
    }

    /// The layout of a directory, given by its canonical path, which need not exist. The names of
    /// its databases are reserved. `location` is its path for messages.
    ///
    /// # Errors
    ///
    /// `invalid-path`, `permission`, `io`.
    pub fn from_directory(
        path: &Path,
        location: &str,
        is_private: bool,
        databases: &[String],
    ) -> Result<Self, Error> {
        let documents = nearest(path, location)?;
        Ok(Layout {
            lock: documents.below(&[OWN]),
            path: path.to_owned(),
            lock_path: path.join(OWN),
            documents,
            location: location.to_owned(),
            is_private,
            hides_lock: !is_private,
            reserved: Some(reserved_names(databases)),
        })
    }

    /// The layout of a place that is one database file, given by its canonical directory and its
    /// name; neither need exist. The directory does not belong to the place, so every name in it is
    /// reserved and the place has no documents. Its lock directory is `.agent-memory/<name>`.
    ///
    /// # Errors
    ///
    /// `invalid-path`, `permission`, `io`.
    pub fn from_file(
        directory: &Path,
        name: &str,
        location: &str,
        is_private: bool,
    ) -> Result<Self, Error> {
        let documents = nearest(directory, location)?;
        Ok(Layout {
            lock: documents.below(&[OWN, name]),
            path: directory.to_owned(),
            lock_path: directory.join(OWN).join(name),
            documents,
            location: location.to_owned(),
            is_private,
            hides_lock: !is_private,
            reserved: None,
        })
    }

    /// The layout of a registry, given by its canonical directory and its name. The registry is a
    /// document at the root; its lock directory is `.agent-memory/<name>` beside it.
    ///
    /// # Errors
    ///
    /// `invalid-path`, `permission`, `io`.
    pub fn from_registry(directory: &Path, name: &str, location: &str) -> Result<Self, Error> {
        let of_file = Self::from_file(directory, name, location, true)?;
        Ok(Layout { hides_lock: true, reserved: Some(vec![OWN.to_owned()]), ..of_file })
    }

    /// This layout, but Git ignores the lock directory.
    #[must_use]
    pub fn hiding_lock(self) -> Self {
        Layout { hides_lock: true, ..self }
    }

    /// The canonical path of a name at the root of the documents.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether the place may have databases.
    pub(crate) fn has_databases(&self) -> bool {
        self.reserved.as_ref().is_none_or(|names| names.iter().any(|name| name != OWN))
    }

    /// A database as a person names it, for messages only.
    pub fn location_of(&self, database: &str) -> String {
        if self.has_documents() {
            format!("{}/{database}", self.location.trim_end_matches('/'))
        } else {
            self.location.clone()
        }
    }

    /// Whether the place has documents. A database file has none.
    pub fn has_documents(&self) -> bool {
        self.reserved.is_some()
    }

    /// The root of an area.
    pub fn area(&self, area: Area) -> Base {
        match area {
            Area::Documents => self.documents.clone(),
            Area::Bookkeeping => self.lock.below(&["bookkeeping"]),
        }
    }

    /// The lock directory.
    pub fn lock(&self) -> &Base {
        &self.lock
    }

    /// The canonical path of the lock directory. Places with the same path share one lock.
    pub fn lock_path(&self) -> &Path {
        &self.lock_path
    }

    /// The place as its caller named it, for messages and answers.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Whether only the owner may read the place (modes 700 and 600). Otherwise modes follow the
    /// umask.
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    /// Whether the host reserves this name at the root of the documents. Case is ignored.
    pub fn is_reserved(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.reserved.as_ref().is_none_or(|reserved| reserved.contains(&name))
    }

    /// Opens the lock directory and hides it from Git if necessary. Creates missing directories.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn create_lock_directory(&self, durable: bool) -> Result<Directory, Errno> {
        let directory = self.lock.create(self.is_private, durable)?;
        // A `.gitignore` that a person wrote is kept.
        let is_empty = |found: Metadata| found.kind == EntryKind::File && found.size == 0;
        if self.hides_lock && directory.metadata(".gitignore")?.is_none_or(is_empty) {
            let mode = if self.is_private { 0o600 } else { 0o666 };
            let mut file = directory.overwrite_file(".gitignore", mode)?;
            file.write_all(b"*\n").map_err(|error| errno_of(&error))?;
        }
        Ok(directory)
    }
}

/// The error for a lock directory that cannot be created. If something else is in the way, the message
/// has its path.
pub fn lock_directory_error(layout: &Layout, errno: Errno) -> Error {
    if !matches!(errno, Errno::NOTDIR | Errno::LOOP) {
        return errno_error(errno, &format!("lock `{}`", layout.location()));
    }
    let lock = layout.lock_path();
    let mut ways: Vec<&Path> = lock.ancestors().collect();
    ways.reverse();
    let is_obstacle = |path: &&Path| kind_at(path, false).is_ok_and(|kind| kind != Kind::Directory);
    let obstacle = ways.into_iter().find(is_obstacle).unwrap_or(lock).display();
    let message = format!(
        "`{obstacle}` is not a directory (a symbolic link is not followed), but the lock of `{}` \
         needs one there: move it away",
        layout.location()
    );
    Error::new(ErrorCode::InvalidPath, message)
}

/// The base of a directory that need not exist, by its canonical path.
fn nearest(path: &Path, location: &str) -> Result<Base, Error> {
    let opened = Directory::open_nearest(path);
    let (directory, names) =
        opened.map_err(|errno| errno_error(errno, &format!("open `{location}`")))?;
    let names: Vec<&str> = names.into_iter().filter_map(|name| name.to_str()).collect();
    Ok(Base::new(directory).below(&names))
}
