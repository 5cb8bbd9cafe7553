//! An open directory. Each operation takes a single name without a separator, and follows no
//! symbolic link. So no sequence of operations leaves a granted root. Only the modules below make
//! system calls: `unix` for Unix and WASI, `windows` for Windows. Both have the same functions.

use std::fs::File;
use std::io::Read;

use agent_memory_storage::{EntryKind, Status};

use crate::errno::{Errno, errno_of};

#[cfg(not(windows))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(windows))]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::Directory;
pub(crate) use system::set_mode;

/// The metadata of a file. Equal metadata means that the file is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its kind.
    pub kind: EntryKind,
    /// The size in bytes.
    pub size: u64,
    /// The permission bits. Windows has none.
    pub mode: u32,
    inode: u64,
    /// The time of the last change of the bytes, in seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
}

/// The metadata of a file, and the time of the last change of its bytes or its metadata.
struct Facts {
    metadata: Metadata,
    changed: (i64, i64),
}

impl Facts {
    /// The status of the file. Its stamp has the same form on every host.
    fn status(&self) -> Status {
        let Metadata { kind, size, inode, modified, .. } = self.metadata;
        if kind != EntryKind::File {
            return Status { kind, size: 0, stamp: String::new() };
        }
        let nanoseconds = |(seconds, rest)| seconds as i128 * 1_000_000_000 + rest as i128;
        let (modified, changed) = (nanoseconds(modified), nanoseconds(self.changed));
        Status { kind, size, stamp: format!("{size}-{modified}-{changed}-{inode}") }
    }
}

/// The result of opening a file to read it.
pub(crate) enum Found {
    Nothing,
    File(File, Metadata),
    /// A directory, link, device, FIFO or socket.
    SomethingElse,
}

impl Directory {
    /// The metadata of a name, or `None` if nothing exists there.
    pub fn metadata(&self, name: &str) -> Result<Option<Metadata>, Errno> {
        Ok(self.facts(name)?.map(|facts| facts.metadata))
    }

    /// The status of a name in a tree, or `None` if nothing exists there.
    pub fn status(&self, name: &str) -> Result<Option<Status>, Errno> {
        Ok(self.facts(name)?.as_ref().map(Facts::status))
    }

    /// The first bytes of a file, or `None` if nothing, or no file, exists there.
    pub fn read_start(&self, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, Errno> {
        let Found::File(file, _) = self.open_file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        match file.take(max_bytes).read_to_end(&mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) => Err(errno_of(&error)),
        }
    }

    /// Links a file to another name. `EXIST` if that name exists.
    pub fn link(&self, from: &str, to: &str) -> Result<(), Errno> {
        self.link_into(from, self, to)
    }
}
