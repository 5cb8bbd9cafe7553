//! The toolsets, each in a folder of its own: its tools, its own storage, and its part of a search.

pub(crate) mod files;
pub(crate) mod items;
pub(crate) mod layers;
pub(crate) mod memory;
pub(crate) mod records;
pub(crate) mod sessions;
pub(crate) mod stores;
