//! Changing files under the lock.

use super::error::Error;
use super::interrupted;
use super::place::forget_in_index;
use super::tree::Files;
use crate::source::Owner;
use crate::storage::{Change, ErrorCode, MAX_CHANGES};

/// How often a change is attempted while programs that take no lock change the same files.
const ATTEMPTS: usize = 4;

/// The most files that a call changes: a commit has 1,000 changes, and the first may be
/// the list of renames.
pub(super) const MAX_FILES: usize = MAX_CHANGES - 1;

/// Plans changes under the lock and commits them at once. `plan` reads what it changes, and may run
/// several times; the last run counts. So of two calls that edit one file, the second finds the edit of
/// the first.
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
        // Nothing interrupts a commit that is made as a whole. Between two, others would find the note.
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
