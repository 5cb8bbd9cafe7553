//! Renames of a directory that were interrupted.
//!
//! A commit renames one file after the other. So before the first, the same commit writes down all of
//! them in the bookkeeping. If it stops midway, the next writer renames the rest, as far as it can.

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::tree::Files;
use crate::storage::{Area, Change, MAX_DOCUMENT_BYTES, Writer, version_of};

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

/// Completes the renames that were interrupted, if there are any, each by itself. A file that somebody
/// has changed or moved meanwhile stays where it is, and nothing is overwritten.
///
/// A file that cannot be renamed stays where it is, too, and the note goes all the same. The writer may
/// be another caller, whose change does not depend on that file, and who may not hear of its path.
pub(super) fn complete(files: &Files<'_>, writer: &dyn Writer) -> Result<(), Error> {
    let Some(note) = files.tree.read(Area::Bookkeeping, PATH, MAX_DOCUMENT_BYTES)? else {
        return Ok(());
    };
    // Of a note that no call has written, nothing is to be completed.
    let renamed: Vec<Renamed> = serde_json::from_slice(&note.contents).unwrap_or_default();
    for Renamed { from, to, version } in renamed {
        let area = Area::Documents;
        let _ = writer.commit(&[Change::Rename { area, from, to, expects: version }]);
    }
    writer.commit(&[removal(note.version)])?;
    Ok(())
}
