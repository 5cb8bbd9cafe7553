//! The toolset `memory`: tools that work on the entries of all mounted toolsets.
//!
//! Each toolset adds its entries to a search ([`Collector`](crate::source::Collector)), and adds
//! what an agent needs to continue its work ([`Parts`](crate::resume::Parts)). Each toolset also
//! removes its own entries for `forget_memory` ([`Forgetting`](crate::forget::Forgetting)). The
//! ranking is in [`ranking`](crate::ranking).

mod asked_days;
mod drop_vectors;
mod fitting;
mod forget_memory;
mod note;
mod resume_memory;
mod search;
mod search_memory;
mod settings;
mod skipped;
mod undated;
mod unread;
mod vectors;

pub(crate) use search::query_of;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "memory",
    title: "All memory",
    description: "Over all mounted toolsets: what to go on with (call `resume_memory` first), a search by a \
                  question, and the removal of a secret",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::MemorySettings>("memory").map(drop),
    places: &[],
    tools: &[
        ErasedTool::new::<resume_memory::ResumeMemory>(),
        ErasedTool::new::<search_memory::SearchMemory>(),
        ErasedTool::new::<forget_memory::ForgetMemory>(),
        ErasedTool::new::<drop_vectors::DropVectors>(),
    ],
    resources: None,
    prompts: &[],
    complete: |_, _| Ok(Vec::new()),
    follow_ups: Some(&vectors::FOLLOW_UPS),
    left_out_by: Some(settings::LEAVE_OUT),
    search: None,
    resume: None,
    forget: None,
};
