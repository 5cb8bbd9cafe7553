//! The `layers` toolset: five layers of memory for each agent (spec 002), in one database, SQLite
//! or PostgreSQL.
//!
//! ```text
//! core memories     what the agent is and always does; stays until it is deleted
//! recent memories   a few sentences; when enough have gathered, they become one summary in the compost
//! current task      one task; the task before becomes an episode
//! episodes          what was done and what happened; searched by words and dates
//! compost           summaries of earlier recent memories
//! ```
//!
//! In SQLite, the tables and indexes are those of spec 002, so that its program and plain SQL can
//! still use them. Tables whose names begin with `layers_` are this toolset's own.

mod add_core_memory;
mod add_episodic_memory;
mod add_recent_memory;
mod agent;
mod agents;
mod batch;
mod clear_recent_memories;
mod copy_core_memories;
mod database;
mod delete_core_memory;
mod error;
mod export_layers;
mod follow_ups;
mod forget;
mod forget_text;
mod get_core_memories;
mod get_current_task;
mod get_memory_summary;
mod get_recent_memories;
mod import_layers;
mod input;
mod line;
mod memory;
mod place;
mod resources;
mod resume;
mod resume_session;
mod search;
mod search_episodic_memories;
mod set_current_task;
mod settings;
mod summarize;
mod uri;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "layers",
    title: "Memory in layers",
    description: "What an agent is doing in all repositories: its current task, recent memories, which \
                  summarise themselves, episodes and a few core memories",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::LayersSettings>("layers").map(drop),
    places: &[place::FILE],
    tools: &[
        ErasedTool::new::<get_memory_summary::GetMemorySummary>(),
        ErasedTool::new::<add_core_memory::AddCoreMemory>(),
        ErasedTool::new::<add_recent_memory::AddRecentMemory>(),
        ErasedTool::new::<set_current_task::SetCurrentTask>(),
        ErasedTool::new::<add_episodic_memory::AddEpisodicMemory>(),
        ErasedTool::new::<get_core_memories::GetCoreMemories>(),
        ErasedTool::new::<get_recent_memories::GetRecentMemories>(),
        ErasedTool::new::<get_current_task::GetCurrentTask>(),
        ErasedTool::new::<search_episodic_memories::SearchEpisodicMemories>(),
        ErasedTool::new::<delete_core_memory::DeleteCoreMemory>(),
        ErasedTool::new::<clear_recent_memories::ClearRecentMemories>(),
        ErasedTool::new::<copy_core_memories::CopyCoreMemories>(),
        ErasedTool::new::<export_layers::ExportLayers>(),
        ErasedTool::new::<import_layers::ImportLayers>(),
        ErasedTool::new::<forget_text::ForgetText>(),
    ],
    resources: Some(&resources::RESOURCES),
    prompts: resume_session::PROMPTS,
    complete: agents::complete,
    follow_ups: Some(&follow_ups::FOLLOW_UPS),
    left_out_by: None,
    search: Some(search::SOURCE),
    resume: Some(resume::RESUME),
    forget: Some(forget::FORGET),
};
