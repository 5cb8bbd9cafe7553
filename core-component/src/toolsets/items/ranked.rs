//! Ranks the items that have words of a question.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::database::Reader;
use super::error::Error;
use super::filter::Filter;
use super::item::{Item, fill_answer};
use super::namespace::Below;
use super::reach::Reach;
use super::search::{add, owner, row_of};
use crate::budget::Budget;
use crate::source::{Collector, Request};
use crate::tool::Call;
use crate::toolsets::memory::query_of;
use crate::vectors::Task;

/// The maximum number of items that are read at once.
const PAGE: usize = 100;

/// The ranking of the items that have words of a question.
#[derive(Default)]
pub(super) struct Ranking {
    /// The ids and scores of the items, the best first.
    ranked: Vec<(i64, f64)>,
    /// How many items were not compared with the question, because the budget was used up.
    pub skipped: u64,
}

impl Ranking {
    /// Ranks all items that the caller may use, those below `asked` first in case the budget is
    /// used up. Call it before the call's transaction begins, because it opens its own transaction.
    pub fn new(
        call: &Call<'_>,
        reach: &Reach<'_>,
        asked: &Below,
        question: &str,
    ) -> Result<Self, Error> {
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
            return Ok(Self::default());
        }
        let mut collector = Collector::new(&request).without_limit();
        collector.begin(owner());
        let skipped = add(call, reach, Some(asked), &mut collector)?;
        let results = collector.results();
        let mut ranked = Vec::new();
        // Sorts by time first. The stable sort below then puts the newest of equal scores first.
        let mut candidates = results.candidates;
        candidates.sort_by_key(|one| Reverse(one.entry.1.moment()));
        for one in candidates {
            ranked.extend(row_of(&one.entry.1, &results.documents).map(|id| (one.score, id)));
        }
        ranked.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let ranked = ranked.into_iter().map(|(score, id)| (id, rounded(score))).collect();
        Ok(Self { ranked, skipped })
    }

    /// Returns a page of the items that are below a namespace and that the filter accepts, with
    /// their scores. Returns fewer than `limit` if the items [fill an answer](fill_answer).
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
        // Only ranked items below the namespace are read.
        let asked: BTreeSet<i64> = reader.ids(below)?.into_iter().collect();
        let ranked = self.ranked.iter().filter(|(id, _)| asked.contains(id));
        let ranked: Vec<(i64, f64)> = ranked.copied().collect();
        for page in ranked.chunks(PAGE) {
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
            if fill_answer(found.iter().map(|(item, _)| item)) {
                return Ok(found);
            }
        }
        Ok(found)
    }
}

/// Rounds a score to four decimal places, which suffice to tell items apart.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
