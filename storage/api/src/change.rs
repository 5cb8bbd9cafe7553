//! Changes to documents, and the error of a failed commit.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use super::documents::Area;
use super::documents::MAX_DOCUMENT_BYTES;
use super::error::{Error, ErrorCode};

/// The maximum number of changes in one commit.
pub const MAX_CHANGES: usize = 1_000;

/// The end of the message of a commit that failed after it may have made changes.
pub const MAY_STAND: &str = "; the change may have been made: read before trying again";

/// Whether a message says that a change may have been made. The errors of `wit/storage` and
/// `wit/toolbox` have no field for that, so the core and the hosts read it from the message.
pub fn says_may_stand(message: &str) -> bool {
    message.ends_with(MAY_STAND)
}

/// The end of the message of a call to storage that failed before it changed anything.
pub const UNCHANGED: &str = "; nothing was changed: try again";

/// One change of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a whole document.
    Put {
        /// The area of the tree.
        area: Area,
        /// The path in that area.
        path: String,
        /// The new contents.
        contents: Vec<u8>,
        /// The version that the document must have. `None` if it must not exist.
        expects: Option<String>,
    },
    /// Changes parts of a document.
    Edit {
        /// The area of the tree.
        area: Area,
        /// The path in that area.
        path: String,
        /// The splices, in order. They must not overlap.
        splices: Vec<Splice>,
        /// The version that the document must have.
        expects: String,
    },
    /// Removes a document.
    Delete {
        /// The area of the tree.
        area: Area,
        /// The path in that area.
        path: String,
        /// The version that the document must have.
        expects: String,
    },
    /// Makes a backup: a copy of a document as it was before the commit. It replaces any document
    /// at its path.
    Copy {
        /// The area of the tree.
        area: Area,
        /// The path of the document in that area.
        from: String,
        /// The path of the backup in that area. The backup gets the permission bits of the document; in
        /// a private place, only the bits of its owner.
        to: String,
        /// The version that the document at `from` must have.
        expects: String,
    },
    /// Moves a document to another path of the area, which must be free.
    Rename {
        /// The area of the tree.
        area: Area,
        /// The path of the document in that area.
        from: String,
        /// Its new path in that area.
        to: String,
        /// The version that the document must have.
        expects: String,
    },
}

/// A replacement for a range of bytes of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The range in the document before the commit, in bytes.
    pub range: Range<usize>,
    /// The new bytes of the range.
    pub inserts: Vec<u8>,
}

impl Splice {
    /// The contents with all splices applied. `None` if the splices do not fit.
    ///
    /// The bytes before the first splice are not copied: edits of long documents are mostly at the
    /// end.
    pub fn all(splices: &[Splice], mut contents: Vec<u8>) -> Option<Vec<u8>> {
        let Some(first) = splices.first() else { return Some(contents) };
        let mut at = first.range.start;
        if at > contents.len() {
            return None;
        }
        let mut rest = &contents.split_off(at)[..];
        for Splice { range, inserts } in splices {
            let (before, after) = rest.split_at_checked(range.start.checked_sub(at)?)?;
            let (removed, after) = after.split_at_checked(range.end.checked_sub(range.start)?)?;
            contents.extend_from_slice(before);
            contents.extend_from_slice(inserts);
            (at, rest) = (range.start + removed.len(), after);
        }
        contents.extend_from_slice(rest);
        Some(contents)
    }

    /// A text with all splices applied.
    ///
    /// # Panics
    ///
    /// If the splices do not fit the text, or if the result is not UTF-8: then they were made for another
    /// text.
    pub fn all_of_text(splices: &[Splice], text: &str) -> String {
        let bytes = Self::all(splices, text.as_bytes().to_vec()).expect("splices of this text");
        String::from_utf8(bytes).expect("splices between characters")
    }
}

/// The error of a commit that ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitError {
    /// The cause.
    pub error: Error,
    /// The index of the change that failed. `None` if the error belongs to no single change.
    pub change: Option<u32>,
    /// The number of changes that were made, counted from the first.
    pub applied: u32,
}

