use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::agents;
use super::error::Error;
use super::input::default_agent;
use super::memory::{Importance, Kind, Memory};
use super::stats::Stats;
use crate::names::AgentName;
use crate::time::Timestamp;
use crate::tool::{Call, Hints, Tool};

pub(super) struct GetMemoryStats;

/// Counts memories by type, importance and tag.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Memory statistics")]
pub(super) struct Input {
    /// Default `default`.
    #[serde(default = "default_agent")]
    agent_id: AgentName,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    total_memories: u64,
    by_type: ByType,
    by_importance: ByImportance,
    archived_count: u64,
    // The size of all memories as compact JSON, in KiB.
    total_storage_kb: f64,
    // When the oldest memory was created.
    oldest_memory: Option<Timestamp>,
    // When the newest memory was created.
    newest_memory: Option<Timestamp>,
    most_accessed: Option<Memory>,
    top_tags: Vec<TagCount>,
    // Which other agents there are, if the agent has no memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = crate::tool::without_required)]
struct ByType {
    core: u64,
    learning: u64,
    task: u64,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = crate::tool::without_required)]
struct ByImportance {
    high: u64,
    medium: u64,
    low: u64,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = crate::tool::without_required)]
struct TagCount {
    tag: String,
    count: u64,
}

impl Tool for GetMemoryStats {
    const NAME: &'static str = "get_memory_stats";
    const HINTS: Hints = Hints::READS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        stats(call, &input.agent_id)
    }
}

/// The statistics of an agent, as the tool and the resource return them.
pub(super) fn stats(call: &Call<'_>, agent: &AgentName) -> Result<Output, Error> {
    let agent = Agent::open(call, agent)?;
    let (stats, unreadable) = agent.read(|reader| Ok((reader.stats()?, reader.unreadable())))?;
    let is_empty = stats.by_kind.values().all(|count| *count == 0) && stats.archived == 0;
    let mut output = Output { warnings: unreadable.into_iter().collect(), ..stats.into() };
    if is_empty && output.warnings.is_empty() {
        let there_are = agents::there_are(call, agent.name, &mut output.warnings);
        output.note = there_are.map(|there_are| no_memories(agent.name, &there_are));
    }
    Ok(output)
}

/// The note of an answer about an agent without memories.
pub(super) fn no_memories(agent: &str, there_are: &str) -> String {
    format!("no memories of agent `{agent}` yet; {there_are}")
}

impl From<Stats> for Output {
    fn from(stats: Stats) -> Self {
        let of_kind = |kind| stats.by_kind.get(&kind).copied().unwrap_or_default();
        let of_importance =
            |importance| stats.by_importance.get(&importance).copied().unwrap_or_default();
        // Computes with integers, so that all platforms round alike.
        let hundredths = (stats.bytes * 100 + 512) / 1024;
        Self {
            total_memories: stats.by_kind.values().sum(),
            by_type: ByType {
                core: of_kind(Kind::Core),
                learning: of_kind(Kind::Learning),
                task: of_kind(Kind::Task),
            },
            by_importance: ByImportance {
                high: of_importance(Importance::High),
                medium: of_importance(Importance::Medium),
                low: of_importance(Importance::Low),
            },
            archived_count: stats.archived,
            total_storage_kb: hundredths as f64 / 100.0,
            oldest_memory: stats.oldest,
            newest_memory: stats.newest,
            most_accessed: stats.most_accessed,
            top_tags: stats
                .top_tags
                .into_iter()
                .map(|(tag, count)| TagCount { tag, count })
                .collect(),
            note: None,
            warnings: Vec::new(),
        }
    }
}
