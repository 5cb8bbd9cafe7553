//! The note of a search: says what to do if the hits may not answer the question.

use crate::existing::{MAX_NAMES, did_you_mean};
use crate::listing::first_of;
use crate::ranking::{TELLING, WEAK};
use crate::source::{Owner, Request, Skipped};
use crate::tool::Call;

/// The facts about a search that its note depends on.
pub(super) struct NoteInput<'a> {
    pub call: &'a Call<'a>,
    pub request: &'a Request,
    /// The owners that were searched, each with the number of its entries.
    pub owners: &'a [(Owner, u64)],
    /// The owners that the search left out.
    pub others: &'a [Owner],
    pub skipped: &'a [Skipped],
    pub has_hit: bool,
    /// The largest coverage of a hit: the share of the query's terms that the hit has, by their
    /// weights.
    pub coverage: f64,
    /// The coverage of each matching summary that is not shown.
    pub hidden: &'a [f64],
    pub has_word: bool,
    pub other_days: Option<&'a str>,
    /// Whether there is a warning about something that could not be searched.
    pub is_partial: bool,
    pub is_unsearched: bool,
    /// Whether the search includes a toolset whose entries belong to agents.
    pub searches_agents: bool,
}

impl NoteInput<'_> {
    pub fn note(&self) -> Option<String> {
        let is_weak = !self.has_hit || self.coverage < WEAK;
        let hidden = self.hidden.iter().filter(|coverage| **coverage >= TELLING).count();
        let entries = self.owners.iter().map(|(_, entries)| entries).sum();
        let is_agent_known = self.is_agent_known();
        // Says so even if there are hits of other owners, such as stores: they would hide that the
        // agent has no entries.
        let agent_missing = match (entries, is_agent_known) {
            (0, _) | (_, true) => None,
            (_, false) => self.nothing_kept(),
        };
        let parts = [
            agent_missing,
            self.advice(entries, is_weak, hidden),
            not_searched(self.request, is_weak || !is_agent_known, self.others),
            not_shown(hidden),
            if is_agent_known { None } else { other_agent(self.request, self.others) },
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn advice(&self, entries: u64, is_weak: bool, hidden: usize) -> Option<String> {
        let request = self.request;
        match (request.is_for_newest(), entries, self.has_hit) {
            (_, 0, _) if !self.skipped.is_empty() => None,
            (_, 0, _) if self.is_unsearched => {
                Some("nothing could be searched: `warnings` say why".to_owned())
            }
            (_, 0, _) => self.nothing_kept(),
            (true, _, true) if request.lists_days => Some(
                "no entry has a word of the query beside its days: these are the newest of these days"
                    .to_owned(),
            ),
            (true, _, true) => {
                Some("the query has no word to look for: these are the newest entries".to_owned())
            }
            (_, _, false) => {
                (hidden == 0).then(|| without_hit(request, entries, self.has_word, self.other_days))
            }
            _ => is_weak.then(|| {
                format!("no hit has most of the query: these are the nearest of {entries} entries")
            }),
        }
    }

    /// Says that nothing is kept: by the agent of the request, or at all. `None` if only owners
    /// that were left out have entries.
    fn nothing_kept(&self) -> Option<String> {
        let place = if self.is_partial { " in what could be searched" } else { "" };
        match &self.request.agent {
            Some(agent) if self.searches_agents => {
                Some(format!("nothing of agent `{}` is kept{place}", agent.as_str()))
            }
            _ => self.others.is_empty().then(|| format!("nothing is kept yet{place}")),
        }
    }

    /// Whether the agent of the request has entries or skipped entries. Also true if the request
    /// names no agent, or if no searched toolset has entries of agents.
    fn is_agent_known(&self) -> bool {
        let Some(agent) = self.request.agent.as_ref().filter(|_| self.searches_agents) else {
            return true;
        };
        // Files and items have no agent as their owner. They count as the agent's own if the caller
        // may use only some agents.
        let is_bounded = self.call.context.agents.is_some();
        let is_its = |owner: &Owner| match &owner.agent {
            Some(of) => of == agent.as_str(),
            None => is_bounded && owner.store.is_none(),
        };
        self.owners.iter().any(|(owner, entries)| *entries > 0 && is_its(owner))
            || self.skipped.iter().any(|skipped| is_its(&skipped.owner))
    }
}

/// Asks whether another agent with a similar name was meant. `None` if no name is similar.
fn other_agent(request: &Request, others: &[Owner]) -> Option<String> {
    let names: Vec<_> = others.iter().filter_map(|owner| owner.agent.clone()).collect();
    did_you_mean(request.agent.as_ref()?.as_str(), &names)
}

/// Says why there is no hit, and what to try.
fn without_hit(
    request: &Request,
    entries: u64,
    has_word: bool,
    other_days: Option<&str>,
) -> String {
    if !has_word {
        return format!("none of {entries} entries has a word of the query: try other words");
    }
    let those = if request.is_for_newest() { "all" } else { "those with words of the query" };
    if let Some(days) = other_days {
        let those = if request.is_for_newest() { "the newest" } else { those };
        return format!("of {entries} entries, {those} are of {days}: try these dates");
    }
    let (are, remedy) = match (request.has_dates(), request.include_archived) {
        (true, true) => ("of other days", "other dates"),
        (true, false) => {
            ("of other days, archived, expired or summarised", "other dates or `include_archived`")
        }
        (false, _) => ("archived, expired or summarised", "`include_archived`"),
    };
    format!("of {entries} entries, {those} are {are}: try {remedy}")
}

/// Names the owners that were left out. If the request names an agent, names them only if the hits
/// are weak or the agent has no entries.
fn not_searched(request: &Request, is_weak: bool, others: &[Owner]) -> Option<String> {
    let is_told = is_weak || request.agent.is_none();
    if !is_told || others.is_empty() {
        return None;
    }
    let names = others.iter().map(|owner| {
        let agent = owner.agent.as_deref().unwrap_or_default();
        format!("`{agent}` in {}", owner.toolset)
    });
    let names = first_of(names, MAX_NAMES);
    Some(match request.agent {
        Some(_) => format!("not searched: agents {names}"),
        None => format!("not searched without `agent`: {names}"),
    })
}

/// Says how many matching summaries were not shown.
fn not_shown(hidden: usize) -> Option<String> {
    match hidden {
        0 => None,
        1 => Some(
            "1 summary in the compost has most of the query: `include_archived` shows it"
                .to_owned(),
        ),
        _ => Some(format!(
            "{hidden} summaries in the compost have most of the query: `include_archived` shows \
             them"
        )),
    }
}
