//! The JSON format: one file an agent, as seed 001 has it. A change is spliced into the text of the
//! file: what it does not touch stays as it is, byte for byte.

mod file;
mod line;
mod outline;
mod record;
mod scan;
mod write;

pub(super) use file::JsonFile;
pub(super) use line::{Given, line};
pub(super) use outline::{Outline, Section};
pub(super) use write::{JsonWriter, caps, empty_document, record_text, rewritten};
