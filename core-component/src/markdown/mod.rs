//! The structure of Markdown documents: finds their blocks, and checks that inserted text leaves
//! the blocks unchanged. The blocks are those of CommonMark. Nothing is rendered.

mod entry;
mod insertion;
mod items;
mod open;
mod outline;
mod section;

pub(crate) use entry::ContentError;
pub(crate) use insertion::insert;
pub(crate) use items::items;
pub(crate) use outline::{Block, BlockKind, Outline};
pub(crate) use section::{Section, content_end, is_heading_text};
