//! Documents in trees.

use sha2::{Digest, Sha256};

use super::{Change, CommitError, Error, ErrorCode};

/// The longest document, in bytes: 16 MiB.
pub const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// The most entries of a listing.
pub const MAX_ENTRIES: usize = 100_000;

/// A part of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// Where users look for documents.
    Documents,
    /// Beside the lock, where no user and no version control sees it.
    Bookkeeping,
}

/// A document as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its bytes.
    pub contents: Vec<u8>,
    /// Their [version](version_of).
    pub version: String,
}

/// The kind of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A document.
    File,
    /// A directory.
    Directory,
    /// Anything else, also a symbolic link. It cannot be read.
    Other,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub kind: EntryKind,
    /// Bytes; 0 for what is not a file.
    pub size: u64,
    /// Of a file: differs when the bytes may have changed since. No change expects it. Empty for
    /// what is not a file.
    pub stamp: String,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One path segment.
    pub name: String,
    /// What stands there.
    pub status: Status,
}

/// Documents below one root, to read.
pub trait Documents {
    /// What stands at a path (`""` is the root), or none.
    ///
    /// # Errors
    ///
    /// `invalid-path` where the path is none of a tree, or where anything but directories leads
    /// there; `permission`, `io`.
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error>;

    /// The document, or none where there is no file of that path.
    ///
    /// # Errors
    ///
    /// `too-large` where it is longer than `max_bytes` or [`MAX_DOCUMENT_BYTES`]; `invalid-path` as
    /// for [`stat`](Documents::stat), and where the path holds anything but a file; `permission`,
    /// `io`.
    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error>;

    /// What is directly in a directory (`""` is the root), in byte order of the names; none where
    /// there is no such directory. Temporary files of the host and names that are not UTF-8 are
    /// left out.
    ///
    /// # Errors
    ///
    /// `too-large` beyond [`MAX_ENTRIES`]; `invalid-path` as for [`stat`](Documents::stat), and
    /// where the path holds anything but a directory; `permission`, `io`.
    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error>;
}

/// Documents whose place a call can lock. The host decides how long a call waits.
pub trait Tree: Documents {
    /// Waits for the lock of the place.
    ///
    /// With a scope, such as one agent, the call relies on and changes nothing outside of it. A host
    /// may give up the lock at each commit and take it anew, so every commit expects the versions
    /// that it relies on.
    ///
    /// # Errors
    ///
    /// `nested` where the call has locked another place, or holds a writer or a write transaction;
    /// `busy`, `read-only`, `no-space`, `io`.
    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error>;
}

/// The right to change the documents of one place, until it is dropped.
pub trait Writer {
    /// Makes the changes in their order, durably. Returns for each change the version of the
    /// document that it leaves, and none for a deletion.
    ///
    /// # Errors
    ///
    /// `version-mismatch`, also where splices do not fit; `already-exists` where something stands
    /// at the new path of a rename; `too-large` beyond [`MAX_DOCUMENT_BYTES`] a document, also
    /// before an edit or a copy, or beyond [`MAX_CHANGES`](super::MAX_CHANGES); `invalid-path`, also
    /// where a path is changed twice, or one below another; `no-space`, `read-only`, `permission`,
    /// `io`. Unless a rename, a deletion or the sync of a directory failed, nothing was changed.
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError>;
}

/// Whether there is a document, whatever it holds.
///
/// # Errors
///
/// `invalid-path` where anything but a document stands there.
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

/// A digest in lower-case hexadecimal, as versions have it.
pub fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    digest.as_ref().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
