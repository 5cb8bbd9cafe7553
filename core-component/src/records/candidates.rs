//! The memories that a ranked search looks at: the same in both formats.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::error::Error;
use super::memory::Memory;
use crate::ranking::{Counts, MAX_MATCHES, Match, Query, REACH, choose, cost};
use crate::source::Request;
use crate::work::OF_ENTRY;

/// An agent's memories for a ranked search.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Candidates {
    /// The number of the agent's memories.
    pub memories: u64,
    /// The number of its memories with each term of the query.
    pub with_term: Vec<u64>,
    /// The matches and the memories around them, by type and then in the order of insertion.
    pub near: Vec<Near>,
    /// How many memories were not looked at, because the index lacks them and they are too many.
    pub unread: u64,
    /// How many memories were not looked at, because the work of the search was used up.
    pub skipped: u64,
    /// Whether the agent has vectors of the embedder and the request has none.
    pub wants_vector: bool,
    /// Which vectors were not compared, in words.
    pub not_compared: Option<String>,
}

/// A match, or a memory around one.
#[derive(Debug, PartialEq)]
pub(super) struct Near {
    pub memory: Memory,
    pub counts: Counts,
    pub matches: Match,
    /// How similar its vector is to that of the query, if both have one.
    pub similarity: Option<f64>,
    /// Whether the memory before it is not the one before it in the order of insertion.
    pub begins_run: bool,
}

/// How often the searched texts of a memory have each term of a query.
pub(super) fn counts(query: &Query, memory: &Memory) -> Counts {
    query.count(memory.searched_texts())
}

/// The work of counting the stems of a memory.
pub(super) fn work(memory: &Memory) -> u64 {
    OF_ENTRY + memory.searched_texts().map(cost).sum::<u64>()
}

/// The candidates among all memories of an agent, where no index helps. The newest are looked at
/// first, as far as the work of the search goes.
pub(super) fn of_all(memories: Vec<Memory>, request: &Request) -> Result<Candidates, Error> {
    of_at_most(memories, request, MAX_MATCHES)
}

fn of_at_most(
    mut memories: Vec<Memory>,
    request: &Request,
    most: usize,
) -> Result<Candidates, Error> {
    memories.sort_by_key(|memory| memory.kind);
    let mut newest: Vec<usize> = (0..memories.len()).collect();
    newest.sort_by_key(|at| (Reverse(memories[*at].created_at), &memories[*at].id));
    let read = newest.iter().take_while(|at| request.work.take(work(&memories[**at]))).count();
    newest.truncate(read);
    let mut all: Vec<Option<Counts>> = vec![None; memories.len()];
    newest.iter().for_each(|at| all[*at] = Some(counts(&request.query, &memories[*at])));
    let has = |at: usize, term: usize| all[at].as_ref().is_some_and(|counts| counts.has(term));
    let terms = 0..request.query.terms().len();
    let with_term: Vec<u64> =
        terms.map(|term| newest.iter().filter(|at| has(**at, term)).count() as u64).collect();
    let admits =
        |at: &usize| request.admits(Some(memories[*at].created_at), memories[*at].archived);
    let chosen = choose::<_, Error>(&with_term, most, |term| {
        let with = newest.iter().copied().filter(admits).filter(|at| has(*at, term));
        Ok(with.take(most).collect())
    })?;
    let around = around(&memories, &chosen);
    let (number, mut near, mut kind) = (memories.len() as u64, Vec::new(), None);
    for (at, (memory, counts)) in memories.into_iter().zip(all).enumerate() {
        let Some(counts) = counts.filter(|_| around.contains(&at)) else {
            kind = None;
            continue;
        };
        let begins_run = kind.replace(memory.kind) != Some(memory.kind);
        let matches = if chosen.contains(&at) { Match::Words } else { Match::None };
        near.push(Near { memory, counts, matches, similarity: None, begins_run });
    }
    let skipped = number - read as u64;
    Ok(Candidates { memories: number, with_term, near, skipped, ..Candidates::default() })
}

/// The memories that are matches, or around one. A neighbour of a match is a candidate, too. So one
/// more is there on each side than is around a match.
fn around(memories: &[Memory], matches: &BTreeSet<usize>) -> BTreeSet<usize> {
    let reach = REACH + 1;
    let near = |at: &usize| at.saturating_sub(reach)..memories.len().min(at + reach + 1);
    let around = matches.iter().flat_map(|at| near(at).map(move |other| (at, other)));
    let same_type = around.filter(|(at, other)| memories[**at].kind == memories[*other].kind);
    same_type.map(|(_, other)| other).collect()
}
