//! The rows of a table, as entries of a search.
//!
//! Most rows are in an index. New and changed rows are read from the table, and so are the hits. The
//! stamp of a row changes with everything that the index has of the row. So the number of rows and the
//! sum of their stamps show whether the index is up to date for all rows up to its last one.

use std::collections::{BTreeMap, BTreeSet};

use crate::budget::{OF_ENTRY, OF_INDEXED_ROW};
use crate::index::{self, Facts, Known, RowIndex};
use crate::ranking::{Counts, REACH, cost};
use crate::source::{Collector, Entry, ReadDocuments, ReadEntries};
use crate::vectors::Similarity;

/// A table with rows of one agent.
pub(crate) trait Table {
    type Error;

    /// A number for the table, unique in its toolset.
    const NUMBER: u8;

    /// Whether a search reports matching rows that it leaves out because they are archived.
    const TELLS_ARCHIVED: bool = false;

    /// Whether a row is unrelated to the rows around it, so that these do not change its score.
    const STANDS_ALONE: bool = false;

    /// The number of rows with keys up to `last`, and the sum of their stamps. If both are equal to
    /// those of the index, the index is up to date. `None` if the table does not support this check:
    /// then each stamp is compared.
    fn sum(&self, last: i64) -> Result<Option<Sum>, Self::Error>;

    /// The keys of the rows after a key, ascending, with their stamps.
    fn stamps(&self, after: i64) -> Result<Vec<(i64, i64)>, Self::Error>;

    /// The position of a row among the rows of its group. Rows at adjacent positions are neighbours.
    fn position(&self, key: i64) -> i64 {
        key
    }

    /// Ascending keys in the order in which a search reads them: the newest first.
    fn newest_first(&self, mut keys: Vec<i64>) -> Vec<i64> {
        keys.reverse();
        keys
    }

    /// Calls `read` with these rows in the order of [`newest_first`](Self::newest_first), as long as
    /// `read` returns true. Leaves out rows that cannot be read.
    fn each(&self, keys: &[i64], read: &mut dyn FnMut(i64, Row) -> bool)
    -> Result<(), Self::Error>;
}

/// See [`Table::sum`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub rows: u64,
    /// `None` if stamps are not compared: then a change of a row by another program is not noticed.
    pub stamps: Option<i64>,
}

/// A row that was read.
pub(crate) struct Row {
    pub entry: Entry,
    pub facts: Facts,
    pub stamp: i64,
    /// The version changes with the texts and the facts of the row.
    pub version: i64,
}

/// Reads rows by their keys, in the order of the keys. `None` for a row that does not exist or cannot
/// be read.
pub(crate) fn read_rows<T: Table>(table: &T, keys: &[i64]) -> Result<ReadDocuments, T::Error> {
    let mut ascending = keys.to_vec();
    ascending.sort_unstable();
    let mut read = BTreeMap::new();
    table.each(&table.newest_first(ascending), &mut |key, row| {
        read.insert(key, ReadEntries { version: row.version, entries: vec![row.entry] });
        true
    })?;
    Ok(keys.iter().map(|key| read.remove(key)).collect())
}

/// A row that the search has looked at, in the index or in the table.
struct Candidate {
    key: i64,
    facts: Facts,
    /// Whether the row has a term of the query, or one of the vectors nearest to the query's.
    is_match: bool,
    similarity: Option<Similarity>,
    from: From,
}

/// Where a row was found.
enum From {
    Index(Known),
    Table(Box<Entry>, Counts),
}

/// Adds the rows of a table to the entries of the owner that `collector` began last. Returns how many
/// rows, the oldest, were skipped because the work of the search was used up. Afterwards the caller has
/// to end the table's transaction and then [update](RowIndex::update) the index: a call has only one
/// transaction at a time.
pub(crate) fn add_rows<T: Table>(
    table: &T,
    index: &mut RowIndex<'_>,
    collector: &mut Collector<'_>,
) -> Result<u64, T::Error> {
    let Changes { mut known, new, gone } = Changes::find(table, index)?;
    index.see_all(known.iter().map(|row| row.key).chain(new.iter().copied()), gone);
    let request = collector.request;
    let affordable = (request.budget.left() / OF_INDEXED_ROW) as usize;
    let mut skipped = known.len().saturating_sub(affordable);
    known.drain(..skipped);
    request.budget.take(OF_INDEXED_ROW * known.len() as u64);

    let mut candidates = Vec::with_capacity(known.len() + new.len());
    for row in known {
        let Known { key, facts, .. } = row;
        let is_match = index.has_match(row);
        let similarity = index.similarity(row, 0);
        let from = From::Index(row);
        candidates.push(Candidate { key, facts, is_match, similarity, from });
    }
    let number = new.len();
    let mut read = 0;
    table.each(&table.newest_first(new), &mut |key, Row { entry, facts, stamp, version }| {
        let work = OF_ENTRY + entry.texts().into_iter().map(cost).sum::<u64>();
        if !request.budget.take(work) {
            return false;
        }
        read += 1;
        let texts = entry.texts().to_vec();
        index.add(
            &index::Row { key, stamp, version, facts, work },
            index::Entry { texts, begins_run: true },
        );
        let counts = request.count(&entry);
        let similarity = index.similarity_of(&entry.text);
        let is_match = counts.any() || similarity.is_some_and(|of| of.is_nearest);
        let from = From::Table(Box::new(entry), counts);
        candidates.push(Candidate { key, facts, is_match, similarity, from });
        true
    })?;
    skipped += number - read;
    let place = |candidate: &Candidate| (candidate.facts.group, table.position(candidate.key));
    candidates.sort_by_cached_key(place);
    add::<T>(candidates, index, collector);
    Ok(skipped as u64)
}

