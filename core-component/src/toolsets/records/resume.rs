//! The memories of an agent, as a part of the answer to `resume_memory`.

use super::agent::Agent;
use super::agents::{Files, reached};
use super::entries::owner;
use super::error::Error;
use super::memory::{Kind, Memory};
use super::place::LABEL;
use super::query::{Query, Sort};
use crate::resume::{Part, Parts, Rank};
use crate::storage::Place;
use crate::tool::{Call, Checked, Resume};

/// The most memories of each type that one call reads.
const MOST: u32 = 30;

pub(super) const RESUME: Resume =
    Resume { toolset: "records", first_tool: "store_memory", collect };

/// Adds the memories of the agent whose work is resumed.
fn collect(call: &Call<'_>, parts: &mut Parts<'_>) -> Checked<()> {
    let files = Files::list(&*call.storage.open(&Place::named(LABEL)).map_err(Error::from)?)?;
    let (names, warning) = reached(call, &files, "read");
    warning.into_iter().for_each(|warning| parts.warn(warning));
    let names: Vec<String> = names.into_iter().collect();
    let Some(name) = parts.agent_among(&names, || None) else { return Ok(()) };
    let added = Agent::open_listed(call, &name, &files).and_then(|agent| add(&agent, parts));
    if let Err(error) = added {
        parts.warn(format!("records of agent `{}`: {}", name.as_str(), error.message()));
    }
    Ok(())
}

fn add(agent: &Agent<'_>, parts: &mut Parts<'_>) -> Result<(), Error> {
    let kinds = [
        (Kind::Core, "Core memories", Sort::Importance),
        (Kind::Learning, "Recent learnings", Sort::UpdatedAt),
        (Kind::Task, "Recent tasks", Sort::UpdatedAt),
    ];
    let (pages, unreadable) = agent.read(|reader| {
        let page = |(kind, _, sort): &(Kind, &str, Sort)| {
            let newest = Query::recent(MOST);
            reader.query(&Query { kind: Some(*kind), sort: *sort, counts_all: true, ..newest })
        };
        let pages: Result<Vec<_>, Error> = kinds.iter().map(page).collect();
        Ok((pages?, reader.unreadable()))
    })?;
    for ((kind, title, _), page) in kinds.into_iter().zip(pages) {
        parts.add(Part {
            title: title.to_owned(),
            owner: owner(agent.name),
            rank: if kind == Kind::Core { Rank::CoreMemories } else { Rank::RecentMemories },
            items: page.memories.iter().map(|of| item(agent.call, kind, of).into()).collect(),
            total: page.total,
            read: agent.call.listed("records", "query_memories"),
            ..Part::default()
        });
    }
    if let Some(warning) = unreadable {
        parts.warn(format!("records of agent `{}`: {warning}", agent.name));
    }
    Ok(())
}

/// The content of a memory. For a learning or a task, the day of the last change comes first.
fn item(call: &Call<'_>, kind: Kind, memory: &Memory) -> String {
    match kind {
        Kind::Core => memory.content.clone(),
        Kind::Learning | Kind::Task => {
            let day = call.context.zone.date_at(memory.updated_at);
            format!("{day}: {}", memory.content)
        }
    }
}
