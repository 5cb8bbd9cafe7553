//! Sections: a section is a heading of level 2 with the blocks below it.

use std::ops::Range;

use super::outline::{BlockKind, Outline};
use crate::text::{line_after, line_start};

/// A heading of level 2 and its body.
pub(crate) struct Section {
    pub name: String,
    /// The lines of the heading, including their line endings.
    pub heading: Range<usize>,
    /// The section: from its heading to the next heading of level 1 or 2, or to the end of the
    /// document.
    pub range: Range<usize>,
}

impl Section {
    /// Returns the sections of a document, in order.
    pub fn all(outline: &Outline<'_>) -> Vec<Self> {
        let source = outline.source;
        let mut sections: Vec<Self> = Vec::new();
        let mut open = false;
        for block in &outline.blocks {
            let BlockKind::Heading { level: level @ (1 | 2), text } = &block.kind else {
                continue;
            };
            let start = line_start(source, block.range.start);
            if let Some(last) = sections.last_mut().filter(|_| open) {
                last.range.end = start;
            }
            open = *level == 2;
            if open {
                let heading = start..line_after(source, block.range.end);
                let name = text.trim().to_owned();
                sections.push(Self { name, heading, range: start..source.len() });
            }
        }
        sections
    }

    /// The range of the lines below the heading.
    pub fn body(&self) -> Range<usize> {
        self.heading.end..self.range.end
    }
}

/// Returns the end of the last line in a range that is not blank, including its line ending.
/// Returns the start of the range if all lines are blank.
pub(crate) fn content_end(source: &str, range: &Range<usize>) -> usize {
    let text = &source[range.clone()];
    match text.trim_end_matches([' ', '\t', '\n', '\r']).len() {
        0 => range.start,
        length => line_after(&source[..range.end], range.start + length),
    }
}

/// Whether Markdown reads `## name` as a heading with exactly this text.
pub(crate) fn is_heading_text(name: &str) -> bool {
    let heading = format!("## {name}");
    matches!(&Outline::parse(&heading).blocks[..], [block] if block.is_section_heading(name))
}
