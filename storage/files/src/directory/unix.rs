//! An open directory on Unix and in WASI.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};
use std::sync::Arc;

use agent_memory_storage::EntryKind;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use super::facts::{Facts, Found, Metadata};
use crate::errno::{Errno, errno_of};

/// The flags to open a directory for looking up names. This does not need the right to list it.
#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = OFlags::RDONLY;

/// The flags to open a file without following a link, without waiting for the other end of a FIFO, and
/// without making a terminal the controlling terminal.
const FILE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Metadata {
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    fn from_stat(stat: &Stat) -> Self {
        Metadata {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Directory,
                _ => EntryKind::Other,
            },
            size: stat.st_size as u64,
            mode: stat.st_mode as u32 & 0o777,
            inode: stat.st_ino as u64,
            modified: modified(stat),
        }
    }
}

/// An open directory. A clone is the same handle.
///
/// Every function returns the operating system's errors.
#[derive(Clone, Debug)]
pub struct Directory(Arc<OwnedFd>);

impl Directory {
    /// Opens a canonical path. Fails if the path now has a symbolic link.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        if let Some(directory) = Directory::open_at_once(path) {
            return Ok(directory);
        }
        let flags = SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directory = Directory(Arc::new(rustix::fs::open("/", flags, Mode::empty())?));
        for component in path.components() {
            match component {
                Component::RootDir => {}
                Component::Normal(name) => directory = directory.child(name)?,
                _ => return Err(Errno::INVAL),
            }
        }
        Ok(directory)
    }

    /// Opens a path with one system call that refuses symbolic links (Linux 5.6). `None` on any
    /// error. In WASI, a path is opened below a preopened directory, and nothing leads out of it.
    fn open_at_once(path: &Path) -> Option<Self> {
        #[cfg(target_os = "wasi")]
        {
            let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::open(path, flags, Mode::empty());
            opened.ok().map(|opened| Directory(Arc::new(opened)))
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, ResolveFlags, openat2};
            let flags = SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
            opened.ok().map(|opened| Directory(Arc::new(opened)))
        }
        #[cfg(not(any(target_os = "linux", target_os = "wasi")))]
        {
            let _ = path;
            None
        }
    }

    /// Opens the nearest existing directory at or above a canonical path. Also returns the names
    /// from that directory to the path.
    #[cfg(target_os = "wasi")]
    pub fn open_nearest(path: &Path) -> Result<(Self, Vec<&OsStr>), Errno> {
        // `/` need not be preopened, so this goes up instead of down.
        for (depth, above) in path.ancestors().enumerate() {
            if let Some(directory) = Directory::open_at_once(above) {
                let mut names: Vec<_> = path.iter().rev().take(depth).collect();
                names.reverse();
                return Ok((directory, names));
            }
        }
        Err(Errno::NOENT)
    }

    /// Opens the nearest existing directory at or above a canonical path. Also returns the names
    /// from that directory to the path.
    #[cfg(not(target_os = "wasi"))]
    pub fn open_nearest(path: &Path) -> Result<(Self, Vec<&OsStr>), Errno> {
        if let Some(directory) = Directory::open_at_once(path) {
            return Ok((directory, Vec::new()));
        }
        let mut directory = Directory::open(Path::new("/"))?;
        let mut names = path.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        while let Some(name) = names.next() {
            match directory.child(name) {
                Ok(child) => directory = child,
                Err(Errno::NOENT) => {
                    return Ok((directory, std::iter::once(name).chain(names).collect()));
                }
                Err(errno) => return Err(errno),
            }
        }
        Ok((directory, Vec::new()))
    }

    /// Opens a subdirectory. `NOTDIR` or `LOOP` if it is not a directory.
    pub fn child(&self, name: impl rustix::path::Arg) -> Result<Self, Errno> {
        let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&*self.0, name, flags, Mode::empty())?;
        Ok(Directory(Arc::new(opened)))
    }

    /// The metadata and the change time of a file, or `None` if nothing exists under this name.
    pub(super) fn facts(&self, name: &str) -> Result<Option<Facts>, Errno> {
        match rustix::fs::statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                Ok(Some(Facts { metadata: Metadata::from_stat(&stat), changed: changed(&stat) }))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    pub(crate) fn open_file(&self, name: &str) -> Result<Found<File>, Errno> {
        // Opening a device can have effects, so its kind is checked first.
        match self.metadata(name)? {
            None => return Ok(Found::Nothing),
            Some(found) if found.kind != EntryKind::File => return Ok(Found::SomethingElse),
            Some(_) => {}
        }
        match rustix::fs::openat(&*self.0, name, OFlags::RDONLY | FILE, Mode::empty()) {
            Ok(file) => {
                // The file may have been replaced since the first check.
                let metadata = Metadata::from_stat(&rustix::fs::fstat(&file)?);
                Ok(match metadata.kind {
                    EntryKind::File => Found::File(File::from(file), metadata),
                    _ => Found::SomethingElse,
                })
            }
            Err(Errno::NOENT) => Ok(Found::Nothing),
            Err(Errno::LOOP | Errno::NXIO) => Ok(Found::SomethingElse),
            Err(errno) => Err(errno),
        }
    }

    /// Creates a file. `EXIST` if the name exists.
    pub fn create_file(&self, name: &str, mode: u32) -> Result<File, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FILE;
        rustix::fs::openat(&*self.0, name, flags, mode_bits(mode)).map(File::from)
    }

    /// Opens a file to write from its beginning, and creates it if it is missing. Does not truncate it.
    pub fn overwrite_file(&self, name: &str, mode: u32) -> Result<File, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | FILE;
        rustix::fs::openat(&*self.0, name, flags, mode_bits(mode)).map(File::from)
    }

    /// Creates a directory. `EXIST` if the name exists.
    pub fn create_directory(&self, name: &str, mode: u32) -> Result<(), Errno> {
        rustix::fs::mkdirat(&*self.0, name, mode_bits(mode))
    }

    /// Makes a hard link to the file `from`, with the name `to` in the directory `other`.
    pub fn link_into(&self, from: &str, other: &Directory, to: &str) -> Result<(), Errno> {
        rustix::fs::linkat(&*self.0, from, &*other.0, to, AtFlags::empty())
    }

    /// Renames a file to a name in another directory, and replaces any file there.
    pub fn rename(&self, from: &str, other: &Directory, to: &str) -> Result<(), Errno> {
        rustix::fs::renameat(&*self.0, from, &*other.0, to)
    }

    /// Removes a file.
    pub fn remove_file(&self, name: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&*self.0, name, AtFlags::empty())
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&*self.0, name, AtFlags::REMOVEDIR)
    }

    /// Makes created, renamed and removed names survive a loss of power.
    pub fn sync(&self) -> Result<(), Errno> {
        File::from(self.readable()?).sync_all().map_err(|error| errno_of(&error))
    }

    /// The names in the directory, in no order. Names that are not UTF-8 are left out: no path can
    /// name them.
    pub fn names(&self) -> Result<impl Iterator<Item = Result<String, Errno>>, Errno> {
        let entries = Dir::new(self.readable()?)?;
        Ok(entries.filter_map(|entry| match entry {
            Ok(entry) => {
                let name = entry.file_name().to_str().ok()?;
                (name != "." && name != "..").then(|| Ok(name.to_owned()))
            }
            Err(errno) => Some(Err(errno)),
        }))
    }

    /// Sets the permission bits of a file without opening it. WASI has no permission bits.
    pub fn set_file_mode(&self, name: &str, mode: u32) -> Result<(), Errno> {
        #[cfg(target_os = "wasi")]
        {
            let _ = (name, mode);
            Ok(())
        }
        #[cfg(not(target_os = "wasi"))]
        rustix::fs::chmodat(&*self.0, name, mode_bits(mode), AtFlags::empty())
    }

    /// Succeeds if this process may read the file `name` in this directory.
    pub fn readable_file(&self, name: &str) -> Result<(), Errno> {
        rustix::fs::accessat(&*self.0, name, rustix::fs::Access::READ_OK, AtFlags::EACCESS)
    }

    /// Succeeds if this process may create files in this directory.
    pub fn writable(&self) -> Result<(), Errno> {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::accessat(&*self.0, ".", access, AtFlags::EACCESS)
    }

    /// Succeeds if this process may read and write the file `name` in this directory.
    pub fn may_use(&self, name: &str) -> Result<(), Errno> {
        let access = rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK;
        rustix::fs::accessat(&*self.0, name, access, AtFlags::EACCESS)
    }

    fn readable(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&*self.0, ".", flags, Mode::empty())
    }
}

