//! The memories, as entries of a search.

use std::cmp::Reverse;

use super::agent::Agent;
use super::agents::{AgentsInDatabase, Files, names_in_database};
use super::error::Error;
use super::memory::{Kind, Memory};
use super::place::LABEL;
use crate::index::{self, Facts, Index, Written};
use crate::names::AgentName;
use crate::ranking::cost;
use crate::source::{
    DocumentKey, Entries, Entry, EntryId, Owner, ReadArguments, ReadCall, ReadDocuments, Request,
};
use crate::storage::Place;
use crate::tool::{Call, Checked, Source};
use crate::work::{OF_DOCUMENT, OF_ENTRY};

/// So many bytes of a file are parsed with the work of one byte that is searched.
const BYTES_OF_PARSING: u64 = 2;

pub(super) const SOURCE: Source =
    Source { toolset: "records", collect, read: |call, owner, keys| Ok(read(call, owner, keys)?) };

/// Adds the memories of the agents that are asked for and the caller may use.
fn collect(call: &Call<'_>, entries: &mut Entries<'_>) -> Checked<()> {
    let files = Files::list(&*call.storage.open(&Place::named(LABEL)).map_err(Error::from)?)?;
    let request = entries.request;
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
        let added = Agent::open_listed(call, name, &files).and_then(|agent| add(&agent, entries));
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

/// Removes memories that were deleted for good from the index.
pub(super) fn forget(agent: &Agent<'_>, keys: &[i64]) {
    let search = Search::new(agent.call, agent.name);
    index::forget_rows(agent.call.storage, &search.place(), agent.name, keys);
}

/// Removes all memories of an agent from the index.
pub(super) fn forget_all(agent: &Agent<'_>) {
    let search = Search::new(agent.call, agent.name);
    index::forget_all(agent.call.storage, &search.place(), agent.name);
}

/// What a search needs to make entries of an agent's memories. The agent's name is also that of its
/// collection in the index.
pub(super) struct Search<'a> {
    pub call: &'a Call<'a>,
    pub agent: &'a str,
    /// The name of the tool that reads a memory.
    tool: String,
}

impl<'a> Search<'a> {
    fn new(call: &'a Call<'a>, agent: &'a str) -> Self {
        Self { call, agent, tool: call.listed("records", "query_memories") }
    }

    /// The index of the agent's memories.
    fn index<'r>(&self, request: &'r Request) -> Index<'r>
    where
        'a: 'r,
    {
        let (storage, query) = (self.call.storage, request.indexed_query());
        Index::open(storage, self.place(), self.agent, query, request.now, &request.work)
    }

    pub fn place(&self) -> Place {
        Place::named(LABEL)
    }

    pub fn owner(&self) -> Owner {
        owner(self.agent)
    }

    /// Adds all memories of a file that has a damaged one, without the index. The newest are taken first, as far as the work
    /// of the search goes.
    pub fn add_all(&self, mut memories: Vec<Memory>, entries: &mut Entries<'_>) {
        memories.sort_by_key(|memory| memory.kind);
        let mut newest: Vec<usize> = (0..memories.len()).collect();
        newest.sort_by_key(|at| (Reverse(memories[*at].created_at), &memories[*at].id));
        let work = &entries.request.work;
        let of_entry = |at: &usize| {
            let texts = memories[*at].searched_texts();
            OF_ENTRY + texts.map(cost).sum::<u64>()
        };
        let taken = newest.iter().take_while(|at| work.take(of_entry(at))).count();
        let skipped = newest.len() - taken;
        let mut is_taken = vec![false; newest.len()];
        newest[..taken].iter().for_each(|at| is_taken[*at] = true);
        let mut kind: Option<Kind> = None;
        for (memory, is_taken) in memories.into_iter().zip(is_taken) {
            if !is_taken {
                kind = None;
                continue;
            }
            if kind.replace(memory.kind) != Some(memory.kind) {
                entries.begin_run();
            }
            entries.add_in_time(self.entry(memory));
        }
        entries.skip_some(self.owner(), skipped as u64, "memory", "memories");
    }

    pub fn entry(&self, memory: Memory) -> Entry {
        let arguments = ReadArguments {
            agent_id: Some(self.agent.to_owned()),
            ids: vec![memory.id.clone()],
            archived: Some(memory.archived),
            ..ReadArguments::default()
        };
        let about: Vec<&str> = memory.searched_texts().skip(1).collect();
        Entry {
            about: about.join("\n"),
            created_at: Some(memory.created_at),
            importance: importance(&memory),
            is_archived: memory.archived,
            read: Some(ReadCall { tool: self.tool.clone(), arguments }),
            id: Some(EntryId::Text(memory.id)),
            text: memory.content,
            ..Entry::default()
        }
    }
}

/// What the index has of a memory beside its words. Those of one type follow one another.
pub(super) fn facts(memory: &Memory) -> Facts {
    Facts {
        written: Some(Written::At(memory.created_at)),
        importance: importance(memory),
        is_archived: memory.archived,
        group: memory.kind as u8,
        ..Facts::default()
    }
}

fn importance(memory: &Memory) -> i8 {
    memory.importance as i8 - 1
}
