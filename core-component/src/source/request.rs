//! A search, as the sources of entries see it.

use super::entry::{Entry, Owner};
use crate::budget::Budget;
use crate::index;
use crate::names::AgentName;
use crate::ranking::Query;
use crate::time::{Date, Timestamp};
use crate::vectors::Task;
use crate::zone::Zone;

/// A search, as sources see it.
pub(crate) struct Request {
    pub query: Query,
    /// Its task with vectors.
    pub vectors: Task,
    /// The only agent to look at.
    pub agent: Option<AgentName>,
    /// The only repository to look at.
    pub repo_root: Option<String>,
    /// The earliest and the latest moment of creation or of the last change, both inclusive.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// The days that the question asks for: entries of them count more.
    pub asked_days: Vec<(Date, Date)>,
    /// Whether only entries of these days can be hits.
    pub lists_days: bool,
    /// The zone of days.
    pub zone: Zone,
    /// The moment of the call.
    pub now: Timestamp,
    /// Whether archived and expired entries can be hits, and summaries of entries that are gone.
    pub include_archived: bool,
    /// Whether documents are read even if an index knows them.
    pub ignores_indexes: bool,
    /// The work that it may do.
    pub budget: Budget,
}

impl Request {
    /// The search, as an index sees it.
    pub fn for_index(&self) -> index::Search<'_> {
        let Self { query, ignores_indexes, now, budget, vectors, .. } = self;
        let reads_all = *ignores_indexes;
        let entry = |facts| Entry::from_facts(facts, &self.zone, self.now);
        let admits = Box::new(move |facts| self.admits_entry(&entry(facts)));
        index::Search { query, reads_all, now: *now, budget, vectors, admits }
    }

    /// Whether the entries of an owner are asked for. Those that belong to no agent are so with any.
    pub fn is_for(&self, owner: &Owner) -> bool {
        let agents = self.agent.as_ref().zip(owner.agent.as_deref());
        agents.is_none_or(|(only, agent)| only.as_str() == agent)
            && self.vectors.is_for(owner.number())
    }

    /// Whether an entry of a moment can be a hit.
    pub fn admits(&self, created_at: Option<Timestamp>, is_archived: bool) -> bool {
        self.covers(created_at.map(|moment| (moment, moment)))
            && (self.include_archived || !is_archived)
    }

    /// Whether it asks for the newest entries instead of those with some words.
    pub fn is_for_newest(&self) -> bool {
        self.query.is_empty()
    }

    /// Whether an entry can be a hit.
    pub(super) fn admits_entry(&self, entry: &Entry) -> bool {
        let last = |first: Timestamp| entry.day.map_or(first, |day| self.zone.end_of(day));
        let created = entry.created_at.map(|first| (first, last(first)));
        let updated = entry.updated_at.map(|moment| (moment, moment));
        (self.covers(created) || updated.is_some_and(|updated| self.covers(Some(updated))))
            && (self.include_archived || !entry.is_archived)
            && (!self.lists_days || self.asks_for_day_of(entry))
    }

    /// When an entry was kept or last changed. That of a day is as late as it can be.
    pub(super) fn moment_of(&self, entry: &Entry) -> Option<Timestamp> {
        let end = entry.day.map(|day| self.zone.end_of(day).min(self.now));
        entry.updated_at.or(end).or(entry.created_at)
    }

    /// Whether an entry cannot be a hit only because it has no date.
    pub(super) fn misses_date_of(&self, entry: &Entry) -> bool {
        let is_shown = self.include_archived || !entry.is_archived;
        entry.created_at.is_none() && is_shown && !self.covers(None)
    }

    /// Whether an entry is of a day that the question asks for.
    pub fn asks_for_day_of(&self, entry: &Entry) -> bool {
        let created = entry.day.or_else(|| entry.created_at.map(|at| self.zone.date_at(at)));
        let updated = entry.updated_at.map(|at| self.zone.date_at(at));
        let is_asked =
            |day: Date| self.asked_days.iter().any(|(first, last)| (*first..=*last).contains(&day));
        created.into_iter().chain(updated).any(is_asked)
    }

    /// Whether a span of time meets the range. An entry without one is in no range.
    fn covers(&self, span: Option<(Timestamp, Timestamp)>) -> bool {
        match span {
            Some((first, last)) => {
                self.from.is_none_or(|from| from <= last) && self.to.is_none_or(|to| first <= to)
            }
            None => self.from.is_none() && self.to.is_none(),
        }
    }
}
