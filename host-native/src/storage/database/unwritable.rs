//! A database where nothing can be written: on a medium that can only be read, or in a directory of
//! somebody else's.
//!
//! SQLite itself reads a file that it may not write. In the mode of a write-ahead log it needs the
//! log's index beside it (`-shm`), though, and makes that where there is none. Where it cannot, and
//! no log was left, the file is all there is, and it is read as if nobody changed it. Whether
//! somebody did is looked at after every read.

use super::super::directory::{Directory, Metadata};
use super::super::lock_file::result_code;
use super::super::named::BESIDE_DATABASE;
use super::super::tree::EntryKind;
use super::super::{Error, ErrorCode};
use super::Session;
use super::connection::Link;
use rusqlite::ffi;
use rustix::io::Errno;
use std::fmt::Write;
use std::path::Path;

/// Where changes stand that are not in the file yet, or not any more.
const JOURNALS: [&str; 2] = ["-wal", "-journal"];

/// A file that is read as if nobody changed it.
#[derive(Debug)]
pub(super) struct Unchanging {
    directory: Directory,
    name: String,
    before: Metadata,
}

impl Unchanging {
    /// Whether nobody has changed it since, so that what was read is what it holds.
    pub fn holds(&self) -> bool {
        matches!(self.directory.metadata(&self.name), Ok(Some(now)) if now == self.before)
            && matches!(journal_of(&self.name, &self.directory), Ok(None))
    }
}

/// The name of what holds changes that are not in the file.
fn journal_of(database: &str, directory: &Directory) -> Result<Option<&'static str>, Errno> {
    for suffix in JOURNALS {
        if directory.metadata(&format!("{database}{suffix}"))?.is_some_and(|found| found.size > 0) {
            return Ok(Some(suffix));
        }
    }
    Ok(None)
}

impl Session {
    /// Opens a connection where SQLite could not, for what `error` says, if that is for the lack of
    /// what it cannot make.
    pub(super) fn connect_to_unwritable(
        &self,
        directory: &Directory,
        error: &rusqlite::Error,
    ) -> Result<Link, Error> {
        let attempt = format!("open the database `{}`", self.location);
        let failed = |errno| Error::from_errno(errno, &attempt);
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
        self.link_to(Some(unchanging))
            .map_err(|failure| failure.report(&self.location, &self.watch))
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
