//! The items with words of a question, the best first.

use std::cmp::Reverse;

use super::error::Error;
use super::filter::Filter;
use super::item::Item;
use super::namespace::Below;
use super::reach::Reach;
use super::search::{add, owner, row_of};
use super::sqlite::Reader;
use crate::budget::Budget;
use crate::error::Code;
use crate::memory::query_of;
use crate::source::{Collector, Request};
use crate::tool::Call;
use crate::vectors::Task;

/// The most items that are read at once.
const PAGE: usize = 100;

/// Items that have words of a question, with their scores.
pub(super) struct Ranking(Vec<(i64, f64)>);

impl Ranking {
    /// Ranks all items within reach. It needs the database for itself, so it comes before a
    /// transaction of the call.
    pub fn new(call: &Call<'_>, reach: &Reach<'_>, question: &str) -> Result<Self, Error> {
        let request = Request {
            query: query_of(call, question),
            vectors: Task::None,
            agent: None,
            repo_root: None,
            from: None,
            to: None,
            asked_days: Vec::new(),
            lists_days: false,
            zone: call.context.zone.clone(),
            now: call.context.now,
            include_archived: true,
            ignores_indexes: false,
            budget: Budget::for_search(),
        };
        if request.is_for_newest() {
            return Ok(Self(Vec::new()));
        }
        let mut collector = Collector::new(&request);
        collector.begin(owner());
        if add(call, reach, &mut collector)? > 0 {
            let message = "there are more items than a question can be compared with: ask without \
                           `query`, with a `filter` or a narrower namespace";
            return Err(Error::new(Code::LimitExceeded, message));
        }
        let results = collector.results();
        let mut ranked = Vec::new();
        // The newest first among equals.
        let mut candidates = results.candidates;
        candidates.sort_by_key(|one| Reverse(one.entry.1.moment()));
        for one in candidates {
            ranked.extend(row_of(&one.entry.1, &results.documents).map(|id| (one.score, id)));
        }
        ranked.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        Ok(Self(ranked.into_iter().map(|(score, id)| (id, rounded(score))).collect()))
    }

    /// A page of those that are below a namespace and that a filter accepts.
    pub fn page(
        &self,
        reader: &Reader<'_>,
        below: &Below,
        filter: &Filter<'_>,
        offset: usize,
        limit: usize,
    ) -> Result<Vec<(Item, f64)>, Error> {
        let mut found = Vec::new();
        let mut skipped = 0;
        for page in self.0.chunks(PAGE) {
            let ids: Vec<i64> = page.iter().map(|(id, _)| *id).collect();
            for item in reader.with_ids(below, &ids)? {
                if !filter.accepts(&item.value) {
                    continue;
                }
                if skipped < offset {
                    skipped += 1;
                    continue;
                }
                let score = page.iter().find(|(id, _)| *id == item.id).map_or(0.0, |one| one.1);
                found.push((item, score));
                if found.len() >= limit {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

/// A score with the digits that tell items apart.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
