//! The agents that have records in either format, to complete a name.

use std::collections::BTreeSet;

use super::error::Error;
use super::place::{DATABASE, LABEL};
use super::sqlite::agent_names;
use crate::names::name_error;
use crate::prompt::Partial;
use crate::storage::database::Kind;
use crate::storage::{Area, ErrorCode, Place, Tree};
use crate::tool::{Call, Checked};

/// The agents that the caller may use. All resource templates have this one argument.
pub(super) fn complete(call: &Call<'_>, _partial: &Partial<'_>) -> Checked<Vec<String>> {
    let names = names(call)?;
    Ok(names.into_iter().filter(|name| call.context.reaches(name)).collect())
}

/// The names of all agents that have records, in byte order.
pub(super) fn names(call: &Call<'_>) -> Result<BTreeSet<String>, Error> {
    let place = Place::named(LABEL);
    let mut names = with_files(&*call.storage.open(&place)?)?;
    match call.storage.open_database(&place, DATABASE, Kind::Kept, false) {
        Ok(database) => names.extend(agent_names(&*database)?),
        Err(error) if error.code == ErrorCode::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    Ok(names)
}

fn with_files(tree: &dyn Tree) -> Result<BTreeSet<String>, Error> {
    let entries = tree.list(Area::Documents, "")?.unwrap_or_default();
    let names = entries.iter().filter_map(|entry| entry.name.strip_suffix(".json"));
    Ok(names.filter(|name| name_error(name).is_none()).map(str::to_owned).collect())
}
