//! The `stores` toolset: named stores of Markdown memories in categories.
//!
//! ```text
//! STORE/index.yaml                 the subcategories of the root
//! STORE/<category>/index.yaml      the memories and subcategories of a category
//! STORE/<category>/<slug>.md       a memory: YAML front matter, then Markdown
//! ```
//!
//! The format is that of an earlier program (spec 003). A person or Git may change the files at any
//! time. If an index and the memory files differ, the files are right: indexes are derived from
//! them.

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
    description: "Pages of knowledge that agents and people share in all repositories: named stores of \
                  Markdown memories in categories, with tags, citations and expiry",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::StoresSettings>("stores").map(drop),
    places: &[place::STORES],
    tools: &[
        ErasedTool::new::<cortex_get_recent_memories::GetRecentMemories>(),
        ErasedTool::new::<list_memories::ListMemories>(),
        ErasedTool::new::<get_memory::GetMemory>(),
        ErasedTool::new::<add_memory::AddMemory>(),
        ErasedTool::new::<update_memory::UpdateMemory>(),
        ErasedTool::new::<move_memory::MoveMemory>(),
        ErasedTool::new::<remove_memory::RemoveMemory>(),
        ErasedTool::new::<prune_memories::PruneMemories>(),
        ErasedTool::new::<reindex_store::ReindexStore>(),
        ErasedTool::new::<get_memory_file::GetMemoryFile>(),
        ErasedTool::new::<put_memory_file::PutMemoryFile>(),
        ErasedTool::new::<plan_import::PlanImport>(),
        ErasedTool::new::<import_memories::ImportMemories>(),
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
