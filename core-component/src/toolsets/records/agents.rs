//! The names of the agents that have records, in either format.

use std::collections::{BTreeMap, BTreeSet};

use super::database::agent_names;
use super::error::{Code, Error};
use super::place::{DATABASE, LABEL};
use crate::existing;
use crate::names::name_error;
use crate::prompt::Partial;
use crate::storage::database::Kind;
use crate::storage::{Area, EntryKind, ErrorCode, Place, Tree};
use crate::tool::{Call, Checked};

/// The agents with records that the caller may use, to complete a resource's URI. The agent is the
/// only argument of each resource template.
pub(super) fn complete(call: &Call<'_>, _partial: &Partial<'_>) -> Checked<Vec<String>> {
    let names = names(call)?;
    Ok(names.into_iter().filter(|name| call.context.reaches(name)).collect())
}

/// The names of all agents that have records, in byte order.
pub(super) fn names(call: &Call<'_>) -> Result<BTreeSet<String>, Error> {
    let files = Files::list(&*call.storage.open(&Place::named(LABEL))?)?;
    let mut names = files.agents();
    names.extend(names_in_database(call)?.names);
    Ok(names)
}

/// Returns the names of the agents that have records and that the caller may use, and a warning if
/// agents of the database are left out. The warning says that their records were not `verb`, such
/// as `searched`.
pub(super) fn reached(
    call: &Call<'_>,
    files: &Files,
    verb: &str,
) -> (BTreeSet<String>, Option<String>) {
    let mut names = files.agents();
    let warning = match names_in_database(call) {
        Ok(AgentsInDatabase { names: more, warning }) => {
            names.extend(more);
            // A caller that may use only some agents is not told that other agents exist.
            warning.filter(|_| call.context.agents.is_none())
        }
        Err(error) => {
            let message = error.message();
            Some(format!("records in `memories.db` were not {verb}: {message}"))
        }
    };
    names.retain(|name| call.context.reaches(name));
    (names, warning)
}

/// The sentences that say which agents there are, for an answer without memories. `None` for a
/// caller that may use only one agent. Also `None` if the agents cannot be listed: then a warning
/// is added to `warnings`.
pub(super) fn there_are(
    call: &Call<'_>,
    agent: &str,
    warnings: &mut Vec<String>,
) -> Option<String> {
    existing::agents(call.context, agent, || names(call)).unwrap_or_else(|error| {
        warnings.push(not_listed(&error));
        None
    })
}

/// Adds to a `NOT_FOUND` error which agents there are. Returns other errors as they are.
pub(super) fn with_agents(call: &Call<'_>, agent: &str, error: Error) -> Error {
    if error.code != Code::NotFound {
        return error;
    }
    match existing::agents(call.context, agent, || names(call)) {
        Ok(None) => error,
        Ok(Some(there_are)) => error.with_suffix(&format!("; {there_are}")),
        Err(failed) => error.with_suffix(&format!("; {}", not_listed(&failed))),
    }
}

fn not_listed(error: &Error) -> String {
    format!("the agents with memories could not be listed: {}", error.message())
}

/// The agents in the database.
#[derive(Default)]
pub(super) struct AgentsInDatabase {
    /// The valid names of agents that have rows.
    pub names: BTreeSet<String>,
    /// The warning about agents with invalid names, which another program wrote. No call can use
    /// these agents. `None` if all names are valid.
    pub warning: Option<String>,
}

/// Reads the names of the agents that have rows. There are none if the database does not exist.
pub(super) fn names_in_database(call: &Call<'_>) -> Result<AgentsInDatabase, Error> {
    match call.storage.open_database(&Place::named(LABEL), DATABASE, Kind::Kept, false) {
        Ok(database) => {
            let (names, unreadable) = agent_names(&*database)?;
            let (valid, invalid): (Vec<_>, Vec<_>) =
                names.into_iter().partition(|name| name_error(name).is_none());
            let warning = invalid_names(&invalid, unreadable);
            Ok(AgentsInDatabase { names: valid.into_iter().collect(), warning })
        }
        Err(error) if error.code == ErrorCode::NotFound => Ok(AgentsInDatabase::default()),
        Err(error) => Err(error.into()),
    }
}

/// The warning about agents whose names are invalid or not UTF-8, or `None` if there are none. The
/// warning does not show the names: another program may have written any text.
fn invalid_names(invalid: &[String], unreadable: usize) -> Option<String> {
    let count = invalid.len() + unreadable;
    let agents = match count {
        0 => return None,
        1 => "1 agent in `memories.db` has a name that is".to_owned(),
        _ => format!("{count} agents in `memories.db` have names that are"),
    };
    Some(format!(
        "{agents} not valid, so their memories cannot be reached: correct it in the table `agents`"
    ))
}

/// The files of agents in the directory of records.
pub(super) struct Files {
    /// The names of the entries that end with `.json`, without this ending, in the order of the
    /// directory.
    names: Vec<String>,
    /// The entries of `names` that are files, with their sizes. The key is the name in lower case.
    by_folded: BTreeMap<String, Vec<(String, u64)>>,
}

impl Files {
    pub fn list(tree: &dyn Tree) -> Result<Self, Error> {
        let entries = tree.list(Area::Documents, "")?.unwrap_or_default();
        let mut files = Self { names: Vec::new(), by_folded: BTreeMap::new() };
        for entry in entries {
            let Some(name) = entry.name.strip_suffix(".json") else { continue };
            files.names.push(name.to_owned());
            if entry.status.kind == EntryKind::File {
                let folded = files.by_folded.entry(name.to_ascii_lowercase()).or_default();
                folded.push((name.to_owned(), entry.status.size));
            }
        }
        Ok(files)
    }

    /// The valid names of agents that have a file.
    pub fn agents(&self) -> BTreeSet<String> {
        self.names.iter().filter(|name| name_error(name).is_none()).cloned().collect()
    }

    /// The size of an agent's file, or 0 if it has none.
    pub fn size(&self, agent: &str) -> u64 {
        self.alike(agent).iter().find(|(name, _)| name == agent).map_or(0, |(_, size)| *size)
    }

    /// Fails if another agent's file has a name that differs from `agent` only in case: a file
    /// system that ignores case could not hold the files of both. Succeeds if `agent` has a file
    /// already: another program made both files.
    pub fn check_case(&self, agent: &str) -> Result<(), Error> {
        if self.alike(agent).iter().any(|(name, _)| name == agent) {
            return Ok(());
        }
        let twin = self.alike(agent).iter().find(|(name, _)| name != agent);
        twin.map_or(Ok(()), |(twin, _)| Err(Error::case_twin(agent, twin)))
    }

    fn alike(&self, agent: &str) -> &[(String, u64)] {
        self.by_folded.get(&agent.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }
}
