//! The part of `resume_memory` that comes from the memories of all stores.

use super::error::Error;
use super::operations::{Recent, RecentMemories, recent_memories};
use super::path::CategoryPath;
use super::search::owner;
use super::store::{Store, names};
use crate::names::StoreName;
use crate::resume::{Part, Parts};
use crate::text::{excerpt, lines};
use crate::tool::{Call, Checked, Resume};

/// The maximum number of stores that are read.
const MAX_STORES: usize = 20;

/// The maximum number of memories of a store in the answer, the last changed first.
const MOST_OF_STORE: usize = 10;

pub(super) const RESUME: Resume = Resume { toolset: "stores", first_tool: "add_memory", collect };

/// Adds the memories of each store that were changed last. Memories of stores belong to no agent.
fn collect(call: &Call<'_>, parts: &mut Parts<'_>) -> Checked<()> {
    let names = names(call)?;
    for (at, name) in names.iter().enumerate() {
        let Some(name) = StoreName::parse(name) else {
            let name = name.escape_debug();
            parts.warn(format!("store `{name}` was not read: register it under a valid name"));
            continue;
        };
        parts.add_store(name.as_str());
        if at >= MAX_STORES {
            continue;
        }
        let added = Store::open(call, &name).and_then(|store| add(&store, parts));
        if let Err(error) = added {
            parts.warn(format!("store `{}` was not read: {}", name.as_str(), error.message()));
        }
    }
    Ok(())
}

fn add(store: &Store<'_>, parts: &mut Parts<'_>) -> Result<(), Error> {
    let RecentMemories { memories: pages, total, warnings } =
        recent_memories(store, &CategoryPath::ROOT, false, MOST_OF_STORE)?;
    for warning in warnings {
        parts.warn(format!("store `{}`: {warning}", store.name));
    }
    parts.add(Part {
        title: "Pages changed last".to_owned(),
        owner: owner(store.name),
        items: pages.iter().map(|page| item(store, page).into()).collect(),
        total,
        read: store.call.listed("stores", "cortex_get_recent_memories"),
        ..Part::default()
    });
    Ok(())
}

/// Describes a memory: its path, the day of its last change, and its first line.
fn item(store: &Store<'_>, Recent { found, content, .. }: &Recent) -> String {
    let mut item = format!("`{}`", found.path);
    if let Some(updated_at) = found.indexed.updated_at {
        item += &format!(" ({})", store.call.context.zone.date_at(updated_at));
    }
    let mut lines = lines(content).map(|(_, line)| line.trim_start_matches('#').trim());
    match lines.find(|line| !line.is_empty()) {
        Some(line) => format!("{item}: {}", excerpt(line)),
        None => item,
    }
}
