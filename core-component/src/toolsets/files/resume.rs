//! The part of `resume_memory` that comes from the files: their paths and first lines.

use super::error::Error;
use super::path::FilePath;
use super::search::owner;
use super::tree::Files;
use super::walk::{Walk, Which};
use crate::error::ReadError;
use crate::resume::{Item, Part, Parts};
use crate::text::{excerpt, lines};
use crate::tool::{Call, Checked, Resume};

/// The maximum number of files that are read.
const MOST: usize = 20;

/// A file with more bytes is not read. The answer then has only its path.
const MAX_BYTES: u64 = 1 << 20;

pub(super) const RESUME: Resume =
    Resume { toolset: "files", first_tool: "create_memory_file", collect };

fn collect(call: &Call<'_>, parts: &mut Parts<'_>) -> Checked<()> {
    Ok(add(&Files::open(call)?, parts)?)
}

fn add(files: &Files<'_>, parts: &mut Parts<'_>) -> Result<(), Error> {
    let Walk { files: found, left, .. } = Walk::new(files, &FilePath::ROOT, Which::Listed)?;
    for error in left {
        parts.warn(format!("memory files: {}", error.message()));
    }
    let total = found.len() as u64;
    let mut items = Vec::new();
    for (path, status) in found.into_iter().take(MOST) {
        let beginning = match files.text(&path) {
            _ if status.size > MAX_BYTES => None,
            Ok(text) => text.and_then(|text| beginning(&text.text)),
            Err(ReadError::Unusable(error)) => {
                parts.warn(format!("memory files: {}", error.message()));
                None
            }
            Err(ReadError::Other(error)) => return Err(error),
        };
        items.push(Item::from(match beginning {
            Some(beginning) => format!("`{path}`: {beginning}"),
            None => format!("`{path}`"),
        }));
    }
    parts.add(Part {
        title: "Memory files".to_owned(),
        owner: owner(),
        items,
        total,
        read: files.call.listed("files", "view_memory_file"),
        ..Part::default()
    });
    Ok(())
}

/// Returns the first line that has text, without the `#` of a heading.
fn beginning(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = lines(text).map(|(_, line)| line.trim_start_matches('#').trim());
    lines.find(|line| !line.is_empty()).map(excerpt)
}
