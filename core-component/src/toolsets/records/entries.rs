//! Memories as entries of a search, and as rows of its index.

use std::cmp::Reverse;

use super::memory::{Kind, Memory};
use super::place::LABEL;
use crate::budget::OF_ENTRY;
use crate::index::{self, Facts, RowIndex, Written};
use crate::ranking::cost;
use crate::source::{Collector, Entry, EntryId, Owner, ReadArguments, ReadCall, Request};
use crate::storage::Place;
use crate::time::Timestamp;
use crate::tool::Call;

/// Removes memories from the index by their keys, after they or parts of their texts were deleted
/// for good.
pub(super) fn forget(call: &Call<'_>, agent: &str, keys: &[i64]) {
    index::forget_rows(call.storage, &place(), agent, keys);
}

/// Removes all memories of an agent from the index, except those with the keys `kept`.
pub(super) fn forget_others(call: &Call<'_>, agent: &str, kept: &[i64]) {
    index::forget_other_rows(call.storage, &place(), agent, kept);
}

/// Removes all memories of an agent from the index.
pub(super) fn forget_all(call: &Call<'_>, agent: &str) {
    index::forget_all(call.storage, &place(), agent);
}

fn place() -> Place {
    Place::named(LABEL)
}

/// Makes entries of a search from an agent's memories. The collection of the agent in the index has
/// the agent's name.
pub(super) struct Search<'a> {
    pub call: &'a Call<'a>,
    pub agent: &'a str,
    /// The name of the tool that reads a memory.
    tool: String,
}

impl<'a> Search<'a> {
    pub fn new(call: &'a Call<'a>, agent: &'a str) -> Self {
        Self { call, agent, tool: call.listed("records", "query_memories") }
    }

    /// The index of the agent's memories.
    pub fn index<'r>(&self, request: &'r Request) -> RowIndex<'r>
    where
        'a: 'r,
    {
        RowIndex::open(self.call.storage, place(), self.agent, request.for_index())
    }

    pub fn owner(&self) -> Owner {
        owner(self.agent)
    }

    /// Adds the memories of a file without using the index, because a record of the file is
    /// damaged. If the budget of the search is used up, only the newest memories are added, and the
    /// others are reported as skipped.
    pub fn add_all(&self, mut memories: Vec<Memory>, collector: &mut Collector<'_>) {
        memories.sort_by_key(|memory| memory.kind);
        let mut newest: Vec<usize> = (0..memories.len()).collect();
        newest.sort_by_key(|at| (Reverse(memories[*at].created_at), &memories[*at].id));
        let work = &collector.request.budget;
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
                collector.begin_run();
            }
            collector.add_in_time(self.entry(memory));
        }
        collector.skip_some(self.owner(), skipped as u64, "memory", "memories");
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
            updated_at: updated_at(&memory),
            importance: importance(&memory),
            is_archived: memory.archived,
            read: Some(ReadCall { tool: self.tool.clone(), arguments }),
            id: Some(EntryId::Text(memory.id)),
            text: memory.content,
            ..Entry::default()
        }
    }
}

/// The facts about a memory that the index stores. `group` is the memory's type: only memories of
/// one type count as neighbours.
pub(super) fn facts(memory: &Memory) -> Facts {
    Facts {
        written: Some(Written::At(memory.created_at)),
        updated_at: updated_at(memory),
        importance: importance(memory),
        is_archived: memory.archived,
        group: memory.kind as u8,
        ..Facts::default()
    }
}

/// When a memory was last changed. `None` if it was not changed after its creation.
fn updated_at(memory: &Memory) -> Option<Timestamp> {
    Some(memory.updated_at).filter(|updated_at| *updated_at > memory.created_at)
}

fn importance(memory: &Memory) -> i8 {
    memory.importance as i8 - 1
}

pub(super) fn owner(agent: &str) -> Owner {
    Owner::new("records").with_agent(agent)
}
