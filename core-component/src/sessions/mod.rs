//! The `sessions` toolset (spec 000): the session logs and the summary of each agent, kept in the
//! source repository that they are about.
//!
//! ```text
//! .github/agent-memory/<agent>/_schema.md          the sections of the logs
//! .github/agent-memory/<agent>/_summary.md         the knowledge that every session reads
//! .github/agent-memory/<agent>/logs/YYYY-MM-DD.md  one log a day
//! ```

mod agent;
mod append_entry;
mod content;
mod error;
mod examination;
mod finding;
mod header;
mod list_sessions;
mod log;
mod read_summary;
mod repo_root;
mod schema;
mod start_session;
mod summary;
mod update_summary;
mod validate;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "sessions",
    title: "Session logs",
    description: "Markdown logs and a summary for each agent, in the repository that they are about",
    is_default: true,
    settings: &[],
    check: |_| Ok(()),
    places: &[],
    tools: &[
        ErasedTool::of::<start_session::StartSession>(),
        ErasedTool::of::<append_entry::AppendEntry>(),
        ErasedTool::of::<read_summary::ReadSummary>(),
        ErasedTool::of::<update_summary::UpdateSummary>(),
        ErasedTool::of::<list_sessions::ListSessions>(),
        ErasedTool::of::<validate::Validate>(),
    ],
    resources: None,
    prompts: &[],
    complete: |_, _| Ok(Vec::new()),
    follow_ups: None,
};
