use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, hidden_rows_message};
use super::error::{Code, Error};
use super::input::default_agent;
use super::memory::{Kind, Memory};
use super::query::Query;
use super::store::Purpose;
use crate::names::AgentName;
use crate::tool::{Call, Hints, Tool};

pub(super) struct RecallContext;

/// Recalls what earlier sessions stored: the most recently accessed memories. Call it first in every
/// session. Counts as an access.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Recall the context")]
pub(super) struct Input {
    /// Default `default`.
    #[serde(default = "default_agent")]
    agent_id: AgentName,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

fn default_limit() -> u32 {
    20
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    // The memories as text for a reader, by type, those of high importance first.
    context: String,
    // The same memories in the same order.
    memories: Vec<Memory>,
    count: usize,
    // Says if the access could not be recorded, and if the agent also has hidden rows.
    warnings: Vec<String>,
}

impl Tool for RecallContext {
    const NAME: &'static str = "recall_context";
    const HINTS: Hints = Hints::ADDS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let query = Query::recent(input.limit);
        let recorded = agent.change(Purpose::Access, |writer| {
            let mut memories = writer.query(&query)?.memories;
            for memory in &mut memories {
                let before = memory.clone();
                memory.accessed_at = call.context.now.max(memory.created_at);
                memory.access_count = memory.access_count.saturating_add(1);
                writer.update(&before, memory)?;
            }
            Ok(memories)
        });
        let (memories, warning) = match recorded {
            Ok(memories) => (memories, None),
            Err(error) if cannot_write(error.code) => {
                let warning = format!("this access could not be recorded: {}", error.message());
                // If reading fails too, the first error says more.
                let page = agent.read(|reader| reader.query(&query)).map_err(|_| error)?;
                (page.memories, Some(warning))
            }
            Err(error) => return Err(error),
        };
        let memories = grouped(memories);
        let hidden = match agent.has_hidden_rows() {
            Ok(is_hidden) => is_hidden.then(|| hidden_rows_message(agent.name)),
            Err(error) => Some(format!("`memories.db` could not be checked: {}", error.message())),
        };
        Ok(Output {
            context: text(agent.name, &memories),
            count: memories.len(),
            memories,
            warnings: warning.into_iter().chain(hidden).collect(),
        })
    }
}

/// Whether memories may be readable although a change failed with this error.
fn cannot_write(code: Code) -> bool {
    matches!(code, Code::Busy | Code::PermissionError | Code::StorageError | Code::LimitExceeded)
}

/// Sorts by type, and by importance within a type, high first. Ties keep their order.
fn grouped(mut memories: Vec<Memory>) -> Vec<Memory> {
    memories.sort_by_key(|memory| (memory.kind, std::cmp::Reverse(memory.importance)));
    memories
}

fn text(agent: &str, memories: &[Memory]) -> String {
    if memories.is_empty() {
        return format!("No memories of agent `{agent}` yet.");
    }
    let mut text = format!("# Memories of `{agent}`\n");
    for kind in Kind::ALL {
        let mut of_kind = memories.iter().filter(|memory| memory.kind == kind).peekable();
        if of_kind.peek().is_none() {
            continue;
        }
        let title = match kind {
            Kind::Core => "Core memories",
            Kind::Learning => "Learnings",
            Kind::Task => "Tasks",
        };
        text += &format!("\n## {title}\n\n");
        for memory in of_kind {
            text += &line(memory);
        }
    }
    text
}

/// A list item: the content, then category, tags and importance in brackets.
fn line(memory: &Memory) -> String {
    let category = memory.category.as_deref().map(|category| format!("{category}; "));
    let tags: String = memory.tags.iter().map(|tag| format!("#{tag} ")).collect();
    let content = memory.content.trim_end().replace('\n', "\n  ");
    format!("- {content} [{}{tags}{}]\n", category.unwrap_or_default(), memory.importance.name())
}
