//! The place of the database of items.

use super::database::{POSTGRES_TABLES, SQLITE_TABLES};
use super::error::Error;
use crate::sql::DatabaseDescription;
use crate::storage::database::{Connection, Kind};
use crate::storage::{ErrorCode, Place};
use crate::tool::Call;
use crate::toolset::{PlaceDescription, PlaceKind};

/// The label of the place.
const LABEL: &str = "items";

/// The name of the database in the place.
const DATABASE: &str = "items.db";

/// The description of the place for hosts.
pub(super) const FILE: PlaceDescription = PlaceDescription {
    label: LABEL,
    title: "Database of the items",
    kind: PlaceKind::File,
    is_private: true,
    setting: "file",
    default: "data:items.db",
    databases: &[DatabaseDescription {
        name: DATABASE,
        dialects: &["sqlite", "postgres"],
        sqlite_tables: SQLITE_TABLES,
        postgres_tables: POSTGRES_TABLES,
    }],
    missing: "this host has no database for items: set one, or mount the toolset `items` where \
              there is a data directory",
};

pub(super) fn place() -> Place {
    Place::named(LABEL)
}

/// Opens the database, and creates it if it is missing.
pub(super) fn database<'a>(call: &'a Call<'_>) -> Result<Box<dyn Connection + 'a>, Error> {
    Ok(call.storage.open_database(&place(), DATABASE, Kind::Kept, true)?)
}

/// Opens the database. `None` if it does not exist.
pub(super) fn existing_database<'a>(
    call: &'a Call<'_>,
) -> Result<Option<Box<dyn Connection + 'a>>, Error> {
    match call.storage.open_database(&place(), DATABASE, Kind::Kept, false) {
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        opened => Ok(Some(opened?)),
    }
}
