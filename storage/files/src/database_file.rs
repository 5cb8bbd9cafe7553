//! The file of a SQLite database in a place. Only SQLite opens it.

use std::path::PathBuf;

use agent_memory_storage::database::Kind;
use agent_memory_storage::{Area, EntryKind, Error, ErrorCode};

use super::base::Base;
use super::directory::Directory;
use super::durability::Durability;
use super::errno::Errno;
use super::error::errno_error;
use super::layout::{BESIDE_DATABASE, Layout};
use super::path;

/// The directory of derived databases in a lock directory.
const DERIVED: &str = "derived";

/// The size of SQLite's pages, in bytes. SQLite reads a page that was cut as if zeros followed.
const PAGE_SIZE: u64 = 4096;

/// The file of a database in a place.
#[derive(Clone, Debug)]
pub struct DatabaseFile {
    layout: Layout,
    /// The kind of the database.
    pub kind: Kind,
    base: Base,
    /// The name of the file.
    pub name: String,
    /// The canonical path of the file.
    pub path: PathBuf,
    /// The file as a person names it, for messages.
    pub location: String,
}

impl DatabaseFile {
    /// The file of the database `name`. A kept database, which has data of the user, is a file of the
    /// place; the caller has checked that it is granted. A derived database, such as a search index, is
    /// in the lock directory.
    ///
    /// # Errors
    ///
    /// `invalid-path` if the name of a derived database does not match `[a-z0-9][a-z0-9._-]*`, is not a
    /// path segment, or ends in `-wal`, `-shm` or `-journal`.
    pub fn new(layout: &Layout, name: &str, kind: Kind) -> Result<Self, Error> {
        let place = layout.location().trim_end_matches('/');
        let (base, path, location) = match kind {
            Kind::Kept => {
                (layout.area(Area::Documents), layout.path(name), layout.location_of(name))
            }
            Kind::Derived => {
                check_derived(name)?;
                // The message must not show the path of the lock directory: it may be outside the
                // grants.
                let location = format!("{place}: {DERIVED}/{name}");
                let path = layout.lock_path().join(DERIVED).join(name);
                (layout.lock().below(&[DERIVED]), path, location)
            }
        };
        Ok(DatabaseFile {
            layout: layout.clone(),
            kind,
            base,
            name: name.to_owned(),
            path,
            location,
        })
    }

    /// The layout of the database's place.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Opens the directory of the file, after a check that the file exists. With `create`, first makes
    /// a missing file, empty; `create` is the name of a temporary file that no other process uses. It
    /// also replaces a derived database that was cut within a page by an empty one.
    ///
    /// # Errors
    ///
    /// `not-found` if the file is missing and `create` is `None`; `corrupted` if a derived
    /// database was cut within a page and `create` is `None`; `invalid-path` if something else has
    /// its name; `read-only` or `no-space` if it cannot be made; `permission`, `io`.
    pub fn directory(
        &self,
        create: Option<&str>,
        durability: Durability,
    ) -> Result<Directory, Error> {
        let is_synced = self.kind == Kind::Kept && durability == Durability::Full;
        let failed = |errno| errno_error(errno, &format!("open the database `{}`", self.location));
        let directory = match (self.base.find(&[])?, create) {
            (Some(directory), _) => directory,
            (None, Some(_)) => {
                self.make_directory(is_synced).map_err(|errno| self.not_created(errno))?
            }
            (None, None) => return Err(self.missing()),
        };
        match (directory.metadata(&self.name).map_err(failed)?, create) {
            (Some(found), _) if found.kind != EntryKind::File => return Err(self.not_a_file("")),
            (Some(found), create) if self.kind == Kind::Derived && found.size % PAGE_SIZE != 0 => {
                let temporary = create.ok_or_else(|| self.cut())?;
                self.remove_from(&directory)?;
                let made = self.create_in(&directory, temporary, is_synced);
                made.map_err(|errno| self.not_created(errno))?;
            }
            (Some(_), _) => {}
            (None, Some(temporary)) => {
                let made = self.create_in(&directory, temporary, is_synced);
                made.map_err(|errno| self.not_created(errno))?;
            }
            (None, None) => return Err(self.missing()),
        }
        Ok(directory)
    }

