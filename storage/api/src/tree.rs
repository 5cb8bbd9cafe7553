//! Changing the documents of a place.

use super::change::{Change, CommitError};
use super::documents::Documents;
use super::error::Error;

/// The documents of a place, with its lock. The host decides how long a call waits for the lock.
pub trait Tree: Documents {
    /// The location of the tree, for people: in messages and answers. It is the path as the caller
    /// named it; for a place of a group, it is the directory of the place. No function takes it as a
    /// path.
    fn location(&self) -> String;

    /// Whether a commit makes all of its changes or none, whatever happens. Such a tree may release its
    /// lock at each commit, so changes that belong together have to be one commit.
    fn has_atomic_commits(&self) -> bool {
        false
    }

    /// Waits for the lock of the place.
    ///
    /// With a scope, for example one agent, the call reads and changes only data of that scope. A
    /// host may release the lock at each commit and take it again. So every commit must expect the
    /// versions on which it depends.
    ///
    /// # Errors
    ///
    /// `nested` if the call holds a writer or a write transaction, of any place;
    /// `busy`, `read-only`, `no-space`, `io`.
    fn lock(&self, scope: Option<&str>) -> Result<Box<dyn Writer + '_>, Error>;
}

/// Changes the documents of one place. Holds the lock of that place until it is dropped and no
/// write transaction is left.
pub trait Writer {
    /// Makes the changes in their order, durably. Returns the new version of each document, and
    /// `None` for a deletion.
    ///
    /// # Errors
    ///
    /// `version-mismatch`, also if splices do not fit; `already-exists` if something exists at the
    /// new path of a rename; `too-large` if a new document, or the source of an edit or a copy, is
    /// longer than [`MAX_DOCUMENT_BYTES`], or beyond [`MAX_CHANGES`](super::MAX_CHANGES);
    /// `invalid-path`, also if a path is changed twice or is below a written document, where the
    /// source of a copy does not count; `no-space`, `read-only`, `permission`, `io`.
    ///
    /// An error leaves everything unchanged, unless a rename, a deletion or the sync of a directory
    /// failed.
    fn commit(&self, changes: &[Change]) -> Result<Vec<Option<String>>, CommitError>;
}
