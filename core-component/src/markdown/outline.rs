//! The outline of a document: its top-level blocks.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::open;
use crate::text::{is_blank, line_after, line_start};

/// A document and its top-level blocks, in order.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub source: &'a str,
    pub blocks: Vec<Block>,
}

/// One top-level block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub kind: BlockKind,
    /// The bytes of the block, without white space at its end.
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A heading, ATX or setext, with its plain text.
    Heading {
        level: u8,
        text: String,
    },
    /// A list, with the number of its direct items. A tight list has no blank lines between its
    /// items.
    List {
        items: usize,
        is_tight: bool,
    },
    Fence,
    Html,
    Paragraph,
    Quote,
    IndentedCode,
    Rule,
}

impl<'a> Outline<'a> {
    pub fn parse(source: &'a str) -> Self {
        let base = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut blocks: Vec<Block> = Vec::new();
        let mut depth = 0;
        for (event, range) in Parser::new(&source[base..]).into_offset_iter() {
            let range = base + range.start..base + range.end;
            match event {
                Event::Start(tag) => {
                    if depth == 0 {
                        blocks.push(Block::new(kind(&tag), range, source));
                    } else if let Some(BlockKind::List { items, is_tight }) =
                        blocks.last_mut().map(|block| &mut block.kind)
                    {
                        *items += usize::from(depth == 1 && tag == Tag::Item);
                        // In the items of a tight list, the parser reports no paragraphs.
                        *is_tight &= depth != 2 || tag != Tag::Paragraph;
                    }
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                Event::Rule if depth == 0 => {
                    blocks.push(Block::new(BlockKind::Rule, range, source));
                }
                inline => {
                    let block = blocks.last_mut().map(|block| &mut block.kind);
                    if let Some(BlockKind::Heading { text, .. }) = block.filter(|_| depth > 0) {
                        text.push_str(plain(&inline));
                    }
                }
            }
        }
        Self { source, blocks }
    }

    /// Returns the outline of `with`, which is this document with `length` bytes inserted at `at`.
    /// Requires that a line begins or the document ends at `at`, and that the next block, if any,
    /// is a heading.
    ///
    /// Only the blocks around the insertion are parsed again. CommonMark reads a document line by
    /// line. After a heading, and at a top-level block after a blank line, no earlier block is
    /// open, so the rest is parsed as if the document began there.
    pub fn with_insertion<'b>(&self, with: &'b str, at: usize, length: usize) -> Outline<'b> {
        let head = self.blocks.partition_point(|block| block.range.start < at);
        let next = self.blocks.get(head);
        let independent = |index: &usize| self.begins_independently(&self.blocks[*index]);
        let first = (1..head).rev().find(independent).unwrap_or(0);
        let start = match first {
            0 => 0,
            first => line_start(with, self.blocks[first].range.start),
        };
        let end = next.map_or(with.len(), |next| line_after(with, next.range.end + length));
        // At the beginning of the part, the parser would take U+FEFF for a byte order mark.
        let begins_with_mark = start > 0 && with[start..].starts_with('\u{feff}');
        if begins_with_mark || next.is_some_and(|next| next.level().is_none()) {
            return Outline::parse(with);
        }
        let near = Outline::parse(&with[start..end]).blocks;
        let mut near: Vec<Block> = near.into_iter().map(|block| block.moved(start)).collect();
        // The text of a heading may depend on a link definition outside the part that was parsed.
        for (now, was) in near.iter_mut().zip(&self.blocks[first..head]) {
            now.keep_heading(was);
        }
        if let (Some(now), Some(was)) = (near.last_mut(), next) {
            now.keep_heading(&was.clone().moved(length));
        }
        let far_before = self.blocks[..first].iter().cloned();
        let far_after = self.blocks.iter().skip(head + 1).cloned();
        let far_after = far_after.map(|block| block.moved(length));
        Outline { source: with, blocks: far_before.chain(near).chain(far_after).collect() }
    }

    /// Whether a block is parsed the same whatever precedes it: the block follows a blank line or
    /// is an ATX heading. Otherwise the line before may be a link definition, which is not a block
    /// by itself but could form a paragraph with this block.
    fn begins_independently(&self, block: &Block) -> bool {
        let start = line_start(self.source, block.range.start);
        let before = &self.source[..start];
        let before = before.strip_suffix('\n').unwrap_or(before);
        let before = before.strip_suffix('\r').unwrap_or(before);
        let is_atx = block.level().is_some() && self.text(block).starts_with('#');
        is_atx || is_blank(&before[line_start(before, before.len())..])
    }

    /// Returns the source of a block.
    pub fn text(&self, block: &Block) -> &'a str {
        &self.source[block.range.clone()]
    }

    /// Returns the last block if it is still open at the end of the document: text appended to the
    /// document would become a part of the block.
    pub fn open_at_end(&self) -> Option<&Block> {
        let last = self.blocks.last()?;
        let open = match last.kind {
            BlockKind::Fence => open::is_open_fence(self.text(last), false),
            BlockKind::Html => open::is_open_html(self.text(last)),
            _ => return None,
        };
        // Also asks the parser, which does not always end lines and fences as `open` does.
        let absorbs = || {
            let with = format!("{}\n\nx\n", &self.source[last.range.start..]);
            Outline::parse(&with).blocks.len() == 1
        };
        (open || absorbs()).then_some(last)
    }
}

