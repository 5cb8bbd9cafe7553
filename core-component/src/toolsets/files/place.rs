//! The place where the files are stored.

use std::collections::BTreeMap;

use crate::index;
use crate::storage::{Place, Storage};
use crate::toolset::{PlaceDescription, PlaceKind};

/// The label of the place.
pub(super) const LABEL: &str = "files";

/// Returns the name of the collection in the search index: for all files, or for the files of one
/// agent. Each agent has its own collection, because a caller of some agents cannot read the other
/// files and so cannot index them.
pub(super) fn collection(agent: Option<&str>) -> String {
    agent.map_or_else(|| "files".to_owned(), |agent| format!("files/{agent}"))
}

/// Removes deleted files from all collections of the search index. `paths` are paths in the tree.
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
