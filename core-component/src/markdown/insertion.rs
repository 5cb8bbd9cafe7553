//! Whether a document keeps its structure when text is put into it.

use std::ops::Range;

use super::{Block, BlockKind, Entry, Offence, Outline};

/// Text that was put into a document.
pub(crate) struct Insertion<'a> {
    /// The document without it and with it.
    pub before: &'a Outline<'a>,
    pub after: &'a Outline<'a>,
    /// Where all that was added stands in `after`.
    pub added: Range<usize>,
    /// The heading that was added above the entry.
    pub heading: Option<&'a str>,
    pub entry: &'a Entry<'a>,
}

/// What the insertion does to the document beyond adding the blocks of the entry: none where every
/// block before and after it is the same, in kind and source, as it was. A list may gain the items
/// of an entry that begins with a list.
pub(crate) fn disturbance(insertion: &Insertion<'_>) -> Option<Offence> {
    let Insertion { before, after, entry, .. } = insertion;
    let head = before.blocks.partition_point(|block| block.range.start < insertion.added.start);
    let tail = before.blocks.len() - head;
    let joined = usize::from(insertion.joins(head));
    let own = &entry.outline.blocks[joined..];
    let heading = usize::from(insertion.heading.is_some());

    let is_same =
        |(was, is): (&Block, &Block)| before.text(was) == after.text(is) && was.kind == is.kind;
    let is_own = |(own, is): (&Block, &Block)| {
        entry.outline.text(own) == after.text(is) && own.kind == is.kind
    };
    let kept = head - joined;
    let begins_apart = after.blocks.len() >= head + heading
        && before.blocks[..kept].iter().zip(&after.blocks).all(is_same)
        && after.blocks[head..].iter().take(heading).all(|block| insertion.is_heading(block))
        && own.iter().zip(&after.blocks[head + heading..]).take(1).all(is_own);
    if !begins_apart {
        return Some(Offence::new(
            1,
            "would become a part of the block before it: begin with a line that is not indented",
        ));
    }
    let added = &after.blocks[head + heading..];
    let ends_apart = added.len() == own.len() + tail
        && own.iter().zip(added).all(is_own)
        && before.blocks[head..].iter().zip(&added[own.len()..]).all(is_same);
    if !ends_apart {
        return Some(Offence::new(
            entry.outline.source.lines().count(),
            "ends in a block that would take in what follows: end with a paragraph that is not \
             indented",
        ));
    }
    None
}

impl Insertion<'_> {
    /// Whether the entry begins with a list that has become a part of the list before it: the one
    /// that `head` blocks end with. That list is then as it was, with the entry's items after it.
    fn joins(&self, head: usize) -> bool {
        let (Some(was), Some(is), Some(own)) = (
            self.before.blocks[..head].last(),
            self.after.blocks[..head.min(self.after.blocks.len())].last(),
            self.entry.outline.blocks.first(),
        ) else {
            return false;
        };
        let (
            BlockKind::List { items: before },
            BlockKind::List { items: after },
            BlockKind::List { items: added },
        ) = (&was.kind, &is.kind, &own.kind)
        else {
            return false;
        };
        let (was, is) = (self.before.text(was), self.after.text(is));
        self.heading.is_none()
            && *after == before + added
            && is.starts_with(was)
            && is.ends_with(self.entry.outline.text(own))
    }

    fn is_heading(&self, block: &Block) -> bool {
        matches!(&block.kind, BlockKind::Heading { level: 2, text } if Some(&**text) == self.heading)
    }
}
