//! The layers of an agent, as a part of the answer to `resume_memory`.

use super::agent::Agent;
use super::agents::names;
use super::get_memory_summary::{Output, dated, summary, task_text};
use super::search::owner;
use crate::resume::{Item, Part, Parts, Rank};
use crate::tool::{Call, Checked, Resume};

pub(super) const RESUME: Resume =
    Resume { toolset: "layers", first_tool: "set_current_task", collect };

/// Adds the layers of the agent whose work is resumed, as `get_memory_summary` gives them.
fn collect(call: &Call<'_>, parts: &mut Parts<'_>) -> Checked<()> {
    let names = names(call)?;
    let Some(name) = parts.agent_among(&names, || None) else { return Ok(()) };
    let agent = Agent::open(call, &name)?;
    let Output { current_task, core_memories, recent_memories, memory_compost, warnings, .. } =
        summary(&agent)?;
    let mut add = |rank, title: &str, items: Vec<String>, count: i64, read: &str| {
        parts.add(Part {
            title: title.to_owned(),
            owner: owner(agent.name),
            rank,
            items: items.into_iter().map(Item::from).collect(),
            total: count.unsigned_abs(),
            read: call.listed("layers", read),
            ..Part::default()
        });
    };
    let task = current_task.iter().map(task_text).collect();
    add(Rank::CurrentTask, "Current task", task, 1, "get_current_task");
    let newest = core_memories.memories.into_iter().rev();
    let core = newest.map(|memory| memory.memory).collect();
    add(Rank::CoreMemories, "Core memories", core, core_memories.count, "get_core_memories");
    let recent = recent_memories.memories.iter();
    let recent = recent.map(|memory| dated(memory.created_at, &memory.memory)).collect();
    let count = recent_memories.count;
    add(Rank::RecentMemories, "Recent memories", recent, count, "get_recent_memories");
    let compost = memory_compost.summaries.iter();
    let compost = compost.map(|compost| dated(compost.archived_at, &compost.summary)).collect();
    let count = memory_compost.count;
    let title = "Summaries of earlier memories";
    add(Rank::EarlierMemories, title, compost, count, "search_episodic_memories");
    for warning in warnings {
        parts.warn(format!("layers of agent `{}`: {warning}", agent.name));
    }
    Ok(())
}
