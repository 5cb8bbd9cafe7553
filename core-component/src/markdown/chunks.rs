//! Parts of a document, for a search.

use pulldown_cmark::{Event, Parser, Tag};

use super::outline::{Block, BlockKind, Outline};

/// The parts of a document that are at most so many bytes long, or else one block: as many blocks each
/// as fit. Text that is no block, such as the targets of links, belongs to the part before. A short
/// document is one part.
pub(crate) fn chunks(text: &str, most: usize) -> Vec<&str> {
    if text.len() <= most {
        return vec![text.trim()];
    }
    let outline = Outline::of(text);
    let mut chunks = Vec::new();
    let mut start = 0;
    for block in &outline.blocks {
        let before = text[start..block.range.start].trim();
        if block.range.end - start > most && !before.is_empty() {
            chunks.push(before);
            start = block.range.start;
        }
    }
    chunks.push(text[start..].trim());
    chunks
}

/// The items of a list, or the block itself if it is none.
pub(crate) fn items<'a>(outline: &Outline<'a>, block: &Block) -> Vec<&'a str> {
    let text = outline.text(block);
    if !matches!(block.kind, BlockKind::List { .. }) {
        return vec![text];
    }
    let mut items = Vec::new();
    let mut depth = 0;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 1 && tag == Tag::Item {
                    items.push(text[range].trim());
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_cut_between_blocks() {
        let text = "one\n\ntwo\n\n- a\n- b\n\nthree\n";
        assert_eq!(chunks(text, 100), ["one\n\ntwo\n\n- a\n- b\n\nthree"]);
        assert_eq!(chunks(text, 9), ["one\n\ntwo", "- a\n- b", "three"]);
        assert_eq!(chunks("", 9), [""]);
        assert_eq!(chunks("[a]: /x\n[b]: /y\n", 9), ["[a]: /x\n[b]: /y"]);
        assert_eq!(chunks("[a]: /x\n\none\n\n[b]: /y\n", 9), ["[a]: /x", "one\n\n[b]: /y"]);
    }

    #[test]
    fn the_items_of_a_list_are_those_of_its_first_level() {
        let outline = Outline::of("- one\n  - deep\n\n  more\n- two\n\ntext");
        assert_eq!(items(&outline, &outline.blocks[0]), ["- one\n  - deep\n\n  more", "- two"]);
        assert_eq!(items(&outline, &outline.blocks[1]), ["text"]);
    }
}
