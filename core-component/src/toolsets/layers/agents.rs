//! The names of the agents in the database.

use super::database::agent_names;
use super::error::Error;
use super::place::existing_database;
use crate::prompt::Partial;
use crate::storage::database::Mode;
use crate::tool::{Call, Checked};

/// The agents that the caller may use, to complete an argument. The agent is the only argument of
/// each prompt and resource template.
pub(super) fn complete(call: &Call<'_>, _partial: &Partial<'_>) -> Checked<Vec<String>> {
    names(call).map_err(Into::into)
}

/// The names of the agents that the caller may use, in byte order.
pub(super) fn names(call: &Call<'_>) -> Result<Vec<String>, Error> {
    let Some(database) = existing_database(call)? else { return Ok(Vec::new()) };
    let mut names = agent_names(&*database.begin(Mode::Read)?)?;
    names.retain(|name| call.context.reaches(name));
    Ok(names)
}
