//! The toolset `search`: one tool that finds entries of every mounted toolset by a question in plain
//! words.
//!
//! Each toolset brings its entries, see [`Entries`](crate::source::Entries). The ranking is in
//! [`ranking`](crate::ranking).

mod asked_days;
mod search_memory;
mod settings;
mod skipped;
mod undated;
mod unread;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "search",
    title: "Search",
    description: "One search over all mounted toolsets, by a question in plain words",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::SearchSettings>("search").map(drop),
    places: &[],
    tools: &[ErasedTool::of::<search_memory::SearchMemory>()],
    resources: None,
    prompts: &[],
    complete: |_, _| Ok(Vec::new()),
    follow_ups: None,
    left_out_by: Some(settings::LEAVE_OUT),
    search: None,
};
