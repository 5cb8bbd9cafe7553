//! The place of the files.

use std::collections::BTreeMap;

use crate::index;
use crate::storage::{Place, Storage};
use crate::toolset::{PlaceDescription, PlaceKind};

/// Its label.
pub(super) const LABEL: &str = "files";

/// The collection in the index of a search of all files, or of those of one agent. A search of a caller
/// who reaches the files of some agents alone knows nothing of the others, so it leaves their index alone.
pub(super) fn collection(agent: Option<&str>) -> String {
    agent.map_or_else(|| "files".to_owned(), |agent| format!("files/{agent}"))
}

/// Removes files that were deleted for good from the index of every search. `paths` are those in the
/// tree.
pub(super) fn forget_in_index(storage: &dyn Storage, paths: &[&str]) {
    let mut collections = BTreeMap::from([(collection(None), paths.to_vec())]);
    for path in paths {
        let agent = path.split('/').next();
        collections.entry(collection(agent)).or_default().push(*path);
    }
    for (collection, paths) in collections {
        index::forget(storage, &Place::named(LABEL), &collection, &paths);
    }
}

/// The place as it is described to hosts.
pub(super) const DIRECTORY: PlaceDescription = PlaceDescription {
    label: LABEL,
    title: "Directory of the memory files",
    kind: PlaceKind::Directory,
    is_private: true,
    setting: "directory",
    default: "data:files",
    databases: &[],
    missing: "this host has no directory for memory files: set one, or mount the toolset `files` \
              where there is a data directory",
};
