//! Changing files under the lock.

use super::error::Error;
use super::place::{COLLECTION, LABEL};
use super::tree::Files;
use crate::index;
use crate::storage::{Change, ErrorCode, Place};

/// How often a change is attempted while programs that take no lock change the same files.
const ATTEMPTS: usize = 4;

/// Plans changes under the lock and commits them at once. `plan` reads what it changes, and may run
/// several times; the last run counts. So of two calls that edit one file, the second finds the edit of
/// the first.
pub(super) fn change<T>(
    files: &Files<'_>,
    plan: impl Fn() -> Result<(T, Vec<Change>), Error>,
) -> Result<T, Error> {
    let writer = files.tree.lock(None)?;
    let mut attempt = 1;
    loop {
        let (answer, changes) = plan()?;
        if changes.is_empty() {
            return Ok(answer);
        }
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
                let removed: Vec<&str> = changes.iter().filter_map(Change::removed_path).collect();
                index::forget(files.call.storage, &Place::named(LABEL), COLLECTION, &removed);
                return Ok(answer);
            }
        }
    }
}
