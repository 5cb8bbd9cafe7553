//! The place group of this toolset: one place for each store.

use crate::toolset::{PlaceDescription, PlaceKind};

/// The label of the group.
pub(super) const LABEL: &str = "stores";

/// The name of the collection of a store's memories in the search index.
pub(super) const COLLECTION: &str = "memories";

/// The description of the group for hosts.
pub(super) const STORES: PlaceDescription = PlaceDescription {
    label: LABEL,
    title: "Stores",
    kind: PlaceKind::Family,
    is_private: false,
    setting: "registry",
    default: "config:stores.yaml",
    databases: &[],
    missing: "this host has no registry of stores: set one, or mount the toolset `stores` where \
                  there is a configuration directory",
};
