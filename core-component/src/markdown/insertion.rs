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
    let Insertion { before, after, added, .. } = insertion;
    let split = before.blocks.partition_point(|block| block.range.start < added.start);
    let (head, tail) = before.blocks.split_at(split);
    let blocks: Vec<Seen<'_>> = after.blocks.iter().map(|block| Seen::of(after, block)).collect();

    let joins = insertion.joins(head.last());
    let mut expected: Vec<Seen<'_>> = head.iter().map(|block| Seen::of(before, block)).collect();
    let heading = insertion.heading.map(|text| Seen {
        kind: BlockKind::Heading { level: 2, text: text.to_owned() },
        source: blocks.get(split).map_or("", |seen| seen.source),
    });
    expected.extend(heading);
    let mut own = insertion.entry.outline.blocks.iter();
    if let (Some(items), Some(joined)) = (joins, blocks.get(split.wrapping_sub(1))) {
        let list = expected.pop().expect("an entry joins the block before it");
        let kind = BlockKind::List { items };
        let grows = joined.source.starts_with(list.source);
        expected.push(Seen { kind, source: if grows { joined.source } else { list.source } });
        own.next();
    }
    expected.extend(own.map(|block| Seen::of(&insertion.entry.outline, block)));
    let own_end = expected.len();
    expected.extend(tail.iter().map(|block| Seen::of(before, block)));

    if blocks == expected {
        return None;
    }
    let kept = blocks.iter().zip(&expected).take_while(|(seen, wanted)| seen == wanted).count();
    if kept < split || (kept == split && kept < own_end) {
        return Some(Offence::new(
            1,
            "would become a part of the block before it: begin with a line that is not indented",
        ));
    }
    let last = insertion.entry.outline.source.lines().count();
    Some(Offence::new(
        last,
        "ends in a block that would take in what follows: end with a paragraph that is not \
         indented",
    ))
}

impl Insertion<'_> {
    /// How many items the list before the insertion has in the end, where the entry joins it.
    fn joins(&self, last: Option<&Block>) -> Option<usize> {
        let (BlockKind::List { items }, None) = (&last?.kind, self.heading) else {
            return None;
        };
        let BlockKind::List { items: own } = &self.entry.outline.blocks.first()?.kind else {
            return None;
        };
        let reaches = |block: &Block| {
            block.range.start == last.map_or(0, |last| last.range.start)
                && block.range.end > self.added.start
        };
        self.after.blocks.iter().any(reaches).then_some(items + own)
    }
}

/// A block as the comparison sees it.
#[derive(PartialEq)]
struct Seen<'a> {
    kind: BlockKind,
    source: &'a str,
}

impl<'a> Seen<'a> {
    fn of(outline: &Outline<'a>, block: &Block) -> Self {
        Self { kind: block.kind.clone(), source: outline.text(block) }
    }
}
