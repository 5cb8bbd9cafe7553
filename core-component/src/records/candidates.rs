//! The memories that a ranked search looks at: the same in both formats.

use std::cmp::Reverse;

use super::error::Error;
use super::memory::Memory;
use crate::ranking::{Counts, MAX_MATCHES, Query, choose};
use crate::source::Request;

/// An agent's memories for a ranked search.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Candidates {
    /// The number of the agent's memories.
    pub memories: u64,
    /// The number of its memories with each stem of the query.
    pub with_stem: Vec<u64>,
    /// The matches and the memories around them, by type and then in the order of insertion.
    pub near: Vec<Near>,
    /// How many memories were not looked at, because the index lacks them and they are too many.
    pub unread: u64,
}

/// A match, or a memory around one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub memory: Memory,
    pub counts: Counts,
    pub is_match: bool,
    /// Whether the memory before it is not the one before it in the order of insertion.
    pub begins_run: bool,
}

/// How often the searched texts of a memory have each stem of a query.
pub(super) fn counts(query: &Query, memory: &Memory) -> Counts {
    let mut counts = query.count("");
    memory.searched_texts().for_each(|text| counts.add(&query.count(text)));
    counts
}

/// The candidates among all memories of an agent, where no index helps.
pub(super) fn of_all(memories: Vec<Memory>, request: &Request) -> Result<Candidates, Error> {
    of_at_most(memories, request, MAX_MATCHES)
}

fn of_at_most(
    mut memories: Vec<Memory>,
    request: &Request,
    most: usize,
) -> Result<Candidates, Error> {
    memories.sort_by_key(|memory| memory.kind);
    let all: Vec<Counts> = memories.iter().map(|memory| counts(&request.query, memory)).collect();
    let stems = 0..request.query.terms().len();
    let with_stem: Vec<u64> =
        stems.map(|stem| all.iter().filter(|counts| counts.has(stem)).count() as u64).collect();
    let admits = |memory: &Memory| request.admits(Some(memory.created_at), memory.archived);
    let mut newest: Vec<usize> = (0..all.len()).filter(|at| admits(&memories[*at])).collect();
    newest.sort_by_key(|at| (Reverse(memories[*at].created_at), &memories[*at].id));
    let chosen = choose::<_, Error>(&with_stem, most, |stem| {
        Ok(newest.iter().copied().filter(|at| all[*at].has(stem)).take(most).collect())
    })?;
    let mut kind = None;
    let near = memories.into_iter().zip(all).enumerate().map(|(at, (memory, counts))| {
        let begins_run = kind.replace(memory.kind) != Some(memory.kind);
        Near { memory, counts, is_match: chosen.contains(&at), begins_run }
    });
    let near: Vec<Near> = near.collect();
    Ok(Candidates { memories: near.len() as u64, with_stem, near, unread: 0 })
}
