//! The JSON format: one file for each agent, as spec 001 defines it. A change replaces parts of the
//! file's text; all other bytes stay as they are.

mod file;
mod forget;
mod layout;
mod line;
mod outline;
mod path;
mod record;
mod scan;
mod search;
mod unreadable;
mod write;

pub(super) use file::JsonFile;
pub(super) use forget::{Removal, json_without};
pub(super) use layout::{record_text, without_byte_order_mark};
pub(super) use line::{ImportText, line};
pub(super) use outline::{Outline, Section};
pub(super) use path::file_path;
pub(super) use write::{JsonWriter, empty_document, limits, rewritten};
