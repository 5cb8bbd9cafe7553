//! The metadata that a file system has about a file.

use agent_memory_storage::{EntryKind, Status};

/// The kind of what exists at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    File,
    Directory,
    Link,
    /// A device, a FIFO or a socket.
    Other,
}

impl From<std::fs::FileType> for Kind {
    fn from(file_type: std::fs::FileType) -> Self {
        match file_type {
            file_type if file_type.is_file() => Kind::File,
            file_type if file_type.is_dir() => Kind::Directory,
            file_type if file_type.is_symlink() => Kind::Link,
            _ => Kind::Other,
        }
    }
}

/// The metadata of a file. Equal metadata means that the file is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The kind of the file.
    pub kind: EntryKind,
    /// The size in bytes.
    pub size: u64,
    /// The permission bits. On Windows always 600.
    pub mode: u32,
    pub(super) inode: u64,
    /// The time of the last change of the bytes, in seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
}

/// The metadata of a file, and the time of the last change of its bytes or its metadata.
pub(super) struct Facts {
    pub metadata: Metadata,
    pub changed: (i64, i64),
}

impl Facts {
    /// The status of the file. Its stamp has the same form on every host.
    pub fn status(&self) -> Status {
        let Metadata { kind, size, inode, modified, .. } = self.metadata;
        if kind != EntryKind::File {
            return Status { kind, size: 0, stamp: String::new() };
        }
        let nanoseconds = |(seconds, rest)| seconds as i128 * 1_000_000_000 + rest as i128;
        let modified = nanoseconds(modified);
        let changed = nanoseconds(self.changed);
        Status { kind, size, stamp: format!("{size}-{modified}-{changed}-{inode}") }
    }
}

/// The result of opening a name as a file, to read it.
pub(crate) enum Found<File> {
    Nothing,
    File(File, Metadata),
    /// A directory, link, device, FIFO or socket.
    SomethingElse,
}