impl CommitError {
    /// The error for a caller that knows nothing of single changes. If some changes were made, the
    /// message says so: a retry without reading first could make them twice.
    pub fn for_caller(self) -> Error {
        let mut error = self.error;
        if self.applied > 0 {
            error.message += MAY_STAND;
        }
        error
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for CommitError {}

impl Change {
    /// The area of the tree.
    pub fn area(&self) -> Area {
        match self {
            Change::Put { area, .. }
            | Change::Edit { area, .. }
            | Change::Delete { area, .. }
            | Change::Copy { area, .. }
            | Change::Rename { area, .. } => *area,
        }
    }

    /// The path that is written or removed. For a copy or a rename it is the new path.
    pub fn path(&self) -> &str {
        match self {
            Change::Put { path, .. } | Change::Edit { path, .. } | Change::Delete { path, .. } => {
                path
            }
            Change::Copy { to, .. } | Change::Rename { to, .. } => to,
        }
    }

    /// The path of the document whose version is checked.
    pub fn checked_path(&self) -> &str {
        match self {
            Change::Put { path, .. } | Change::Edit { path, .. } | Change::Delete { path, .. } => {
                path
            }
            Change::Copy { from, .. } | Change::Rename { from, .. } => from,
        }
    }

    /// The version that the checked document must have. `None` if it must not exist.
    pub fn expects(&self) -> Option<&str> {
        match self {
            Change::Put { expects, .. } => expects.as_deref(),
            Change::Edit { expects, .. }
            | Change::Delete { expects, .. }
            | Change::Copy { expects, .. }
            | Change::Rename { expects, .. } => Some(expects),
        }
    }

    /// The path at which no document is left after the change. `None` unless it is a deletion or a
    /// rename.
    pub fn removed_path(&self) -> Option<&str> {
        match self {
            Change::Delete { path, .. } => Some(path),
            Change::Rename { from, .. } => Some(from),
            Change::Put { .. } | Change::Edit { .. } | Change::Copy { .. } => None,
        }
    }

    /// Whether the change is a deletion.
    pub fn is_delete(&self) -> bool {
        matches!(self, Change::Delete { .. })
    }
}

/// Checks that a commit has at most [`MAX_CHANGES`].
///
/// # Errors
///
/// `too-large`.
pub fn check_count(changes: &[Change]) -> Result<(), Error> {
    if changes.len() <= MAX_CHANGES {
        return Ok(());
    }
    let message = format!("a commit of more than {MAX_CHANGES} changes: split it");
    Err(Error::new(ErrorCode::TooLarge, message))
}

/// Checks that a document of this many bytes may be written.
///
/// # Errors
///
/// `too-large`.
pub fn check_size(path: &str, bytes: u64) -> Result<(), Error> {
    if bytes <= MAX_DOCUMENT_BYTES {
        return Ok(());
    }
    let message = format!(
        "`{path}` would be longer than {MAX_DOCUMENT_BYTES} bytes (it would have {bytes}): shorten it \
         or split it"
    );
    Err(Error::new(ErrorCode::TooLarge, message))
}

/// The error for a document that does not have the version that a change expects.
pub fn version_mismatch(path: &str) -> Error {
    let message = format!("`{path}` is not as it was when it was read: read it again");
    Error::new(ErrorCode::VersionMismatch, message)
}

/// The error for a new path at which something already exists.
pub fn already_exists(path: &str) -> Error {
    let message = format!("`{path}` already exists: choose another path, or remove it");
    Error::new(ErrorCode::AlreadyExists, message)
}

/// Checks that no path is written or removed twice, and that no document is written where another path
/// of the commit has a directory. The source of a copy does not count: a backup and a change of the
/// same document belong together.
///
/// # Errors
///
/// `invalid-path`, with the index of the second change of a path, or of the one with the longer
/// path.
pub fn check_consistent(changes: &[Change]) -> Result<(), (usize, Error)> {
    let mut seen = BTreeSet::new();
    let mut files = BTreeSet::new();
    for (index, change) in changes.iter().enumerate() {
        let written = (!change.is_delete()).then_some(change.path());
        files.extend(written.map(|path| (change.area(), path)));
        for path in written.into_iter().chain(change.removed_path()) {
            if !seen.insert((change.area(), path)) {
                let message = format!("`{path}` stands twice in one commit");
                return Err((index, Error::new(ErrorCode::InvalidPath, message)));
            }
        }
    }
    for (index, change) in changes.iter().enumerate() {
        let path = change.path();
        let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
        if let Some(file) = above.find(|directory| files.contains(&(change.area(), *directory))) {
            let message =
                format!("`{file}` cannot be both a document and the directory of `{path}`");
            return Err((index, Error::new(ErrorCode::InvalidPath, message)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_are_applied_together_or_not_at_all() {
        let spliced = |splices: &[(Range<usize>, &str)]| {
            let splice = |(range, text): &(Range<usize>, &str)| Splice {
                range: range.clone(),
                inserts: text.as_bytes().to_vec(),
            };
            let splices: Vec<_> = splices.iter().map(splice).collect();
            let spliced = Splice::all(&splices, b"0123456789".to_vec())?;
            Some(String::from_utf8(spliced).expect("letters and digits"))
        };
        let fits =
            |splices: &[_], result: &str| assert_eq!(spliced(splices).as_deref(), Some(result));
        fits(&[], "0123456789");
        fits(&[(0..0, "a")], "a0123456789");
        fits(&[(0..3, ""), (4..5, "bc"), (10..10, "d")], "3bc56789d");
        fits(&[(5..5, "a"), (5..5, "b"), (5..10, "c")], "01234abc");
        #[expect(clippy::reversed_empty_ranges, reason = "it does not fit")]
        let reversed = 4..3;
        for unfit in [
            &[(11..11, "")][..],
            &[(5..11, "")],
            &[(usize::MAX..usize::MAX, "")],
            &[(1..usize::MAX, "")],
            &[(2..4, ""), (3..4, "")],
            &[(4..4, ""), (3..3, "")],
            &[(reversed, "")],
        ] {
            assert_eq!(spliced(unfit), None, "{unfit:?}");
        }
    }
}
