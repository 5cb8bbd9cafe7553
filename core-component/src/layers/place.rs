//! The place of the layers.

use crate::toolset::{DatabaseDescription, PlaceDescription, PlaceKind};

/// Its label.
pub(super) const LABEL: &str = "layers";

/// The database that the file is.
pub(super) const DATABASE: &str = "agent_memory.db";

/// The place as it is described to hosts.
pub(super) const FILE: PlaceDescription = PlaceDescription {
    label: LABEL,
    title: "Database of the layers",
    kind: PlaceKind::File,
    is_private: true,
    setting: "file",
    default: "data:agent_memory.db",
    databases: &[DatabaseDescription { name: DATABASE, dialects: &["sqlite"] }],
    missing: "this host has no database for layers: set one, or mount the toolset `layers` where \
              there is a data directory",
};
