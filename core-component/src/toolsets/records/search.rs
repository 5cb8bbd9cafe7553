//! The memories of agents, as entries of a search.

use super::agent::Agent;
use super::agents::{Files, names, reached};
use super::entries::{Search, owner};
use super::error::Error;
use super::place::LABEL;
use crate::budget::OF_DOCUMENT;
use crate::names::AgentName;
use crate::source::{Collector, DocumentKey, OwnedCollection, Owner, ReadDocuments};
use crate::storage::Place;
use crate::tool::{Call, Checked, Source};

/// Parsing this many bytes of a file counts as much work as searching one byte.
const BYTES_OF_PARSING: u64 = 8;

pub(super) const SOURCE: Source = Source {
    toolset: "records",
    keeps_by_agent: true,
    collect,
    read: |call, owner, keys| Ok(read(call, owner, keys)?),
    collections,
};

/// The collections of the index, one for each agent with records that the caller may use.
fn collections(call: &Call<'_>) -> Checked<Vec<OwnedCollection>> {
    let of_agent = |agent: String| OwnedCollection {
        owner: owner(&agent),
        place: Place::named(LABEL),
        name: agent,
    };
    let names = names(call)?.into_iter().filter(|name| call.context.reaches(name));
    Ok(names.map(of_agent).collect())
}

/// Adds the memories of all agents that the search asks for and that the caller may use.
fn collect(call: &Call<'_>, collector: &mut Collector<'_>) -> Checked<()> {
    let files = Files::list(&*call.storage.open(&Place::named(LABEL)).map_err(Error::from)?)?;
    let request = collector.request;
    let (names, warning) = reached(call, &files, "searched");
    warning.into_iter().for_each(|warning| collector.warn(warning));
    let mut agents = Vec::new();
    for name in names {
        match AgentName::parse(&name) {
            Some(agent) if request.is_for(&owner(&name)) => agents.push(agent),
            _ => collector.leave_out(owner(&name)),
        }
    }
    let whole = request.budget.reserve();
    for (at, name) in agents.iter().enumerate() {
        request.budget.begin(whole, agents.len() - at);
        if !request.budget.take(OF_DOCUMENT + files.size(name.as_str()) / BYTES_OF_PARSING) {
            collector.skip(owner(name.as_str()), "all memories");
            continue;
        }
        let agent = Agent::open_listed(call, name, &files).map(Agent::keeping_file);
        let added = agent.and_then(|agent| add(&agent, collector));
        if let Err(error) = added {
            let name = name.as_str();
            collector.warn(format!("records of agent `{name}`: {}", error.message()));
        }
    }
    Ok(())
}

fn add(agent: &Agent<'_>, collector: &mut Collector<'_>) -> Result<(), Error> {
    let search = Search::new(agent.call, agent.name);
    let mut index = search.index(collector.request);
    collector.begin(search.owner());
    let unreadable = agent.read(|reader| {
        reader.add_to(&search, &mut index, collector)?;
        Ok(reader.unreadable())
    })?;
    index.update();
    if let Some(warning) = unreadable {
        collector.warn(format!("records of agent `{}`: {warning}", agent.name));
    }
    Ok(())
}

/// Reads the memories with these keys of the index.
fn read(call: &Call<'_>, owner: &Owner, keys: &[&DocumentKey]) -> Result<ReadDocuments, Error> {
    let Some(name) = owner.agent.as_deref().and_then(AgentName::parse) else {
        return Ok(Vec::new());
    };
    let key = |key: &&DocumentKey| match key {
        DocumentKey::Row { key, .. } => Some(*key),
        DocumentKey::Path(_) => None,
    };
    let keys: Vec<i64> = keys.iter().filter_map(key).collect();
    let agent = Agent::open(call, &name)?.keeping_file();
    agent.read(|reader| reader.read_rows(&Search::new(call, agent.name), &keys))
}
