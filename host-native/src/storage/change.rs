//! What a commit is asked to do.

use super::tree::Area;
use super::{Error, ErrorCode};
use std::collections::BTreeSet;

/// What is to become of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is to hold these contents.
    Put {
        /// Where it stands.
        area: Area,
        /// Its path there.
        path: String,
        /// Its bytes.
        contents: Vec<u8>,
        /// The version that it must be at; none where it must not exist.
        expects: Option<String>,
    },
    /// Parts of it are to be others.
    Edit {
        /// Where it stands.
        area: Area,
        /// Its path there.
        path: String,
        /// In order, none overlapping another.
        splices: Vec<Splice>,
        /// The version that it must be at.
        expects: String,
    },
    /// It is to be gone.
    Delete {
        /// Where it stands.
        area: Area,
        /// Its path there.
        path: String,
        /// The version that it must be at.
        expects: String,
    },
    /// It is to be kept, as it is before the commit, under another path as well, whatever document
    /// stands there: a backup.
    Copy {
        /// Where both stand.
        area: Area,
        /// Its path there.
        from: String,
        /// The path of the backup, which has the permission bits of the document.
        to: String,
        /// The version that it must be at.
        expects: String,
    },
    /// It is to stand at another path, where nothing stands.
    Rename {
        /// Where both stand.
        area: Area,
        /// Its path there.
        from: String,
        /// Its new path.
        to: String,
        /// The version that it must be at.
        expects: String,
    },
}

/// Other bytes in the place of a range of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Where the range begins in the document as it is before the commit, in bytes.
    pub at: u64,
    /// How many bytes it has.
    pub removes: u64,
    /// What stands in its place.
    pub inserts: Vec<u8>,
}

/// Makes all splices; none where they do not fit. What stands before the first is left alone, as
/// nearly all of a long document to which something is added.
pub(super) fn spliced(mut contents: Vec<u8>, splices: &[Splice]) -> Option<Vec<u8>> {
    let Some(first) = splices.first() else { return Some(contents) };
    let mut at = usize::try_from(first.at).ok().filter(|at| *at <= contents.len())?;
    let mut rest = &contents.split_off(at)[..];
    for Splice { at: from, removes, inserts } in splices {
        let from = usize::try_from(*from).ok()?;
        let (before, after) = rest.split_at_checked(from.checked_sub(at)?)?;
        let (removed, after) = after.split_at_checked(usize::try_from(*removes).ok()?)?;
        contents.extend_from_slice(before);
        contents.extend_from_slice(inserts);
        (at, rest) = (from + removed.len(), after);
    }
    contents.extend_from_slice(rest);
    Some(contents)
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
    pub(super) fn area(&self) -> Area {
        match self {
            Change::Put { area, .. }
            | Change::Edit { area, .. }
            | Change::Delete { area, .. }
            | Change::Copy { area, .. }
            | Change::Rename { area, .. } => *area,
        }
    }

    /// The path at which a document is put or removed.
    pub(super) fn path(&self) -> &str {
        match self {
            Change::Put { path, .. } | Change::Edit { path, .. } | Change::Delete { path, .. } => {
                path
            }
            Change::Copy { to, .. } | Change::Rename { to, .. } => to,
        }
    }

    /// The path whose version is checked.
    pub(super) fn checked_path(&self) -> &str {
        match self {
            Change::Put { path, .. } | Change::Edit { path, .. } | Change::Delete { path, .. } => {
                path
            }
            Change::Copy { from, .. } | Change::Rename { from, .. } => from,
        }
    }

    /// The version that must be found there; none where nothing must.
    pub(super) fn expects(&self) -> Option<&str> {
        match self {
            Change::Put { expects, .. } => expects.as_deref(),
            Change::Edit { expects, .. }
            | Change::Delete { expects, .. }
            | Change::Copy { expects, .. }
            | Change::Rename { expects, .. } => Some(expects),
        }
    }

    /// The path at which nothing stands afterwards.
    pub(super) fn removed_path(&self) -> Option<&str> {
        match self {
            Change::Delete { path, .. } => Some(path),
            Change::Rename { from, .. } => Some(from),
            Change::Put { .. } | Change::Edit { .. } | Change::Copy { .. } => None,
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
    fn splices_are_made_or_refused_as_a_whole() {
        let spliced = |splices: &[(u64, u64, &str)]| {
            let splice = |&(at, removes, text): &(u64, u64, &str)| Splice {
                at,
                removes,
                inserts: text.as_bytes().to_vec(),
            };
            let splices: Vec<_> = splices.iter().map(splice).collect();
            let spliced = spliced(b"0123456789".to_vec(), &splices)?;
            Some(String::from_utf8(spliced).expect("letters and digits"))
        };
        let fits = |splices, result: &str| assert_eq!(spliced(splices).as_deref(), Some(result));
        fits(&[], "0123456789");
        fits(&[(0, 0, "a")], "a0123456789");
        fits(&[(0, 3, ""), (4, 1, "bc"), (10, 0, "d")], "3bc56789d");
        fits(&[(5, 0, "a"), (5, 0, "b"), (5, 5, "c")], "01234abc");
        for unfit in [
            &[(11, 0, "")][..],
            &[(5, 6, "")],
            &[(u64::MAX, 0, "")],
            &[(1, u64::MAX, "")],
            &[(2, 2, ""), (3, 1, "")],
            &[(4, 0, ""), (3, 0, "")],
        ] {
            assert_eq!(spliced(unfit), None, "{unfit:?}");
        }
    }
}
