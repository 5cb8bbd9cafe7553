//! Putting text into a document so that the document keeps its structure.

use std::ops::Range;

use super::{Block, BlockKind, Entry, Offence, Outline};
use crate::text::{is_blank, lines};

/// The document with a text at `at`, the beginning or end of a line, under a heading of level 2
/// of its own where one is given; a blank line on both sides of each. Every block that was in the
/// document is in it as it was, and all of its bytes are.
///
/// `sound` has the last word about the new outline.
///
/// # Errors
///
/// What in the text would change the structure of the document.
pub(crate) fn insert(
    before: &Outline<'_>,
    at: usize,
    heading: Option<&str>,
    text: &str,
    sound: impl FnOnce(Outline<'_>) -> Result<(), Offence>,
) -> Result<String, Offence> {
    let entry = Entry::of(text)?;
    let source = before.source;
    if let Some(offence) = entry.meddling_definition(source) {
        return Err(offence);
    }
    let added = separated(&source[..at], heading, text, &source[at..]);
    let with = [&source[..at], &added, &source[at..]].concat();
    let after = before.after_insertion(&with, at, added.len());
    let added = at..at + added.len();
    let insertion = Insertion { before, after: &after, added, heading, entry: &entry };
    if let Some(offence) = disturbance(&insertion) {
        return Err(offence);
    }
    sound(after)?;
    Ok(with)
}

/// What is inserted between two parts of a document: the text and its heading, each with a blank
/// line on both sides.
fn separated(before: &str, heading: Option<&str>, text: &str, after: &str) -> String {
    let mut added = String::new();
    // A line that ends in CR alone gets the LF that makes it a CRLF.
    if !before.is_empty() && !before.ends_with('\n') {
        added.push('\n');
    }
    added.push('\n');
    if let Some(heading) = heading {
        added += &format!("## {heading}\n");
        if !text.is_empty() {
            added.push('\n');
        }
    }
    if !text.is_empty() {
        added += text;
        added.push('\n');
    }
    if lines(after).next().is_some_and(|(_, line)| !is_blank(line)) {
        added.push('\n');
    }
    added
}

/// Text that was put into a document.
struct Insertion<'a> {
    /// The document without it and with it.
    before: &'a Outline<'a>,
    after: &'a Outline<'a>,
    /// Where all that was added stands in `after`.
    added: Range<usize>,
    /// The heading that was added above the entry.
    heading: Option<&'a str>,
    entry: &'a Entry<'a>,
}

/// What the insertion does to the document beyond adding the blocks of the entry: none where every
/// block before and after it is the same, in kind and source, as it was. A list may gain the items
/// of an entry that begins with a list.
fn disturbance(insertion: &Insertion<'_>) -> Option<Offence> {
    let Insertion { before, after, entry, .. } = insertion;
    let head = before.blocks.partition_point(|block| block.range.start < insertion.added.start);
    let tail = before.blocks.len() - head;
    let joined = usize::from(insertion.joins(head));
    let own = &entry.outline.blocks[joined..];
    let heading = usize::from(insertion.heading.is_some());

    let is_same = |(was, is): (&Block, &Block)| {
        was.kind == is.kind && (insertion.leaves(was, is) || before.text(was) == after.text(is))
    };
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
    /// Whether a block stands where it stood, or so much further on as was added before it: its
    /// text is the same then, and a long document need not be compared.
    fn leaves(&self, was: &Block, is: &Block) -> bool {
        let Range { start, end } = was.range;
        let at = self.added.start;
        match () {
            () if end <= at => is.range == was.range,
            () if start >= at => is.range == (start + self.added.len()..end + self.added.len()),
            () => false,
        }
    }

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
