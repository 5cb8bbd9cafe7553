//! Commands that are more than a call of one tool: a folder a toolset.

pub(super) mod records;
pub(super) mod sessions;
