//! Markdown as structure: which blocks a document is made of, and whether text that is put into
//! it leaves them as they are. CommonMark decides; nothing here renders.

mod entry;
mod insertion;
mod open;
mod outline;
mod section;

pub(crate) use entry::{Entry, Offence};
pub(crate) use insertion::insert;
pub(crate) use outline::{Block, BlockKind, Outline};
pub(crate) use section::{Section, content_end, is_heading_text};
