//! The storage that a host lends: the Rust face of `wit/storage`, which says what each function
//! does, when a thing is absent, and which errors it can answer with.

pub mod database;
pub mod memory;

use std::fmt;
use std::ops::Range;

/// The most bytes of a document, on every host.
pub const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// What the message of an error ends with where something was changed all the same.
pub(crate) const MAY_STAND: &str = "; the change may have been made: read before trying again";

/// The kind of a storage error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "`wit/storage` documents each")]
pub enum ErrorCode {
    NotFound,
    AlreadyExists,
    VersionMismatch,
    NotGranted,
    NoSpace,
    ReadOnly,
    Permission,
    TooLarge,
    InvalidPath,
    Busy,
    Nested,
    Cancelled,
    Corrupted,
    Io,
}

/// What goes wrong in storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind, on which code decides.
    pub code: ErrorCode,
    /// For a person: what failed, where, and what to do.
    pub message: String,
    /// The cause as the host knows it, for a log.
    pub detail: Option<String>,
}

impl Error {
    /// An error without a cause of the host's.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A place that a host may grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The agent memory of the source repository whose top level has this absolute path.
    Repository(String),
    /// A place that a toolset describes.
    Named {
        /// The label under which it is described.
        label: String,
        /// Which place of a family; empty for one that is alone.
        name: String,
    },
}

impl Place {
    /// The agent memory of the source repository at an absolute path.
    pub fn repository(root: impl Into<String>) -> Self {
        Self::Repository(root.into())
    }

    /// The place with this label, which is alone.
    pub fn labelled(label: impl Into<String>) -> Self {
        Self::Named { label: label.into(), name: String::new() }
    }
}

/// A part of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// Where its users look for it.
    Documents,
    /// Beside the lock, where no user and no version control sees it.
    Bookkeeping,
}

/// A document as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its bytes.
    pub contents: Vec<u8>,
    /// Differs whenever the contents do.
    pub version: String,
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum EntryKind {
    File,
    Directory,
    Other,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is.
    pub kind: EntryKind,
    /// Bytes; 0 for what is not a file.
    pub size: u64,
    /// Of a file: differs when the bytes may have changed since. No change expects it.
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

/// One change of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a document whole.
    Put {
        /// The area of the tree.
        area: Area,
        /// The path in that area.
        path: String,
        /// What the document will hold.
        contents: Vec<u8>,
        /// The version that it must be at; none where it must not exist.
        expects: Option<String>,
    },
    /// Changes parts of a document.
    Edit {
        /// The area of the tree.
        area: Area,
        /// The path in that area.
        path: String,
        /// What is put in, in order, none overlapping another.
        splices: Vec<Splice>,
        /// The version that it must be at.
        expects: String,
    },
    /// Removes a document.
    Delete {
        /// The area of the tree.
        area: Area,
        /// The path in that area.
        path: String,
        /// The version that it must be at.
        expects: String,
    },
    /// Keeps a document as it is before the commit under another path as well, whatever document
    /// stood there: a backup.
    Copy {
        /// The area of the tree.
        area: Area,
        /// The path of the document in that area.
        from: String,
        /// The path of the backup in that area.
        to: String,
        /// The version that the document at `from` must be at.
        expects: String,
    },
    /// Gives a document another path, where nothing stands.
    Rename {
        /// The area of the tree.
        area: Area,
        /// The path of the document in that area.
        from: String,
        /// Its new path in that area.
        to: String,
        /// The version that it must be at.
        expects: String,
    },
}

/// Other bytes in the place of a range of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The range, in the document as it is before the commit.
    pub range: Range<usize>,
    /// What stands in its place.
    pub inserts: Vec<u8>,
}

impl Splice {
    /// The contents with all splices; none where they do not fit.
    pub fn all(splices: &[Splice], contents: &[u8]) -> Option<Vec<u8>> {
        // Growing would move all of a long document.
        let added: usize = splices.iter().map(|splice| splice.inserts.len()).sum();
        let mut spliced = Vec::with_capacity(contents.len() + added);
        let mut at = 0;
        for Splice { range, inserts } in splices {
            spliced.extend_from_slice(contents.get(at..range.start)?);
            spliced.extend_from_slice(inserts);
            contents.get(range.clone())?;
            at = range.end;
        }
        spliced.extend_from_slice(&contents[at..]);
        Some(spliced)
    }
}

/// Why a commit ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitError {
    /// What went wrong.
    pub error: Error,
    /// The index of the change that failed; none where no single one did.
    pub change: Option<u32>,
    /// How many changes stand, counted from the first.
    pub applied: u32,
}

impl CommitError {
    /// The error as a caller is told of it, who knows of no changes: where one stands in spite of it,
    /// trying again blindly might make it twice.
    pub fn for_caller(self) -> Error {
        let mut error = self.error;
        if self.applied > 0 {
            error.message += MAY_STAND;
        }
        error
    }
}

/// All that a host lends. Each method does what `wit/storage` says.
pub trait Storage {
    /// Opens a place that the host grants.
    fn open(&self, place: &Place) -> Result<Box<dyn Tree + '_>, Error>;

    /// Opens a SQL database of a place that the host grants; creates it where it is missing and
    /// `create` is set.
    fn open_database(
        &self,
        place: &Place,
        name: &str,
        kind: database::Kind,
        create: bool,
    ) -> Result<Box<dyn database::Connection + '_>, Error>;
}

/// Whether there is a document, whatever it holds.
///
/// # Errors
///
/// `invalid-path` where anything but a document stands there.
pub(crate) fn has_document(tree: &dyn Tree, area: Area, path: &str) -> Result<bool, Error> {
    match tree.stat(area, path)? {
        None => Ok(false),
        Some(Status { kind: EntryKind::File, .. }) => Ok(true),
        Some(_) => {
            let message = format!("`{path}` is not a file: move it away");
            Err(Error::new(ErrorCode::InvalidPath, message))
        }
    }
}

/// Documents below one root.
pub trait Tree {
    /// What stands at a path, or none.
    fn stat(&self, area: Area, path: &str) -> Result<Option<Status>, Error>;

    /// The document, or none where there is no file of that path.
    fn read(&self, area: Area, path: &str, max_bytes: u64) -> Result<Option<Document>, Error>;

    /// What is directly in a directory, in byte order; none where there is no such directory.
    fn list(&self, area: Area, directory: &str) -> Result<Option<Vec<Entry>>, Error>;

    /// Waits for the lock of the place. With a scope, such as one agent, the call relies on and
    /// changes nothing outside of it. A host may give up the lock at each commit and take it anew:
    /// every commit expects the versions that it relies on.
    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error>;
}

/// The right to change one tree, until it is dropped.
pub trait Writer {
    /// Makes the changes in order, durably; returns for each the version of the document that it
    /// leaves, and none for one deleted.
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError>;
}
