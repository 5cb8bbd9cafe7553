//! The place where the files are stored.

use std::collections::BTreeMap;

use crate::index;
use crate::storage::{Place, Storage};
use crate::toolset::{PlaceDescription, PlaceKind};

/// The label of the place.
pub(super) const LABEL: &str = "files";

/// Returns the name of the collection in the search index for all files, or for the files of one
/// agent. A search by a caller of some agents does not see the files of other agents, so it could
/// not keep an index of all files up to date.
pub(super) fn collection(agent: Option<&str>) -> String {
    agent.map_or_else(|| "files".to_owned(), |agent| format!("files/{agent}"))
}

/// Removes deleted files from all search indexes. `paths` are paths in the tree.
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

/// The description of the place for hosts.
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
