//! The `sessions` toolset (spec 000): an agent's session logs and its summary, in the source
//! repository that they are about.
//!
//! ```text
//! .github/agent-memory/<agent>/_schema.md          the sections of the logs
//! .github/agent-memory/<agent>/_summary.md         the knowledge that every session reads
//! .github/agent-memory/<agent>/logs/YYYY-MM-DD.md  one log a day
//! ```

mod agent;
mod append_entry;
mod completion;
mod content;
mod error;
mod examination;
mod finding;
mod forget;
mod header;
mod list_sessions;
mod log;
mod open_items;
mod read_session;
mod read_summary;
mod removal;
mod repo_root;
mod resources;
mod resume;
mod schema;
mod search;
mod start_session;
mod summary;
mod update_summary;
mod uri;
mod validate;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "sessions",
    title: "Session logs",
    description: "The story of the work on a repository: Markdown logs and a summary for each agent, in \
                  the repository itself, for everyone who works on it",
    is_default: true,
    settings: &[],
    check: |_| Ok(()),
    places: &[],
    tools: &[
        ErasedTool::new::<start_session::StartSession>(),
        ErasedTool::new::<append_entry::AppendEntry>(),
        ErasedTool::new::<read_summary::ReadSummary>(),
        ErasedTool::new::<update_summary::UpdateSummary>(),
        ErasedTool::new::<list_sessions::ListSessions>(),
        ErasedTool::new::<read_session::ReadSession>(),
        ErasedTool::new::<validate::Validate>(),
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
