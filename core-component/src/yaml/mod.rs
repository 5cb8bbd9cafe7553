//! The part of YAML that memories, indexes and registries need, with the place of every value in the
//! text. A change is a few splices, so comments and formatting around it stay.
//!
//! Anchors, aliases and tags are refused: no file of these formats has a use for them, and a few
//! aliases can stand for gigabytes.

mod edit;
mod lines;
mod node;
mod parse;
mod write;

pub(crate) use edit::Editor;
pub(crate) use node::{Entry, Node, YamlError};
pub(crate) use parse::parse;
pub(crate) use write::{New, NewEntry};
