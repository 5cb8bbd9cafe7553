//! The part of YAML that memories, indexes and registries need. Each value has its place in the
//! text. A change splices the text, so comments and formatting around the change stay.
//!
//! Anchors, aliases and tags are refused: files of these formats do not need them, and a few
//! aliases can expand to gigabytes.

mod edit;
mod lines;
mod node;
mod parse;
mod write;

pub(crate) use edit::Editor;
pub(crate) use node::{Entry, Node, YamlError};
pub(crate) use parse::parse;
pub(crate) use write::{New, NewEntry};
