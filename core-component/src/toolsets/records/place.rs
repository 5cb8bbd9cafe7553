//! The place of the records: the directory that a host lends to this toolset, with its database.

use super::database::{POSTGRES_TABLES, SQLITE_TABLES};
use crate::sql::DatabaseDescription;
use crate::toolset::{PlaceDescription, PlaceKind};

/// The label by which hosts and the core name the place.
pub(super) const LABEL: &str = "records";

/// The name of the database in this place.
pub(super) const DATABASE: &str = "memories.db";

/// The place, as it is described to hosts.
pub(super) const DIRECTORY: PlaceDescription = PlaceDescription {
    label: LABEL,
    title: "Directory of the records",
    kind: PlaceKind::Directory,
    is_private: true,
    setting: "directory",
    default: "~/.claude/agents/memories",
    databases: &[DatabaseDescription {
        name: DATABASE,
        dialects: &["sqlite", "postgres"],
        sqlite_tables: SQLITE_TABLES,
        postgres_tables: POSTGRES_TABLES,
    }],
    missing: "this host has no directory for records: set one, or mount the toolset `records` \
              where `HOME` is an absolute path",
};
