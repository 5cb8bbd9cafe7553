//! Changes files under the lock of the tree.

use super::error::{Code, Error};
use super::interrupted;
use super::place::forget_in_index;
use super::tree::Files;
use crate::source::Owner;
use crate::storage::{Change, ErrorCode, MAX_CHANGES};

/// How many times a change is planned in all, if programs that take no lock change the same files.
const ATTEMPTS: usize = 4;

/// The maximum number of files that a call changes. A commit takes one change more, because its
/// first change may be the note about renames.
pub(super) const MAX_FILES: usize = MAX_CHANGES - 1;

/// Plans changes under the lock and commits them in one commit. `plan` reads the files that it
/// changes. It may run several times; the result of the last run counts. If two calls edit the same
/// file, the second call sees the edit of the first.
pub(super) fn change<T>(
    files: &Files<'_>,
    plan: impl Fn() -> Result<(T, Vec<Change>), Error>,
) -> Result<T, Error> {
    let writer = files.tree.lock(None)?;
    interrupted::complete(files, &*writer)?;
    let mut attempt = 1;
    loop {
        let (answer, changes) = plan()?;
        if changes.is_empty() {
            return Ok(answer);
        }
        // An atomic commit needs no note, because it cannot be interrupted midway. With a note,
        // others could find it before the second commit removes it.
        let is_atomic = files.tree.has_atomic_commits();
        let note = if is_atomic { None } else { interrupted::note(&changes) };
        let (first, last) = note.map_or((None, None), |(put, remove)| (Some(put), Some(remove)));
        let changes: Vec<Change> = first.into_iter().chain(changes).collect();
        match writer.commit(&changes) {
            Err(failed)
                if failed.error.code == ErrorCode::VersionMismatch
                    && failed.applied == 0
                    && attempt < ATTEMPTS =>
            {
                attempt += 1;
            }
            // Each place has its own limit for the length of a path.
            Err(failed) if failed.error.code == ErrorCode::InvalidPath => {
                return Err(Error::new(Code::InvalidPath, failed.for_caller().message));
            }
            Err(failed) => return Err(failed.into()),
            Ok(_) => {
                if let Some(last) = last {
                    let removed = writer.commit(&[last]).map_err(Error::from);
                    removed.map_err(Error::after_change)?;
                }
                let removed: Vec<&str> = changes.iter().filter_map(Change::removed_path).collect();
                forget_in_index(files.call.storage, &removed);
                files.call.leave_vectors(&Owner::new("files"));
                return Ok(answer);
            }
        }
    }
}
