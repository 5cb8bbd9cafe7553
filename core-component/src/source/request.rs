//! A search request as the sources of entries get it.

use super::entry::{Entry, Owner};
use crate::budget::{Budget, OF_OCCURRENCE, OF_STEM};
use crate::index;
use crate::names::AgentName;
use crate::ranking::{Counts, Query};
use crate::time::{Date, Timestamp};
use crate::vectors::Task;
use crate::zone::Zone;

/// A search request as the sources of entries get it.
pub(crate) struct Request {
    pub query: Query,
    /// How this search uses vectors.
    pub vectors: Task,
    /// If set, only entries of this agent are searched.
    pub agent: Option<AgentName>,
    /// If set, only entries of this repository are searched.
    pub repo_root: Option<String>,
    /// The range of time, both ends inclusive. An entry is in the range if its creation or its last
    /// change is.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// The ranges of days that the question asks for. Entries of these days rank higher.
    pub asked_days: Vec<(Date, Date)>,
    /// Whether only entries of `asked_days` can be hits.
    pub lists_days: bool,
    /// The time zone that defines the days.
    pub zone: Zone,
    /// The moment of the call.
    pub now: Timestamp,
    /// Whether archived and expired entries, and summaries of removed entries, can be hits.
    pub include_archived: bool,
    /// Whether all documents are read, even those that an index has.
    pub ignores_indexes: bool,
    /// The work that the search may still do.
    pub budget: Budget,
}

impl Request {
    /// Counts the terms of the query in an entry that was read. Takes the work of that from the budget.
    pub fn count(&self, entry: &Entry) -> Counts {
        let counts = self.query.count(entry.texts());
        let bytes: usize = entry.texts().into_iter().map(str::len).sum();
        let of_stems = (OF_STEM * counts.stems()).saturating_sub(bytes as u64);
        self.budget.spend(of_stems + OF_OCCURRENCE * counts.occurrences());
        counts
    }

    /// Returns the search request in the form that an index takes.
    pub fn for_index(&self) -> index::Search<'_> {
        let Self { query, ignores_indexes, now, budget, vectors, .. } = self;
        let reads_all = *ignores_indexes;
        let entry = |facts| Entry::from_facts(facts, &self.zone, self.now);
        let admits = Box::new(move |facts| self.admits_entry(&entry(facts)));
        index::Search { query, reads_all, now: *now, budget, vectors, admits }
    }

    /// Whether the search includes the entries of this owner. An owner without an agent is always
    /// included. A search that only collects texts for vectors may be limited to one owner.
    pub fn is_for(&self, owner: &Owner) -> bool {
        let agents = self.agent.as_ref().zip(owner.agent.as_deref());
        agents.is_none_or(|(only, agent)| only.as_str() == agent)
            && self.vectors.is_for(owner.number())
    }

    /// Whether an entry that was created at this moment can be a hit.
    pub fn admits(&self, created_at: Option<Timestamp>, is_archived: bool) -> bool {
        self.covers(created_at.map(|moment| (moment, moment)))
            && (self.include_archived || !is_archived)
    }

    /// Whether the query has no words: the search is for the newest entries.
    pub fn is_for_newest(&self) -> bool {
        self.query.is_empty()
    }

    /// Whether only entries of some days can be hits.
    pub fn has_dates(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.lists_days
    }

    /// Whether only entries of some days or of one agent can be hits.
    pub fn is_filtered(&self) -> bool {
        self.has_dates() || self.agent.is_some()
    }

    /// Whether the request admits an entry as a hit, by its times, its day and whether it is
    /// archived.
    pub(super) fn admits_entry(&self, entry: &Entry) -> bool {
        let last = |first: Timestamp| entry.day.map_or(first, |day| self.zone.end_of(day));
        let created = entry.created_at.map(|first| (first, last(first)));
        let updated = entry.updated_at.map(|moment| (moment, moment));
        (self.covers(created) || updated.is_some_and(|updated| self.covers(Some(updated))))
            && (self.include_archived || !entry.is_archived)
            && (!self.lists_days || self.asks_for_day_of(entry))
    }

    /// Returns when an entry was last changed, or else created. If only the day is known: the end
    /// of the day, but not later than now.
    pub(super) fn moment_of(&self, entry: &Entry) -> Option<Timestamp> {
        let end = entry.day.map(|day| self.zone.end_of(day).min(self.now));
        entry.updated_at.or(end).or(entry.created_at)
    }

    /// Whether an entry is left out only because it has no date.
    pub(super) fn misses_date_of(&self, entry: &Entry) -> bool {
        let is_shown = self.include_archived || !entry.is_archived;
        entry.created_at.is_none() && is_shown && !self.covers(None)
    }

    /// Whether an entry was created or changed on one of the days that the question asks for.
    pub fn asks_for_day_of(&self, entry: &Entry) -> bool {
        let created = entry.day.or_else(|| entry.created_at.map(|at| self.zone.date_at(at)));
        let updated = entry.updated_at.map(|at| self.zone.date_at(at));
        let is_asked =
            |day: Date| self.asked_days.iter().any(|(first, last)| (*first..=*last).contains(&day));
        created.into_iter().chain(updated).any(is_asked)
    }

    /// Whether a span of time overlaps the range of the request. An unknown time (`None`) is only in a
    /// range without ends.
    fn covers(&self, span: Option<(Timestamp, Timestamp)>) -> bool {
        match span {
            Some((first, last)) => {
                self.from.is_none_or(|from| from <= last) && self.to.is_none_or(|to| first <= to)
            }
            None => self.from.is_none() && self.to.is_none(),
        }
    }
}
