//! The memories, as entries of a search.

use super::agent::Agent;
use super::agents::{AgentsInDatabase, Files, names_in_database};
use super::candidates::{Candidates, Near};
use super::error::Error;
use super::memory::Memory;
use super::place::LABEL;
use crate::names::AgentName;
use crate::source::{Entries, Entry, EntryId, Owner, ReadArguments, ReadCall};
use crate::storage::Place;
use crate::tool::{Call, Checked, Source};
use crate::work::OF_DOCUMENT;

/// So many bytes of a file are parsed with the work of one byte that is searched.
const BYTES_OF_PARSING: u64 = 2;

pub(super) const SOURCE: Source = Source { toolset: "records", collect, read: |_, _, _| Ok(None) };

/// Adds the memories of the agents that are asked for and the caller may use.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let files = Files::list(&*call.storage.open(&Place::named(LABEL)).map_err(Error::from)?)?;
    let (request, tool) = (entries.request, call.listed("records", "query_memories"));
    let mut names = files.agents();
    match names_in_database(call) {
        Ok(AgentsInDatabase { names: more, warning }) => {
            names.extend(more);
            // A caller that may use some agents only hears of no other.
            if let Some(warning) = warning.filter(|_| call.context.agents.is_none()) {
                entries.warn(warning);
            }
        }
        Err(error) => {
            let message = error.message();
            entries.warn(format!("records in `memories.db` were not searched: {message}"));
        }
    }
    let mut agents = Vec::new();
    for name in names.into_iter().filter(|name| call.context.reaches(name)) {
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
        let added =
            Agent::open_listed(call, name, &files).and_then(|agent| add(&agent, &tool, entries));
        if let Err(error) = added {
            let name = name.as_str();
            entries.warn(format!("records of agent `{name}`: {}", error.message()));
        }
    }
    Ok(())
}

fn owner(agent: &str) -> Owner {
    Owner { toolset: "records", agent: Some(agent.to_owned()), ..Owner::default() }
}

fn add(agent: &Agent<'_>, tool: &str, entries: &mut Entries<'_>) -> Result<(), Error> {
    let (candidates, unreadable) =
        agent.read(|reader| Ok((reader.candidates(entries.request)?, reader.unreadable())))?;
    if let Some(warning) = unreadable {
        entries.warn(format!("records of agent `{}`: {warning}", agent.name));
    }
    if candidates.unread > 0 {
        entries.warn(format!(
            "records of agent `{}`: {} memories are not in the index yet and were not searched; \
             each write adds some, and `{tool}` with `search` finds them now",
            agent.name, candidates.unread,
        ));
    }
    if let Some(reason) = &candidates.not_compared {
        entries.warn(format!("records of agent `{}`: {reason}", agent.name));
    }
    if candidates.wants_vector {
        entries.want_vector();
    }
    entries.begin(owner(agent.name));
    entries.skip_some(owner(agent.name), candidates.skipped, "memory", "memories");
    add_candidates(entries, candidates, agent.name, tool);
    Ok(())
}

/// Adds the memories of the last owner.
pub(super) fn add_candidates(
    entries: &mut Entries<'_>,
    candidates: Candidates,
    agent: &str,
    tool: &str,
) {
    let Candidates { memories, with_term, near, .. } = candidates;
    entries.count(memories, &with_term);
    for Near { memory, counts, matches, similarity, begins_run } in near {
        if begins_run {
            entries.begin_run();
        }
        let entry = Entry { similarity, ..entry(memory, agent, tool) };
        entries.add_counted(entry, counts, matches);
    }
}

fn entry(memory: Memory, agent: &str, tool: &str) -> Entry {
    let arguments = ReadArguments {
        agent_id: Some(agent.to_owned()),
        ids: vec![memory.id.clone()],
        archived: Some(memory.archived),
        ..ReadArguments::default()
    };
    Entry {
        path: None,
        section: None,
        created_at: Some(memory.created_at),
        day: None,
        text: memory.content,
        about: String::new(),
        importance: memory.importance as i8 - 1,
        is_archived: memory.archived,
        read: Some(ReadCall { tool: tool.to_owned(), arguments }),
        id: Some(EntryId::Text(memory.id)),
        ..Entry::default()
    }
}