/// The changes since an index was brought up to date.
struct Changes {
    /// The rows that the index knows, by key.
    known: Vec<Known>,
    /// The keys of the rows that are new or changed, ascending.
    new: Vec<i64>,
    /// The keys of the rows that no longer exist.
    gone: BTreeSet<i64>,
}

impl Changes {
    fn find<T: Table>(table: &T, index: &mut RowIndex<'_>) -> Result<Self, T::Error> {
        let mut known = index.rows();
        let last = known.last().map_or(i64::MIN, |row| row.key);
        let sum = table.sum(last)?;
        let stamps = known.iter().fold(0, |sum: i64, row| sum.wrapping_add(row.stamp));
        let is_same = |sum: &Sum| {
            sum.rows == known.len() as u64 && sum.stamps.is_none_or(|sum| sum == stamps)
        };
        if sum.as_ref().is_some_and(is_same) {
            let new = table.stamps(last)?.into_iter().map(|(key, _)| key).collect();
            return Ok(Self { known, new, gone: BTreeSet::new() });
        }
        let compares_stamps = sum.is_none_or(|sum| sum.stamps.is_some());
        let mut stamps: BTreeMap<i64, i64> = table.stamps(i64::MIN)?.into_iter().collect();
        let mut gone = BTreeSet::new();
        known.retain(|row| match stamps.get(&row.key) {
            None => {
                gone.insert(row.key);
                false
            }
            Some(stamp) => !compares_stamps || *stamp == row.stamp,
        });
        for row in &known {
            stamps.remove(&row.key);
        }
        Ok(Self { known, new: stamps.into_keys().collect(), gone })
    }
}

/// Adds the matches and the rows around them. Other rows are only counted. If the request is for the
/// newest entries, all rows are added.
fn add<T: Table>(candidates: Vec<Candidate>, index: &RowIndex<'_>, collector: &mut Collector<'_>) {
    let near = if collector.request.is_for_newest() {
        vec![true; candidates.len()]
    } else {
        near_matches(&candidates)
    };
    let mut group = None;
    let mut is_beside = false;
    let mut others = 0;
    for (Candidate { key, facts, from, similarity, .. }, is_near) in
        candidates.into_iter().zip(near)
    {
        if !is_near {
            others += 1;
            is_beside = false;
            continue;
        }
        if group.replace(facts.group) != Some(facts.group) || !is_beside || T::STANDS_ALONE {
            collector.begin_run();
        }
        is_beside = true;
        let (entry, counts) = match from {
            From::Table(entry, counts) => (*entry, counts),
            From::Index(known) => {
                let unread = Some(collector.unread_row(T::NUMBER, key, known.version));
                let request = collector.request;
                let entry = Entry::from_facts(facts, &request.zone, request.now);
                (Entry { unread, ..entry }, index.counts(known))
            }
        };
        let is_hidden = facts.is_archived && !collector.request.include_archived;
        if T::TELLS_ARCHIVED && is_hidden && counts.any() {
            let request = collector.request;
            if request.admits(entry.created_at, false) {
                collector.hide(&counts);
            }
        }
        collector.add_row(Entry { similarity, ..entry }, &counts);
    }
    collector.count(others);
}

/// For each row, whether it is a match or near one: at most [`REACH`] + 1 rows away. The row beside a
/// match is a candidate, too, and its score needs the [`REACH`] rows around it.
fn near_matches(candidates: &[Candidate]) -> Vec<bool> {
    let reach = REACH + 1;
    let mut near = vec![false; candidates.len()];
    // The first row that no match before it has marked.
    let mut next = 0;
    for (at, candidate) in candidates.iter().enumerate() {
        if candidate.is_match {
            let end = (at + reach + 1).min(candidates.len());
            near[next.max(at.saturating_sub(reach))..end].fill(true);
            next = end;
        }
    }
    near
}
