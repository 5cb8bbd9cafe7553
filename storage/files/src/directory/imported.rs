//! An open directory of a file system that a host lends: `wit/file-system`.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::SystemTime;

use agent_memory_storage::EntryKind;

use super::facts::{Facts, Found, Kind, Metadata};
use crate::errno::Errno;

#[allow(missing_docs, reason = "generated from `wit/`, which documents each item")]
mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/file-system",
        world: "imports",
        // Arguments for the host are borrowed, not copied.
        ownership: Borrowing { duplicate_if_necessary: false },
    });
}

use bindings::agent_memory::file_system::file_system as host;

/// Converts the host's name of an error. A name that this crate does not know becomes `EIO`.
fn errno(name: String) -> Errno {
    match name.as_str() {
        "EACCES" => Errno::ACCESS,
        "EBUSY" => Errno::BUSY,
        "EDQUOT" => Errno::DQUOT,
        "EEXIST" => Errno::EXIST,
        "EFBIG" => Errno::FBIG,
        "EILSEQ" => Errno::ILSEQ,
        "EINVAL" => Errno::INVAL,
        "EISDIR" => Errno::ISDIR,
        "ELOOP" => Errno::LOOP,
        "EMFILE" => Errno::MFILE,
        "EMLINK" => Errno::MLINK,
        "ENAMETOOLONG" => Errno::NAMETOOLONG,
        "ENFILE" => Errno::NFILE,
        "ENODEV" => Errno::NODEV,
        "ENOENT" => Errno::NOENT,
        "ENOMEM" => Errno::NOMEM,
        "ENOSPC" => Errno::NOSPC,
        "ENOSYS" => Errno::NOSYS,
        "ENOTDIR" => Errno::NOTDIR,
        "ENOTEMPTY" => Errno::NOTEMPTY,
        "ENXIO" => Errno::NXIO,
        "EOPNOTSUPP" | "ENOTSUP" => Errno::OPNOTSUPP,
        "EPERM" => Errno::PERM,
        "EROFS" => Errno::ROFS,
        "ESTALE" => Errno::STALE,
        "EXDEV" => Errno::XDEV,
        _ => Errno::IO,
    }
}

impl From<host::Metadata> for Facts {
    fn from(found: host::Metadata) -> Self {
        let parts = |time: i64| (time.div_euclid(1_000_000_000), time.rem_euclid(1_000_000_000));
        let kind = match found.kind {
            host::Kind::File => EntryKind::File,
            host::Kind::Directory => EntryKind::Directory,
            host::Kind::Link | host::Kind::Other => EntryKind::Other,
        };
        let metadata = Metadata {
            kind,
            size: found.size,
            mode: found.mode & 0o777,
            inode: found.inode,
            modified: parts(found.modified),
        };
        Facts { metadata, changed: parts(found.changed) }
    }
}

/// An open directory. A clone is the same handle.
///
/// Every function returns the host's errors.
#[derive(Clone, Debug)]
pub struct Directory(Arc<host::Directory>);

