//! Completes renames of a directory that were interrupted.
//!
//! A tree without atomic commits renames one file after the other. So each commit of renames first
//! writes a note with all of them to the bookkeeping area. If the commit stops midway, the next
//! writer makes the remaining renames, as far as possible.

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::tree::Files;
use crate::storage::{Area, Change, MAX_DOCUMENT_BYTES, Writer, version_of};

const PATH: &str = "rename.json";

/// The rename of one file: its paths in the tree, and the version of its contents.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Renamed {
    from: String,
    to: String,
    version: String,
}

/// Returns two changes: one that writes a note about the renames in `changes`, and one that deletes
/// the note. `None` for fewer than two renames.
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

/// Makes the renames of an interrupted commit, if there is a note. Each rename is a separate
/// commit. It overwrites nothing, and leaves a file that was changed or moved meanwhile.
///
/// Deletes the note even if a file cannot be renamed. The interrupted commit may be that of another
/// caller: the current call does not depend on its files, and an error could reveal their paths.
pub(super) fn complete(files: &Files<'_>, writer: &dyn Writer) -> Result<(), Error> {
    let Some(note) = files.tree.read(Area::Bookkeeping, PATH, MAX_DOCUMENT_BYTES)? else {
        return Ok(());
    };
    // A note that is not valid JSON was not written by this toolset: it has no renames.
    let renamed: Vec<Renamed> = serde_json::from_slice(&note.contents).unwrap_or_default();
    for Renamed { from, to, version } in renamed {
        let area = Area::Documents;
        let _ = writer.commit(&[Change::Rename { area, from, to, expects: version }]);
    }
    writer.commit(&[removal(note.version)])?;
    Ok(())
}
