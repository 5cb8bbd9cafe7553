//! The memories, as entries of a search.

use super::agent::Agent;
use super::agents::{Files, reached};
use super::entries::{Search, owner};
use super::error::Error;
use super::place::LABEL;
use crate::names::AgentName;
use crate::source::{DocumentKey, Entries, Owner, ReadDocuments};
use crate::storage::Place;
use crate::tool::{Call, Checked, Source};
use crate::work::OF_DOCUMENT;

/// So many bytes of a file are parsed with the work of one byte that is searched.
const BYTES_OF_PARSING: u64 = 2;

pub(super) const SOURCE: Source =
    Source { toolset: "records", collect, read: |call, owner, keys| Ok(read(call, owner, keys)?) };

/// Adds the memories of the agents that are asked for and the caller may use.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let files = Files::list(&*call.storage.open(&Place::named(LABEL)).map_err(Error::from)?)?;
    let request = entries.request;
    let (names, warning) = reached(call, &files, "searched");
    warning.into_iter().for_each(|warning| entries.warn(warning));
    let mut agents = Vec::new();
    for name in names {
        match AgentName::parse(&name) {
            Some(agent) if request.is_for(&name) => agents.push(agent),
            _ => entries.leave_out(owner(&name)),
        }
    }
    let whole = request.work.share();
    for (at, name) in agents.iter().enumerate() {
        request.work.begin(whole, agents.len() - at);
        if !request.work.take(OF_DOCUMENT + files.size(name.as_str()) / BYTES_OF_PARSING) {
            entries.skip(owner(name.as_str()), "all memories");
            continue;
        }
        let added = Agent::open_listed(call, name, &files).and_then(|agent| add(&agent, entries));
        if let Err(error) = added {
            let name = name.as_str();
            entries.warn(format!("records of agent `{name}`: {}", error.message()));
        }
    }
    Ok(())
}

fn add(agent: &Agent<'_>, entries: &mut Entries<'_>) -> Result<(), Error> {
    let search = Search::new(agent.call, agent.name);
    let mut index = search.index(entries.request);
    entries.begin(search.owner());
    let unreadable = agent.read(|reader| {
        reader.add_to(&search, &mut index, entries)?;
        Ok(reader.unreadable())
    })?;
    index.update_rows();
    if let Some(warning) = unreadable {
        entries.warn(format!("records of agent `{}`: {warning}", agent.name));
    }
    Ok(())
}

/// Reads rows again.
fn read(call: &Call<'_>, owner: &Owner, keys: &[&DocumentKey]) -> Result<ReadDocuments, Error> {
    let Some(name) = owner.agent.as_deref().and_then(AgentName::parse) else {
        return Ok(Vec::new());
    };
    let key = |key: &&DocumentKey| match key {
        DocumentKey::Row { key, .. } => Some(*key),
        DocumentKey::Path(_) => None,
    };
    let keys: Vec<i64> = keys.iter().filter_map(key).collect();
    let agent = Agent::open(call, &name)?;
    agent.read(|reader| reader.read_rows(&Search::new(call, agent.name), &keys))
}
