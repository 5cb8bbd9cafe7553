//! Divides a list into its items, for a search.

use pulldown_cmark::{Event, Parser, Tag};

use super::outline::{Block, BlockKind, Outline};

/// Returns the text of each item of a list. Returns the whole text of a block that is not a list.
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
    fn the_items_of_a_list_are_those_of_its_first_level() {
        let outline = Outline::parse("- one\n  - deep\n\n  more\n- two\n\ntext");
        assert_eq!(items(&outline, &outline.blocks[0]), ["- one\n  - deep\n\n  more", "- two"]);
        assert_eq!(items(&outline, &outline.blocks[1]), ["text"]);
    }
}