impl Block {
    fn new(kind: BlockKind, range: Range<usize>, source: &str) -> Self {
        let end = range.start + source[range.clone()].trim_end().len();
        Self { kind, range: range.start..end }
    }

    fn moved(self, by: usize) -> Self {
        Self { range: self.range.start + by..self.range.end + by, ..self }
    }

    /// Whether the block is a list without blank lines between its items.
    pub fn is_tight_list(&self) -> bool {
        matches!(self.kind, BlockKind::List { is_tight: true, .. })
    }

    /// Whether the block is a heading of level 2 with this text.
    pub fn is_section_heading(&self, name: &str) -> bool {
        matches!(&self.kind, BlockKind::Heading { level: 2, text } if text == name)
    }

    /// The level of a heading. `None` for other blocks.
    pub fn level(&self) -> Option<u8> {
        match self.kind {
            BlockKind::Heading { level, .. } => Some(level),
            _ => None,
        }
    }

    /// Takes over the kind and text from `was`, the block in the outline of the whole document, if
    /// both are the same heading.
    fn keep_heading(&mut self, was: &Self) {
        if was.level().is_some() && self.level() == was.level() && self.range == was.range {
            self.kind = was.kind.clone();
        }
    }
}

fn kind(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { level, .. } => {
            BlockKind::Heading { level: *level as u8, text: String::new() }
        }
        Tag::List(_) => BlockKind::List { items: 0, is_tight: true },
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => BlockKind::Fence,
        Tag::CodeBlock(CodeBlockKind::Indented) => BlockKind::IndentedCode,
        Tag::HtmlBlock => BlockKind::Html,
        Tag::BlockQuote(_) => BlockKind::Quote,
        _ => BlockKind::Paragraph,
    }
}

/// Returns the text that an inline event contributes to a heading.
fn plain<'a>(event: &'a Event<'_>) -> &'a str {
    match event {
        Event::Text(text) | Event::Code(text) => text,
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind and range of a block, without the text of a heading, which may contain links.
    fn shape(block: &Block) -> (String, Range<usize>) {
        let kind = match &block.kind {
            BlockKind::Heading { level, .. } => format!("heading {level}"),
            other => format!("{other:?}"),
        };
        (kind, block.range.clone())
    }

    #[test]
    fn parsing_around_an_insertion_gives_the_outline_of_the_whole_document() {
        let parts = [
            "text",
            "- item",
            "1. item",
            "  more",
            "    code",
            "> quote",
            "```",
            "~~~",
            "<div>",
            "</div>",
            "<!--",
            "-->",
            "---",
            "===",
            "***",
            "### deep",
            "[it]: /x",
            "[it]",
            "",
            "",
            "\t",
            "- [it]\n\n  deep",
            "| a |",
            "\u{feff}",
            "# one",
            "<script>",
            "* * *",
        ];
        let headings =
            ["## Two", "  ## Indented", "Two\n---", "   Two\n   ---", "## [it]", "##", "# One"];
        let mut number: u32 = 1;
        let mut pick = |bound: usize| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 8) as usize % bound
        };
        let mut compared = 0;
        for _ in 0..200_000 {
            let mut lines = |count: usize| -> String {
                (0..pick(count)).map(|_| format!("{}\n", parts[pick(parts.len())])).collect()
            };
            let before = lines(6);
            let added = lines(4);
            let after = lines(5);
            let next = [headings[pick(headings.len())], ""][pick(3) / 2];
            let gap = ["", "\n"][pick(2)];
            // Sometimes a lone CR, which the insertion completes to CRLF.
            let before = match (pick(8), before.strip_suffix('\n')) {
                (0, Some(line)) => format!("{line}\r"),
                _ => before,
            };
            let tail = if next.is_empty() { String::new() } else { format!("{next}\n{after}") };
            let source = format!("{before}{tail}");
            let at = before.len();
            let outline = Outline::parse(&source);
            let head = outline.blocks.partition_point(|block| block.range.start < at);
            let is_heading = |block: &Block| matches!(block.kind, BlockKind::Heading { .. });
            // Text is inserted directly before a heading or at the end: other places are refused.
            let ends = outline.blocks[..head].iter().all(|block| block.range.end <= at);
            let is_at = outline.blocks.get(head).is_none_or(|next| {
                is_heading(next) && source[at..next.range.start].trim().is_empty()
            });
            if !ends || !is_at || outline.open_at_end().is_some() {
                continue;
            }
            let added = format!("{}{added}{gap}", ["", "\n"][pick(4).min(1)]);
            let with = format!("{before}{added}{tail}");
            let whole = Outline::parse(&with);
            let near = outline.with_insertion(&with, at, added.len());
            // An insertion that changes the next heading is refused, so the rest is not compared.
            let next = outline.blocks.get(head).map(|next| next.clone().moved(added.len()));
            let survives = |of: &Outline<'_>| {
                next.as_ref().is_none_or(|next| of.blocks.iter().any(|b| shape(b) == shape(next)))
            };
            assert_eq!(survives(&near), survives(&whole), "{source:?} + {added:?}");
            if survives(&whole) {
                compared += 1;
                let shapes = |of: &Outline<'_>| of.blocks.iter().map(shape).collect::<Vec<_>>();
                assert_eq!(shapes(&near), shapes(&whole), "{source:?} at {at} + {added:?}");
            }
        }
        assert!(compared > 20_000, "{compared}");
    }
}