    /// Replaces the file of a derived database by an empty one, because SQLite cannot read it. `temporary`
    /// is the name of a file that no other process uses.
    ///
    /// # Errors
    ///
    /// As [`directory`](Self::directory).
    ///
    /// # Panics
    ///
    /// For a kept database.
    pub fn replace(&self, temporary: &str, durability: Durability) -> Result<(), Error> {
        assert_eq!(self.kind, Kind::Derived, "what is kept is never removed");
        let directory = self.directory(None, durability)?;
        self.remove_from(&directory)?;
        self.directory(Some(temporary), durability).map(drop)
    }

    /// Removes the file, and SQLite's files beside it.
    fn remove_from(&self, directory: &Directory) -> Result<(), Error> {
        for suffix in [""].into_iter().chain(BESIDE_DATABASE) {
            match directory.remove_file(&format!("{}{suffix}", self.name)) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(self.not_created(errno)),
            }
        }
        Ok(())
    }

    fn make_directory(&self, is_synced: bool) -> Result<Directory, Errno> {
        if self.kind == Kind::Derived {
            // The lock directory must be hidden from Git before it has any file.
            self.layout.create_lock_directory(false)?;
        }
        self.base.create(self.layout.is_private(), is_synced)
    }

    /// Creates an empty file. In a private place it has mode 600 from the start.
    ///
    /// The file is closed before it gets its name: closing a file releases all locks that this
    /// process has on it, including SQLite's.
    fn create_in(
        &self,
        directory: &Directory,
        temporary: &str,
        is_synced: bool,
    ) -> Result<(), Errno> {
        let mode = if self.layout.is_private() { 0o600 } else { 0o666 };
        drop(directory.create_file(temporary, mode)?);
        let linked = directory.link(temporary, &self.name);
        let removed = directory.remove_file(temporary);
        match linked {
            // Another process may have created the file just now.
            Ok(()) | Err(Errno::EXIST) => removed?,
            Err(errno) => return Err(errno),
        }
        if is_synced { directory.sync() } else { Ok(()) }
    }

    /// The error if the database does not exist.
    pub fn missing(&self) -> Error {
        let message = format!("there is no database `{}` yet", self.location);
        Error::new(ErrorCode::NotFound, message)
    }

    fn cut(&self) -> Error {
        let message = format!("`{}` was cut: delete it, and it is made anew", self.location);
        Error::new(ErrorCode::Corrupted, message)
    }

    /// The error if the database, or its file with this suffix, is not a file.
    pub fn not_a_file(&self, suffix: &str) -> Error {
        let message = format!(
            "`{}{suffix}` is not a file (a symbolic link is not followed): move it away",
            self.location
        );
        Error::new(ErrorCode::InvalidPath, message)
    }

    fn not_created(&self, errno: Errno) -> Error {
        let error = errno_error(errno, &format!("create the database `{}`", self.location));
        match error.code {
            ErrorCode::Permission => Error { code: ErrorCode::ReadOnly, ..error },
            _ => error,
        }
    }
}

fn check_derived(name: &str) -> Result<(), Error> {
    path::document(name)?;
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_later = |byte: u8| is_first(byte) || b"._-".contains(&byte);
    let is_beside = BESIDE_DATABASE.iter().any(|suffix| name.ends_with(suffix));
    if is_first(name.as_bytes()[0]) && name.bytes().all(is_later) && !is_beside {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::InvalidPath,
        format!(
            "`{name}` cannot name a derived database: begin with one of `a-z0-9`, go on with any of \
             `a-z0-9._-`, and do not end like a file that SQLite adds to another"
        ),
    ))
}
