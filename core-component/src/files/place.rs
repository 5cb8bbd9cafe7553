//! The place of the files.

use crate::toolset::{PlaceDescription, PlaceKind};

/// Its label.
pub(super) const LABEL: &str = "files";

/// The collection of the files in the index of a search.
pub(super) const COLLECTION: &str = "files";

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
