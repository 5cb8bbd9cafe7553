//! Renames of a directory that were interrupted.
//!
//! A commit renames one file after the other. So before the first, the same commit writes down all of
//! them in the bookkeeping. If it stops midway, the next writer renames the rest.

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::tree::Files;
use crate::storage::{Area, Change, EntryKind, MAX_DOCUMENT_BYTES, Writer, version_of};

const PATH: &str = "rename.json";

/// A file that is renamed: its paths in the tree, and the version of its bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Renamed {
    from: String,
    to: String,
    version: String,
}

/// The change that writes down the renames among these changes, and the one that removes the note
/// again. `None` unless there are several.
pub(super) fn note(changes: &[Change]) -> Option<(Change, Change)> {
    let renamed = changes.iter().filter_map(|change| match change.clone() {
        Change::Rename { from, to, expects, .. } => Some(Renamed { from, to, version: expects }),
        _ => None,
    });
    let renamed: Vec<Renamed> = renamed.collect();
    if renamed.len() < 2 {
        return None;
    }
    let contents = serde_json::to_vec(&renamed).expect("texts are JSON");
    let remove = removal(version_of(&contents));
    let put =
        Change::Put { area: Area::Bookkeeping, path: PATH.to_owned(), contents, expects: None };
    Some((put, remove))
}

fn removal(version: String) -> Change {
    Change::Delete { area: Area::Bookkeeping, path: PATH.to_owned(), expects: version }
}

/// Completes the renames that were interrupted, if there are any. A file that somebody has changed or
/// moved meanwhile stays where it is, and nothing is overwritten.
pub(super) fn complete(files: &Files<'_>, writer: &dyn Writer) -> Result<(), Error> {
    let Some(note) = files.tree.read(Area::Bookkeeping, PATH, MAX_DOCUMENT_BYTES)? else {
        return Ok(());
    };
    // Of a note that no call has written, nothing is to be completed.
    let renamed: Vec<Renamed> = serde_json::from_slice(&note.contents).unwrap_or_default();
    let mut changes = Vec::new();
    for Renamed { from, to, version } in renamed {
        if is_pending(files, &from, &to, &version)? {
            changes.push(Change::Rename { area: Area::Documents, from, to, expects: version });
        }
    }
    changes.push(removal(note.version));
    writer.commit(&changes)?;
    Ok(())
}

fn is_pending(files: &Files<'_>, from: &str, to: &str, version: &str) -> Result<bool, Error> {
    let is_file = |path: &str| -> Result<Option<bool>, Error> {
        let status = files.tree.stat(Area::Documents, path)?;
        Ok(status.map(|status| status.kind == EntryKind::File))
    };
    if is_file(from)? != Some(true) || is_file(to)?.is_some() {
        return Ok(false);
    }
    let document = files.tree.read(Area::Documents, from, MAX_DOCUMENT_BYTES)?;
    Ok(document.is_some_and(|document| document.version == version))
}
