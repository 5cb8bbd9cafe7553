//! The `records` toolset: an agent's memories as typed records (specs 001 and 004). The memories
//! are stored in one of two formats, which behave alike.
//!
//! ```text
//! MEMORY_DIR/<agent>.json          JSON, as spec 001 defines it
//! MEMORY_DIR/<agent>.json.backup   the version before the last change
//! MEMORY_DIR/memories.db           SQLite, for many memories
//! ```
//!
//! An agent with a JSON file stays in JSON. An agent with rows in the database and no file keeps
//! the rows. For a new agent, the settings decide. On a database server, the rows are in
//! PostgreSQL.

mod add_core_memory;
mod add_recent_learning;
mod add_recent_task;
mod agent;
mod agents;
mod archive_memories;
mod convert_records;
mod database;
mod delete_memory;
mod entries;
mod error;
mod export_records;
mod forget;
mod get_memory_stats;
mod id;
mod import_records;
mod input;
mod json;
mod memory;
mod new_memory;
mod no_match;
mod place;
mod query;
mod query_memories;
mod recall_context;
mod resources;
mod resume;
mod search;
mod settings;
mod stats;
mod store;
mod store_memory;
mod update_memory;
mod uri;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "records",
    title: "Typed records",
    description: "Single facts for all repositories: core memories, learnings and tasks of each agent, to \
                  filter by type, tag, importance and text",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::RecordsSettings>("records").map(drop),
    places: &[place::DIRECTORY],
    tools: &[
        ErasedTool::new::<recall_context::RecallContext>(),
        ErasedTool::new::<add_core_memory::AddCoreMemory>(),
        ErasedTool::new::<add_recent_learning::AddRecentLearning>(),
        ErasedTool::new::<add_recent_task::AddRecentTask>(),
        ErasedTool::new::<store_memory::StoreMemory>(),
        ErasedTool::new::<query_memories::QueryMemories>(),
        ErasedTool::new::<update_memory::UpdateMemory>(),
        ErasedTool::new::<delete_memory::DeleteMemory>(),
        ErasedTool::new::<get_memory_stats::GetMemoryStats>(),
        ErasedTool::new::<convert_records::ConvertRecords>(),
        ErasedTool::new::<export_records::ExportRecords>(),
        ErasedTool::new::<import_records::ImportRecords>(),
        ErasedTool::new::<archive_memories::ArchiveMemories>(),
    ],
    resources: Some(&resources::RESOURCES),
    prompts: &[],
    complete: agents::complete,
    follow_ups: None,
    left_out_by: None,
    search: Some(search::SOURCE),
    resume: Some(resume::RESUME),
    forget: Some(forget::FORGET),
};
