//! Reading and writing the files of clients.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Resolves a path that is a symbolic link: people may keep their settings elsewhere and link to them.
/// A rename would replace the link.
pub(crate) fn behind_links(file: &Path) -> Result<PathBuf, Error> {
    match file.symlink_metadata() {
        Ok(found) if found.is_symlink() => file.canonicalize().map_err(|_| {
            let reason = "it is a link that leads nowhere: make its target, or remove it";
            malformed(file, reason.to_owned())
        }),
        _ => Ok(file.to_owned()),
    }
}

pub(crate) fn read(file: &Path) -> Result<Option<String>, Error> {
    match fs::metadata(file) {
        // Reading a FIFO would block for ever.
        Ok(found) if !found.is_file() => {
            return Err(malformed(file, "it is no file: name another one".to_owned()));
        }
        _ => {}
    }
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("read", file, error)),
    };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| malformed(file, "it is not UTF-8: save it as UTF-8".to_owned()))
}

pub(crate) fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Writes a new file with the mode and the owner of another one, and syncs it.
pub(crate) fn write_new(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Private, since the entries of other servers may have passwords.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    file.write_all(text.as_bytes())?;
    if let Ok(found) = fs::metadata(like) {
        // Only root may change the owner of a file.
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let _ = fchown(&file, Some(found.uid()), Some(found.gid()));
        }
        let permissions: Permissions = found.permissions();
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

pub(crate) fn backup_of(file: &Path) -> PathBuf {
    beside(file, "agent-memory-backup")
}

pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(suffix);
    file.with_file_name(name)
}

pub(crate) fn malformed(path: &Path, reason: String) -> Error {
    Error::Malformed { path: path.to_owned(), reason }
}

pub(crate) fn io(attempt: &'static str, path: &Path, error: io::Error) -> Error {
    Error::Io { attempt, path: path.to_owned(), error }
}
