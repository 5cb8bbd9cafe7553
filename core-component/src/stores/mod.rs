//! The `stores` toolset: named stores of Markdown memories in categories (spec 003).
//!
//! ```text
//! STORE/index.yaml                 the subcategories of the root
//! STORE/<category>/index.yaml      the memories and subcategories of a category
//! STORE/<category>/<slug>.md       a memory: YAML front matter, then Markdown
//! ```
//!
//! The files are those of spec 003's program. A person or Git may change them at any time, so the
//! memories are the truth and the indexes follow them.

mod add_memory;
mod change;
mod completion;
mod cortex_get_recent_memories;
mod error;
mod forget;
mod get_memory;
mod get_memory_file;
mod import;
mod import_memories;
mod index;
mod input;
mod intent;
mod list_memories;
mod memory;
mod move_memory;
mod operations;
mod path;
mod place;
mod plan;
mod plan_import;
mod prune_memories;
mod put_memory_file;
pub(crate) mod registry;
mod reindex_store;
mod removal;
mod remove_memory;
mod resources;
mod resume;
mod search;
mod settings;
mod spelling;
mod store;
mod update_memory;
mod uri;
mod walk;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "stores",
    title: "Categorised Markdown",
    description: "Pages of knowledge that agents and people share: named stores of Markdown memories in \
                  categories, with tags, citations and expiry",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::StoresSettings>("stores").map(drop),
    places: &[place::STORES],
    tools: &[
        ErasedTool::of::<cortex_get_recent_memories::GetRecentMemories>(),
        ErasedTool::of::<list_memories::ListMemories>(),
        ErasedTool::of::<get_memory::GetMemory>(),
        ErasedTool::of::<add_memory::AddMemory>(),
        ErasedTool::of::<update_memory::UpdateMemory>(),
        ErasedTool::of::<move_memory::MoveMemory>(),
        ErasedTool::of::<remove_memory::RemoveMemory>(),
        ErasedTool::of::<prune_memories::PruneMemories>(),
        ErasedTool::of::<reindex_store::ReindexStore>(),
        ErasedTool::of::<get_memory_file::GetMemoryFile>(),
        ErasedTool::of::<put_memory_file::PutMemoryFile>(),
        ErasedTool::of::<plan_import::PlanImport>(),
        ErasedTool::of::<import_memories::ImportMemories>(),
    ],
    resources: Some(&resources::RESOURCES),
    prompts: &[],
    complete: completion::complete,
    follow_ups: None,
    left_out_by: None,
    search: Some(search::SOURCE),
    resume: Some(resume::RESUME),
    forget: Some(forget::FORGET),
};
