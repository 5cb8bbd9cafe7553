use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::agents;
use super::error::Error;
use super::input::default_agent;
use super::memory::{Importance, Kind, Returned};
use super::no_match;
use super::query::{Page, Query, Sort};
use crate::answer::cut_list;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};
use crate::words::fold;

pub(super) struct QueryMemories;

/// Finds memories that match all filters. Counts as no access.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Query memories")]
pub(super) struct Input {
    /// Default `default`.
    #[serde(default = "default_agent")]
    agent_id: AgentName,
    /// Only these.
    #[serde(default)]
    #[schemars(length(max = 100))]
    ids: Vec<String>,
    /// Its type.
    #[serde(rename = "type")]
    kind: Option<Kind>,
    /// All of these.
    #[serde(default)]
    #[schemars(length(max = 10))]
    tags: Vec<String>,
    /// Parts of words, each in content, category or tags.
    #[schemars(length(max = 200))]
    search: Option<String>,
    /// Its weight.
    importance: Option<Importance>,
    /// Exactly this.
    #[schemars(length(min = 1))]
    category: Option<String>,
    /// Archived ones, too.
    #[serde(default)]
    archived: bool,
    /// At most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// How many to skip.
    #[serde(default)]
    offset: u64,
    /// Ties: the newest first.
    #[serde(default)]
    sort_by: Sort,
    /// `desc`: high first.
    #[serde(default)]
    sort_order: Order,
}

fn default_limit() -> u32 {
    10
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Order {
    Asc,
    #[default]
    Desc,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    memories: Vec<Returned>,
    // The number of matches on all pages.
    total: u64,
    limit: u32,
    offset: u64,
    has_more: bool,
    // Where the wanted memories might be, if nothing matches or the page is beyond the last match.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for QueryMemories {
    const NAME: &'static str = "query_memories";
    const HINTS: Hints = Hints::READS;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let Input { limit, offset, .. } = input;
        let search = input.search.as_deref().map(fold).unwrap_or_default();
        let mut terms: Vec<String> = Vec::new();
        for term in search.split_whitespace() {
            if !terms.iter().any(|known| known == term) {
                terms.push(term.to_owned());
            }
        }
        let query = Query {
            ids: input.ids,
            kind: input.kind,
            tags: input.tags,
            terms,
            importance: input.importance,
            category: input.category,
            archived: input.archived,
            limit,
            offset,
            sort: input.sort_by,
            descending: input.sort_order == Order::Desc,
            counts_all: true,
        };
        let agent = Agent::open(call, &input.agent_id)?;
        let (mut page, near, unknown, unreadable) = agent.read(|reader| {
            let page = reader.query(&query)?;
            let near = (page.total == 0).then(|| no_match::near(reader, &query));
            let unknown = no_match::unknown_ids(reader, &query.ids)?;
            Ok((page, near.transpose()?, unknown, reader.unreadable()))
        })?;
        let mut note = (page.memories.is_empty() && page.total > 0)
            .then(|| no_match::past_the_end(offset, page.total));
        let mut warnings: Vec<String> = unreadable.into_iter().collect();
        warnings.extend(no_match::unknown_ids_warning(agent.name, &unknown));
        if let Some(near) = near {
            let there_are = agents::there_are(call, agent.name, &mut warnings);
            note = Some(no_match::note(call, agent.name, &near, there_are));
        }
        let left_out = cut_list(&mut page.memories);
        if left_out > 0 {
            let next = offset.saturating_add(page.memories.len() as u64);
            warnings.push(format!(
                "the memories are long, so {left_out} are left out: go on with `offset` {next}"
            ));
        }
        let has_more = offset.saturating_add(page.memories.len() as u64) < page.total;
        let Page { memories, total } = page;
        let memories = memories.into_iter().map(Returned::from).collect();
        Ok(Output { memories, total, limit, offset, has_more, note, warnings })
    }
}
