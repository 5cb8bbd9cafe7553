//! The outline of a document: its top-level blocks.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::open;

/// A document and its top-level blocks, in order.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub source: &'a str,
    pub blocks: Vec<Block>,
}

/// One top-level block.
#[derive(Debug)]
pub(crate) struct Block {
    pub kind: BlockKind,
    /// Where it stands, without white space at its end.
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// The plain text of a heading, ATX or setext.
    Heading {
        level: u8,
        text: String,
    },
    /// The number of direct items.
    List {
        items: usize,
    },
    Fence,
    Html,
    Paragraph,
    Quote,
    IndentedCode,
    Rule,
}

impl<'a> Outline<'a> {
    pub fn of(source: &'a str) -> Self {
        let base = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut blocks: Vec<Block> = Vec::new();
        let mut depth = 0;
        for (event, range) in Parser::new(&source[base..]).into_offset_iter() {
            let range = base + range.start..base + range.end;
            match event {
                Event::Start(tag) => {
                    if depth == 0 {
                        blocks.push(Block::new(kind(&tag), range, source));
                    } else if let (1, Tag::Item, Some(BlockKind::List { items })) =
                        (depth, &tag, blocks.last_mut().map(|block| &mut block.kind))
                    {
                        *items += 1;
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

    /// The source of a block.
    pub fn text(&self, block: &Block) -> &'a str {
        &self.source[block.range.clone()]
    }

    /// The block that is still open at the end of the document, so that whatever is added there
    /// would become a part of it.
    pub fn open_at_end(&self) -> Option<&Block> {
        let last = self.blocks.last()?;
        let open = match last.kind {
            BlockKind::Fence => open::is_open_fence(self.text(last), false),
            BlockKind::Html => open::is_open_html(self.text(last)),
            _ => false,
        };
        open.then_some(last)
    }
}

impl Block {
    fn new(kind: BlockKind, range: Range<usize>, source: &str) -> Self {
        let end = range.start + source[range.clone()].trim_end().len();
        Self { kind, range: range.start..end }
    }
}

fn kind(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { level, .. } => {
            BlockKind::Heading { level: *level as u8, text: String::new() }
        }
        Tag::List(_) => BlockKind::List { items: 0 },
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => BlockKind::Fence,
        Tag::CodeBlock(CodeBlockKind::Indented) => BlockKind::IndentedCode,
        Tag::HtmlBlock => BlockKind::Html,
        Tag::BlockQuote(_) => BlockKind::Quote,
        _ => BlockKind::Paragraph,
    }
}

/// What an inline event adds to the plain text.
fn plain<'a>(event: &'a Event<'_>) -> &'a str {
    match event {
        Event::Text(text) | Event::Code(text) => text,
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    }
}
