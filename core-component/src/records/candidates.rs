//! The memories that a ranked search looks at: the same in both formats.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::error::Error;
use super::memory::Memory;
use crate::ranking::{Counts, Query};
use crate::source::Request;

/// The most memories of an agent that make themselves and their neighbours candidates.
pub(super) const MAX_MATCHES: usize = 500;

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

/// Chooses the matches. The rarest stem comes first, and the first in byte order among equals. Each
/// stem brings its newest memories until there are `most`.
///
/// `newest` gives at most `most` of a stem's memories that can be hits: the newest, and the first by
/// id among equals.
pub(super) fn choose<K: Ord>(
    with_stem: &[u64],
    most: usize,
    mut newest: impl FnMut(usize) -> Result<Vec<K>, Error>,
) -> Result<BTreeSet<K>, Error> {
    let mut stems: Vec<usize> = (0..with_stem.len()).filter(|stem| with_stem[*stem] > 0).collect();
    stems.sort_by_key(|stem| with_stem[*stem]);
    let mut chosen = BTreeSet::new();
    for stem in stems {
        for memory in newest(stem)? {
            if chosen.len() == most {
                return Ok(chosen);
            }
            chosen.insert(memory);
        }
    }
    Ok(chosen)
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
    let stems = 0..request.query.stems().len();
    let with_stem: Vec<u64> =
        stems.map(|stem| all.iter().filter(|counts| counts.has(stem)).count() as u64).collect();
    let admits = |memory: &Memory| request.admits(Some(memory.created_at), memory.archived);
    let mut newest: Vec<usize> = (0..all.len()).filter(|at| admits(&memories[*at])).collect();
    newest.sort_by_key(|at| (Reverse(memories[*at].created_at), &memories[*at].id));
    let chosen = choose(&with_stem, most, |stem| {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The memories of each stem, the newest first, as [`choose`] takes them.
    fn chosen(most: usize, stems: &[&[u32]]) -> Vec<u32> {
        let with_stem: Vec<u64> = stems.iter().map(|memories| memories.len() as u64).collect();
        let newest = |stem: usize| Ok(stems[stem].iter().copied().take(most).collect());
        choose(&with_stem, most, newest).expect("chosen").into_iter().collect()
    }

    #[test]
    fn every_memory_is_a_match_as_long_as_there_are_few() {
        assert_eq!(chosen(5, &[&[3, 2, 1], &[], &[5, 3, 4]]), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn rare_stems_come_first_and_the_newest_of_the_next_fill_the_rest() {
        assert_eq!(chosen(4, &[&[9, 8, 7, 6, 5], &[1], &[3, 2]]), [1, 2, 3, 9]);
        assert_eq!(chosen(4, &[&[9, 8, 7, 6, 5], &[9, 1]]), [1, 7, 8, 9]);
    }

    #[test]
    fn among_equally_rare_stems_the_first_one_comes_first() {
        assert_eq!(chosen(3, &[&[5, 4], &[2, 1]]), [2, 4, 5]);
    }

    #[test]
    fn the_newest_of_the_rarest_stem_are_matches_if_it_alone_has_too_many() {
        assert_eq!(chosen(2, &[&[9, 8, 7], &[6, 5, 4, 3]]), [8, 9]);
    }
}