/// The time of the last change of the bytes, in seconds and nanoseconds.
#[cfg(not(target_os = "wasi"))]
#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn modified(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

/// The time of the last change of the bytes or the metadata, in seconds and nanoseconds.
#[cfg(not(target_os = "wasi"))]
#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn changed(stat: &Stat) -> (i64, i64) {
    (stat.st_ctime as i64, stat.st_ctime_nsec as i64)
}

#[cfg(target_os = "wasi")]
fn modified(stat: &Stat) -> (i64, i64) {
    (stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec.into())
}

#[cfg(target_os = "wasi")]
fn changed(stat: &Stat) -> (i64, i64) {
    (stat.st_ctim.tv_sec, stat.st_ctim.tv_nsec.into())
}

/// Sets the permission bits if they differ. The umask does not apply.
pub(crate) fn set_mode(file: &File, mode: u32) -> Result<(), Errno> {
    if Metadata::from_stat(&rustix::fs::fstat(file)?).mode == mode {
        return Ok(());
    }
    #[cfg(target_os = "wasi")]
    return Ok(());
    #[cfg(not(target_os = "wasi"))]
    rustix::fs::fchmod(file, mode_bits(mode))
}

fn mode_bits(mode: u32) -> Mode {
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    Mode::from_raw_mode(mode as rustix::fs::RawMode)
}
