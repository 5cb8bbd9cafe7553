//! The family of places of this toolset.

use crate::toolset::{PlaceDescription, PlaceKind};

/// Its label.
pub(super) const LABEL: &str = "stores";

/// The collection of a store's memories in the index of a search.
pub(super) const COLLECTION: &str = "memories";

/// The family as it is described to hosts.
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