impl Directory {
    /// Opens a canonical path. Fails if the path now has a symbolic link.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        // Removes a `/` at the end, because the host compares the path as a text.
        let path = path.components().as_path().to_str().ok_or(Errno::INVAL)?;
        Ok(Directory(Arc::new(host::open_directory(path).map_err(errno)?)))
    }

    /// Opens the nearest existing directory at or above a canonical path. Also returns the names
    /// from that directory to the path.
    pub fn open_nearest(path: &Path) -> Result<(Self, Vec<&OsStr>), Errno> {
        for (depth, above) in path.ancestors().enumerate() {
            match Directory::open(above) {
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
                Ok(directory) => {
                    let names = path.components().rev().take(depth).map(Component::as_os_str);
                    let mut names: Vec<_> = names.collect();
                    names.reverse();
                    return Ok((directory, names));
                }
            }
        }
        Err(Errno::NOENT)
    }

    /// Opens a subdirectory. `NOTDIR` or `LOOP` if it is not a directory.
    pub fn child(&self, name: impl AsRef<str>) -> Result<Self, Errno> {
        self.descend(&[name.as_ref()]).map_err(|(_, errno)| errno)
    }

    /// Opens the directory that these names lead to. An error has the index of the name.
    pub fn descend(&self, names: &[&str]) -> Result<Self, (usize, Errno)> {
        match self.0.descend(names) {
            Ok(directory) => Ok(Directory(Arc::new(directory))),
            Err((index, name)) => Err((index as usize, errno(name))),
        }
    }

    /// The metadata and the change time of a file, or `None` if nothing exists under this name.
    pub(super) fn facts(&self, name: &str) -> Result<Option<Facts>, Errno> {
        let mut found = self.0.look(&[name]).map_err(errno)?;
        Ok(found.pop().flatten().map(Facts::from))
    }

    pub(super) fn facts_of(&self, names: &[String]) -> Result<Vec<Option<Facts>>, Errno> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = self.0.look(&names).map_err(errno)?;
        Ok(found.into_iter().map(|found| found.map(Facts::from)).collect())
    }

    pub(crate) fn open_file(&self, name: &str) -> Result<Found<File>, Errno> {
        Ok(match self.0.open_file(name).map_err(errno)? {
            host::Found::Nothing => Found::Nothing,
            host::Found::SomethingElse => Found::SomethingElse,
            host::Found::File((file, found)) => {
                Found::File(file.into(), Facts::from(found).metadata)
            }
        })
    }

    /// Creates a file. `EXIST` if the name exists.
    pub fn create_file(&self, name: &str, mode: u32) -> Result<File, Errno> {
        self.0.create_file(name, mode, true).map(File::from).map_err(errno)
    }

    /// Opens a file to overwrite it, and creates it if it is missing.
    pub fn overwrite_file(&self, name: &str, mode: u32) -> Result<File, Errno> {
        self.0.create_file(name, mode, false).map(File::from).map_err(errno)
    }

    /// Creates a directory. `EXIST` if the name exists.
    pub fn create_directory(&self, name: &str, mode: u32) -> Result<(), Errno> {
        self.0.create_directory(name, mode).map_err(errno)
    }

    /// Makes a hard link to the file `from`, with the name `to` in the directory `other`.
    pub fn link_into(&self, from: &str, other: &Directory, to: &str) -> Result<(), Errno> {
        self.0.link(from, &other.0, to).map_err(errno)
    }

    /// Renames a file to a name in another directory, and replaces any file there.
    pub fn rename(&self, from: &str, other: &Directory, to: &str) -> Result<(), Errno> {
        self.0.rename(from, &other.0, to).map_err(errno)
    }

    /// Removes a file.
    pub fn remove_file(&self, name: &str) -> Result<(), Errno> {
        self.0.remove(name, false).map_err(errno)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: &str) -> Result<(), Errno> {
        self.0.remove(name, true).map_err(errno)
    }

    /// Makes created, renamed and removed names survive a loss of power.
    pub fn sync(&self) -> Result<(), Errno> {
        self.0.sync().map_err(errno)
    }

    /// The names in the directory, in no order. Names that are not UTF-8 are left out: no path can
    /// name them.
    pub fn names(&self) -> Result<impl Iterator<Item = Result<String, Errno>>, Errno> {
        Ok(self.0.names().map_err(errno)?.into_iter().map(Ok))
    }
}

/// The number of bytes that one call of the host reads. It is large, since each call is expensive.
const READ_BYTES: u32 = 256 * 1024;

/// An open file of the host.
#[derive(Debug)]
pub struct File {
    host: host::File,
    /// The bytes that the last call of the host read, and the number of these already returned.
    read: (Vec<u8>, usize),
    /// Whether the last call of the host reached the end of the file.
    is_at_end: bool,
}

impl From<host::File> for File {
    fn from(host: host::File) -> Self {
        File { host, read: (Vec::new(), 0), is_at_end: false }
    }
}

impl File {
    /// Makes the bytes survive a loss of power.
    pub fn sync_data(&self) -> io::Result<()> {
        self.host.sync().map_err(|name| errno(name).into())
    }

    /// The same as [`sync_data`](File::sync_data).
    pub fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }

    /// Always fails: only a plugin sets the time of a file, and no plugin has an imported file system.
    pub fn set_modified(&self, _: SystemTime) -> io::Result<()> {
        Err(Errno::NOSYS.into())
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (bytes, taken) = &mut self.read;
        if *taken == bytes.len() && !self.is_at_end && !buffer.is_empty() {
            (*bytes, *taken) = (self.host.read(READ_BYTES).map_err(errno)?, 0);
            self.is_at_end = bytes.len() < READ_BYTES as usize;
        }
        let count = buffer.len().min(bytes.len() - *taken);
        buffer[..count].copy_from_slice(&bytes[*taken..*taken + count]);
        *taken += count;
        Ok(count)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.host.write(bytes).map_err(errno)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sets the permission bits if they differ. The umask does not apply.
pub(crate) fn set_mode(file: &File, mode: u32) -> Result<(), Errno> {
    file.host.set_mode(mode).map_err(errno)
}

/// The canonical path of something that exists, as bytes.
pub(crate) fn canonical(path: &str) -> Result<Vec<u8>, Errno> {
    host::canonical(path).map_err(errno)
}

/// The kind of the file or directory at a path. With `follow`, follows a symbolic link there.
///
/// # Errors
///
/// The host's; `NOENT` if nothing exists there.
pub fn kind_at(path: &Path, follow: bool) -> Result<Kind, Errno> {
    let path = path.to_str().ok_or(Errno::INVAL)?;
    match host::kind_at(path, follow).map_err(errno)? {
        Some(host::Kind::File) => Ok(Kind::File),
        Some(host::Kind::Directory) => Ok(Kind::Directory),
        Some(host::Kind::Link) => Ok(Kind::Link),
        Some(host::Kind::Other) => Ok(Kind::Other),
        None => Err(Errno::NOENT),
    }
}
