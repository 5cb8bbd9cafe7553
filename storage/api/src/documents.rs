//! Documents in trees.

use sha2::{Digest, Sha256};

use super::error::{Error, ErrorCode};

/// The maximum length of a document: 16 MiB.
pub const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// The maximum number of entries in a listing.
pub const MAX_ENTRIES: usize = 100_000;

/// An area of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// The documents that users see.
    Documents,
    /// The host's own data beside the lock, hidden from users and version control.
    Bookkeeping,
}

/// The contents and the version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The bytes of the document.
    pub contents: Vec<u8>,
    /// The [version](version_of) of the contents.
    pub version: String,
}

/// The kind of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A document.
    File,
    /// A directory.
    Directory,
    /// Anything else, for example a symbolic link. It cannot be read.
    Other,
}

/// The kind, size and stamp of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The kind of the file or directory.
    pub kind: EntryKind,
    /// The size of a file in bytes, otherwise 0.
    pub size: u64,
    /// The stamp of a file, otherwise empty. A different stamp means that the bytes may have changed.
    /// The stamp is not a version: a change cannot expect it.
    pub stamp: String,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, which is one path segment.
    pub name: String,
    /// The kind, size and stamp of the entry.
    pub status: Status,
}

/// Reads the documents below one root.
pub trait Documents {
    /// The status of a path (`""` is the root), or `None` if nothing exists there.
    ///
    /// # Errors
    ///
    /// `invalid-path` if a tree cannot hold the path, or if one of its parents is not a directory;
    /// `permission`, `io`.
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error>;

    /// The document at a path, or `None` if nothing exists there.
    ///
    /// # Errors
    ///
    /// `too-large` if it is longer than `max_bytes` or [`MAX_DOCUMENT_BYTES`]; `invalid-path` as
    /// for [`stat`](Documents::stat), and if the path is not a file; `permission`, `io`.
    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error>;

    /// The entries of a directory (`""` is the root), in byte order of their names. `None` if
    /// nothing exists there. Temporary files of the host and names that are not UTF-8 are left out.
    ///
    /// # Errors
    ///
    /// `too-large` beyond [`MAX_ENTRIES`]; `invalid-path` as for [`stat`](Documents::stat), and
    /// if the path is not a directory; `permission`, `io`.
    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error>;
}

/// Whether a document exists at a path.
///
/// # Errors
///
/// `invalid-path` if the path exists but is not a document; the other errors of
/// [`stat`](Documents::stat).
pub fn has_document(
    tree: &(impl Documents + ?Sized),
    area: Area,
    path: &str,
) -> Result<bool, Error> {
    match tree.stat(area, path)? {
        None => Ok(false),
        Some(Status { kind: EntryKind::File, .. }) => Ok(true),
        Some(_) => {
            let message = format!("`{path}` is not a file: move it away");
            Err(Error::new(ErrorCode::InvalidPath, message))
        }
    }
}

/// The version of a document with these contents: their SHA-256 in lower-case hexadecimal.
pub fn version_of(contents: &[u8]) -> String {
    hexadecimal(Sha256::digest(contents))
}

/// A digest in lower-case hexadecimal, the form of a version.
pub fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    digest.as_ref().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
