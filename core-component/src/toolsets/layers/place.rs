//! The place of the layers: the database that a host lends to this toolset.

use super::database::{POSTGRES_TABLES, SQLITE_TABLES};
use super::error::Error;
use crate::sql::DatabaseDescription;
use crate::storage::database::{Connection, Kind};
use crate::storage::{self, ErrorCode, Place};
use crate::tool::Call;
use crate::toolset::{PlaceDescription, PlaceKind};

/// The label by which hosts and the core name the place.
pub(super) const LABEL: &str = "layers";

/// The name of the database in this place.
pub(super) const DATABASE: &str = "agent_memory.db";

/// The place, as it is described to hosts.
pub(super) const FILE: PlaceDescription = PlaceDescription {
    label: LABEL,
    title: "Database of the layers",
    kind: PlaceKind::File,
    is_private: true,
    setting: "file",
    default: "data:agent_memory.db",
    databases: &[DatabaseDescription {
        name: DATABASE,
        dialects: &["sqlite", "postgres"],
        sqlite_tables: SQLITE_TABLES,
        postgres_tables: POSTGRES_TABLES,
    }],
    missing: "this host has no database for layers: set one, or mount the toolset `layers` where \
              there is a data directory",
};

/// Opens the database. If it is missing, creates it if `create` is true, and fails otherwise.
pub(super) fn database<'a>(
    call: &'a Call<'_>,
    create: bool,
) -> Result<Box<dyn Connection + 'a>, storage::Error> {
    call.storage.open_database(&Place::named(LABEL), DATABASE, Kind::Kept, create)
}

/// Opens the database. `None` if it does not exist.
pub(super) fn existing_database<'a>(
    call: &'a Call<'_>,
) -> Result<Option<Box<dyn Connection + 'a>>, Error> {
    match database(call, false) {
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        opened => Ok(Some(opened?)),
    }
}
