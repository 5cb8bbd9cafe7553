//! Commands that do more than call one tool, in a folder for each toolset.

pub(super) mod checks;
pub(super) mod layers;
pub(super) mod memory;
pub(super) mod records;
pub(super) mod sessions;
pub(super) mod stores;
