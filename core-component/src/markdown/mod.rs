//! The structure of Markdown documents: their blocks, and whether inserted text leaves the blocks
//! unchanged. Blocks are those of CommonMark. Nothing here renders.

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
