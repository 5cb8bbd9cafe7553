//! The memories, as entries of a search.

use super::agent::Agent;
use super::agents::names;
use super::candidates::{Candidates, Near};
use super::error::{Code, Error};
use super::memory::Memory;
use crate::names::AgentName;
use crate::source::{Entries, Entry, EntryId, Owner, ReadArguments, ReadCall};
use crate::tool::{Call, Checked, Source};

pub(super) const SOURCE: Source = Source { toolset: "records", collect, read: |_, _, _| Ok(None) };

/// Adds the memories of the agents that are asked for and the caller may use.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let names = names(call)?;
    for name in names.iter().filter(|name| call.context.reaches(name)) {
        let owner = Owner { toolset: "records", agent: Some(name.clone()), ..Owner::default() };
        match AgentName::parse(name) {
            Some(agent) if entries.request.is_for(name) => {
                let tool = call.listed("records", "query_memories");
                add(call, &agent, owner, &tool, entries)?;
            }
            _ => entries.leave_out(owner),
        }
    }
    Ok(())
}

fn add(
    call: &Call<'_>,
    name: &AgentName,
    owner: Owner,
    tool: &str,
    entries: &mut Entries<'_>,
) -> Result<(), Error> {
    let agent = Agent::open(call, name)?;
    let candidates = match agent.read(|reader| reader.candidates(entries.request)) {
        Ok(candidates) => candidates,
        // Such as an agent whose name differs from another's only in case.
        Err(error)
            if matches!(
                error.code,
                Code::CorruptedData | Code::LimitExceeded | Code::InvalidInput
            ) =>
        {
            entries.warn(format!("records of agent `{}`: {}", agent.name, error.message()));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if candidates.unread > 0 {
        entries.warn(format!(
            "records of agent `{}`: {} memories are not in the index yet and were not searched; \
             each write adds some, and `{tool}` with `search` finds them now",
            agent.name, candidates.unread,
        ));
    }
    entries.begin(owner);
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
    let Candidates { memories, with_stem, near, .. } = candidates;
    entries.count(memories, &with_stem);
    for Near { memory, counts, is_match, begins_run } in near {
        if begins_run {
            entries.begin_run();
        }
        entries.add_counted(entry(memory, agent, tool), counts, is_match);
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
        unread: None,
    }
}
