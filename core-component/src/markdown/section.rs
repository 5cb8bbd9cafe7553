//! Sections: what stands under the headings of level 2.

use std::ops::Range;

use super::{Block, BlockKind, Outline};
use crate::text::{is_blank, lines};

/// A heading of level 2 with what stands under it.
pub(crate) struct Section {
    pub name: String,
    /// The lines of the heading, with their ends.
    pub heading: Range<usize>,
    /// From the heading to the next heading of level 1 or 2, or to the end.
    pub range: Range<usize>,
}

impl Section {
    /// The sections of a document, in order.
    pub fn all(outline: &Outline<'_>) -> Vec<Self> {
        let source = outline.source;
        let line_start = |at: usize| source[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let mut sections: Vec<Self> = Vec::new();
        let mut open = false;
        for block in &outline.blocks {
            let BlockKind::Heading { level: level @ (1 | 2), text } = &block.kind else {
                continue;
            };
            let start = line_start(block.range.start);
            if let Some(last) = sections.last_mut().filter(|_| open) {
                last.range.end = start;
            }
            open = *level == 2;
            if open {
                let heading = start..line_end(source, block.range.end);
                let name = text.trim().to_owned();
                sections.push(Self { name, heading, range: start..source.len() });
            }
        }
        sections
    }

    /// What stands under the heading.
    pub fn body(&self) -> Range<usize> {
        self.heading.end..self.range.end
    }
}

/// The end of the line that `at` stands on, with its line end.
fn line_end(source: &str, at: usize) -> usize {
    let mut following = lines(&source[at..]).map(|(start, _)| at + start).skip(1);
    following.next().unwrap_or(source.len())
}

/// The end of the last line of a range that is not blank, with its line end.
pub(crate) fn content_end(source: &str, range: &Range<usize>) -> usize {
    let text = &source[range.clone()];
    let mut starts = lines(text).map(|(at, _)| at).skip(1).chain([text.len()]);
    let ends = lines(text).zip(starts.by_ref());
    let last = ends.filter(|((_, line), _)| !is_blank(line)).last();
    range.start + last.map_or(0, |(_, end)| end)
}

/// Whether `## name` is read as a heading of that very text.
pub(crate) fn is_heading_text(name: &str) -> bool {
    let heading = format!("## {name}");
    let blocks = Outline::of(&heading).blocks;
    let is_read = |block: &Block| matches!(&block.kind, BlockKind::Heading { level: 2, text } if text == name);
    blocks.len() == 1 && blocks.iter().all(is_read)
}
