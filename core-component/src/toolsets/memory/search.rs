//! Searches the entries of all toolsets. A question that asks for days may need several searches:
//! its days are a filter, or its words are, whichever finds something.

use std::mem::replace;

use super::asked_days::AskedDays;
use super::settings::MemorySettings;
use crate::error::Error;
use crate::existing::days;
use crate::ranking::Query;
use crate::source::{Collector, Entry, Request, Results};
use crate::tool::{Call, Category, Source};

/// A search for one question.
pub(super) struct Search<'a> {
    pub call: &'a Call<'a>,
    /// The toolsets whose entries are searched. Empty for all.
    pub toolsets: &'a [String],
    /// The request of the last search. A further search for the same question changes it.
    pub request: Request,
}

impl<'a> Search<'a> {
    /// Searches for the newest entries if the question has no word worth searching for beside its
    /// days, as in "yesterday" or "What did we do on Tuesday?". Does so as well if a request for some
    /// days or for an agent has several words and none of them is worth it, as in "What did we do?".
    pub fn new(
        call: &'a Call<'a>,
        toolsets: &'a [String],
        asked: &AskedDays,
        mut request: Request,
    ) -> Self {
        let usual = request.query.usual();
        // A single word may be a name: `IT`, `Will`.
        let is_sentence = || asked.beside.split_whitespace().nth(1).is_some();
        let may_list = !asked.days.is_empty() || (request.is_filtered() && is_sentence());
        if may_list && !Query::is_telling(&asked.beside, usual) {
            request.query = Query::in_language("", usual);
            request.lists_days = !asked.days.is_empty();
        }
        Self { call, toolsets, request }
    }

    /// Collects the entries for the question. If no entry of its days has its words, it is searched
    /// for the words of any day, or for all entries of the days. All these searches share one budget.
    ///
    /// # Errors
    ///
    /// Those of [`collect`](Self::collect).
    pub fn run(&mut self, asked: &AskedDays) -> Result<Results, Error> {
        let mut found = self.collect()?;
        let request = &self.request;
        if !request.asked_days.is_empty() && request.vectors.wanted_of().is_none() {
            let usual = request.query.usual();
            let other = if !request.lists_days {
                let has_words = !found.candidates.is_empty() && self.has_entries_beside(asked)?;
                if has_words {
                    None
                } else {
                    self.collect_other(Query::in_language("", usual), true)?
                }
            } else if found.candidates.is_empty() && Query::is_telling(&asked.rest, usual) {
                self.collect_other(query_with_days(self.call, asked), false)?
            } else {
                None
            };
            found = other.unwrap_or(found);
        }
        if found.candidates.is_empty() && self.lists_without_words(asked) {
            let all = Query::in_language("", self.request.query.usual());
            found = self.collect_other(all, false)?.unwrap_or(found);
        }
        if found.candidates.is_empty() && found.has_word && self.request.has_dates() {
            found.other_days = self.other_days()?;
        }
        Ok(found)
    }

    /// Collects the entries of the toolsets. A toolset that cannot be read only results in a warning,
    /// so that it does not hide the entries of the others.
    ///
    /// # Errors
    ///
    /// No toolset could be searched, and the request has a `repo_root` that is invalid or that the
    /// caller may not search.
    pub fn collect(&mut self) -> Result<Results, Error> {
        let request = &self.request;
        let wanted = |source: &&Source| {
            self.toolsets.is_empty() || self.toolsets.iter().any(|name| name == source.toolset)
        };
        let mut collector = Collector::new(request);
        let mut is_any_searched = false;
        let mut failed = None;
        let sources: Vec<&Source> = self.call.sources.iter().filter(wanted).collect();
        let whole = request.budget.reserve();
        for (at, source) in sources.iter().enumerate() {
            request.budget.begin(whole, sources.len() - at);
            match (source.collect)(self.call, &mut collector) {
                Ok(()) => is_any_searched = true,
                Err(error) => {
                    let refusal = error.refusal();
                    collector.warn(format!(
                        "`{}` was not searched: {}",
                        source.toolset, refusal.message
                    ));
                    failed = failed.or(Some((refusal.category, error)));
                }
            }
        }
        match failed {
            Some((Category::Invalid | Category::Denied, error))
                if !is_any_searched && request.repo_root.is_some() =>
            {
                Err(error.into())
            }
            failed => {
                let is_unsearched = failed.is_some() && !is_any_searched;
                let searches_agents = sources.iter().any(|source| source.keeps_by_agent);
                Ok(Results { is_unsearched, searches_agents, ..collector.results() })
            }
        }
    }

    /// Whether a question that found nothing is answered with the newest entries: it has no word worth
    /// searching for, and the request has a filter by date or agent.
    fn lists_without_words(&self, asked: &AskedDays) -> bool {
        let usual = self.request.query.usual();
        self.request.is_filtered()
            && asked.days.is_empty()
            && !Query::is_telling(&asked.beside, usual)
    }

    /// Collects the entries for another query. `None`, and the request as before, if there are none.
    fn collect_other(&mut self, query: Query, lists_days: bool) -> Result<Option<Results>, Error> {
        let query = replace(&mut self.request.query, query);
        let lists_days = replace(&mut self.request.lists_days, lists_days);
        let found = self.collect()?;
        if found.candidates.is_empty() {
            self.request.query = query;
            self.request.lists_days = lists_days;
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// Whether an entry has a word of the question beside the words for its days, if entries have one
    /// of all its words.
    fn has_entries_beside(&mut self, asked: &AskedDays) -> Result<bool, Error> {
        if asked.beside == asked.rest {
            return Ok(true);
        }
        let beside = query_of(self.call, &asked.beside);
        let all = replace(&mut self.request.query, beside);
        let found = self.collect();
        self.request.query = all;
        Ok(!found?.candidates.is_empty())
    }

    /// Searches without the date range, and returns the days of the hits in words. `None` if there are
    /// no hits.
    fn other_days(&mut self) -> Result<Option<String>, Error> {
        let request = &mut self.request;
        let dates =
            (request.from.take(), request.to.take(), replace(&mut request.lists_days, false));
        let found = self.collect();
        let request = &mut self.request;
        (request.from, request.to, request.lists_days) = dates;
        let day = |entry: &Entry| {
            let moment = entry.created_at;
            entry.day.or_else(|| moment.map(|moment| request.zone.date_at(moment)))
        };
        Ok(days(found?.candidates.iter().filter_map(|ranked| day(&ranked.entry.1))))
    }
}

/// Returns the query for a question, with its words that name days.
pub(super) fn query_with_days(call: &Call<'_>, asked: &AskedDays) -> Query {
    query_of(call, &asked.rest).with_named_days(&asked.beside)
}

/// Returns the query for a question, with related words from the thesaurus unless the host turned
/// it off.
pub(crate) fn query_of(call: &Call<'_>, question: &str) -> Query {
    let settings = MemorySettings::new(call.context);
    let query = Query::in_language(question, settings.usual_language());
    if settings.no_thesaurus { query } else { query.with_thesaurus() }
}
