//! Databases where nothing can be written: on a read-only medium, or in a directory of another user.
//!
//! SQLite itself reads a file that it may not write. In WAL mode it also needs the log's index
//! (`-shm`) beside it, and creates it where it is missing. Where it cannot, and no log was left, the
//! file alone is read as one that nobody changes (SQLite's `immutable`). After every read the file is
//! looked at again, so that a change is found.

use std::fmt::Write;
use std::path::Path;

use agent_memory_storage::{EntryKind, Error, ErrorCode};
use agent_memory_storage_files::{BESIDE_DATABASE, Directory, Metadata, errno_error};
use agent_memory_storage_lock::result_code;
use rusqlite::ffi;
use rustix::io::Errno;

use super::Session;
use super::connection::Connection;

/// The suffixes of the files with changes that the database file does not have.
const JOURNALS: [&str; 2] = ["-wal", "-journal"];

/// A file that is read as one that nobody changes.
#[derive(Debug)]
pub(super) struct Unchanging {
    directory: Directory,
    name: String,
    before: Metadata,
}

impl Unchanging {
    /// Whether nobody has changed it since.
    pub fn holds(&self) -> bool {
        matches!(self.directory.metadata(&self.name), Ok(Some(now)) if now == self.before)
            && matches!(journal_of(&self.name, &self.directory), Ok(None))
    }
}

/// The suffix of a file with changes that the database file does not have.
fn journal_of(database: &str, directory: &Directory) -> Result<Option<&'static str>, Errno> {
    for suffix in JOURNALS {
        if directory.metadata(&format!("{database}{suffix}"))?.is_some_and(|found| found.size > 0) {
            return Ok(Some(suffix));
        }
    }
    Ok(None)
}

impl Session {
    /// Opens a connection where SQLite could not, as `error` says, because it could not create the
    /// log's index.
    pub(super) fn connect_to_unwritable(
        &self,
        directory: &Directory,
        error: &rusqlite::Error,
    ) -> Result<Connection, Error> {
        let attempt = format!("open the database `{}`", self.location);
        let failed = |errno| errno_error(errno, &attempt);
        let Some(before) = directory.metadata(&self.name).map_err(failed)? else {
            return Err(self.missing());
        };
        self.check_reach(directory, "").map_err(failed)?;
        for suffix in BESIDE_DATABASE {
            match directory.metadata(&format!("{}{suffix}", self.name)).map_err(failed)? {
                None => {}
                Some(found) if found.kind != EntryKind::File => return Err(self.not_a_file(suffix)),
                Some(_) => self.check_reach(directory, suffix).map_err(failed)?,
            }
        }
        let refusal = match directory.writable() {
            Err(errno @ (Errno::ROFS | Errno::ACCESS | Errno::PERM)) => errno,
            _ => return Err(self.failed(error)),
        };
        if let Some(journal) = journal_of(&self.name, directory).map_err(failed)? {
            return Err(self.left_in(journal, refusal, error));
        }
        let unchanging =
            Unchanging { directory: directory.clone(), name: self.name.clone(), before };
        self.connect_with(Some(unchanging))
            .map_err(|failure| failure.report(&self.location, &self.interrupt))
    }

    /// Whether this process may read what it finds.
    fn check_reach(&self, directory: &Directory, suffix: &str) -> Result<(), Errno> {
        match directory.readable_file(&format!("{}{suffix}", self.name)) {
            Err(errno @ (Errno::ACCESS | Errno::PERM)) => Err(errno),
            _ => Ok(()),
        }
    }

    fn left_in(&self, journal: &str, refusal: Errno, error: &rusqlite::Error) -> Error {
        let location = &self.location;
        let message = format!(
            "cannot read `{location}`: a program has left changes in `{location}{journal}`, which \
             only a process that may write there can bring in: let one open it, or copy both \
             files to where this one may write"
        );
        let code = match refusal {
            Errno::ROFS => ErrorCode::ReadOnly,
            _ => ErrorCode::Permission,
        };
        Error { code, message, detail: result_code(error) }
    }
}

pub(super) fn cannot_open(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ffi::ErrorCode::CannotOpen
                | ffi::ErrorCode::ReadOnly
                | ffi::ErrorCode::PermissionDenied
        )
    )
}

/// The path as a URI that says that nobody changes the file.
pub(super) fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte as char);
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}
