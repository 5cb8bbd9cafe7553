//! What a commit is asked to do.

use super::tree::Side;
use super::{Error, ErrorCode};
use std::collections::BTreeSet;

/// What is to become of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is to hold these contents.
    Put {
        /// Where it stands.
        side: Side,
        /// Its path there.
        path: String,
        /// Its bytes.
        contents: Vec<u8>,
        /// The version that it must be at; none where it must not exist.
        expects: Option<String>,
    },
    /// It is to be gone.
    Delete {
        /// Where it stands.
        side: Side,
        /// Its path there.
        path: String,
        /// The version that it must be at.
        expects: String,
    },
    /// It is to be kept, as it is before the commit, under another path as well, whatever document
    /// stands there: a backup.
    Copy {
        /// Where both stand.
        side: Side,
        /// Its path there.
        from: String,
        /// The path of the backup, which has the permission bits of the document.
        to: String,
        /// The version that it must be at.
        expects: String,
    },
}

/// Why a commit failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct CommitError {
    /// What went wrong.
    pub error: Error,
    /// The index of the change that failed; none where no single one did.
    pub change: Option<u32>,
    /// How many changes stand, counted from the first.
    pub applied: u32,
}

impl Change {
    pub(super) fn side(&self) -> Side {
        match self {
            Change::Put { side, .. } | Change::Delete { side, .. } | Change::Copy { side, .. } => {
                *side
            }
        }
    }

    /// The path that is written or removed.
    pub(super) fn path(&self) -> &str {
        match self {
            Change::Put { path, .. } | Change::Delete { path, .. } => path,
            Change::Copy { to, .. } => to,
        }
    }

    /// The path whose version is checked.
    pub(super) fn checked_path(&self) -> &str {
        match self {
            Change::Put { path, .. } | Change::Delete { path, .. } => path,
            Change::Copy { from, .. } => from,
        }
    }

    /// The version that must be found there; none where nothing must.
    pub(super) fn expects(&self) -> Option<&str> {
        match self {
            Change::Put { expects, .. } => expects.as_deref(),
            Change::Delete { expects, .. } | Change::Copy { expects, .. } => Some(expects),
        }
    }

    pub(super) fn is_delete(&self) -> bool {
        matches!(self, Change::Delete { .. })
    }
}

/// Refuses changes that contradict each other: the index of one that does, and why.
pub(super) fn check_consistent(changes: &[Change]) -> Result<(), (usize, Error)> {
    let mut seen = BTreeSet::new();
    let mut files = BTreeSet::new();
    for (index, change) in changes.iter().enumerate() {
        if !seen.insert((change.side(), change.path())) {
            let message = format!("`{}` stands twice in one commit", change.path());
            return Err((index, Error::new(ErrorCode::InvalidPath, message)));
        }
        if !change.is_delete() {
            files.insert((change.side(), change.path()));
        }
    }
    for (index, change) in changes.iter().enumerate() {
        let path = change.path();
        let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
        if let Some(file) = above.find(|directory| files.contains(&(change.side(), *directory))) {
            let message =
                format!("`{file}` cannot be both a document and the directory of `{path}`");
            return Err((index, Error::new(ErrorCode::InvalidPath, message)));
        }
    }
    Ok(())
}
