//! Inserts text into a document without changing the document's structure.

use std::ops::Range;

use super::entry::{ContentError, Entry};
use super::outline::{Block, BlockKind, Outline};
use crate::text::{is_blank, lines};

/// Inserts a text at offset `at`, the beginning or end of a line, with a blank line before and
/// after it. If a tight list precedes and the text begins with a tight list, the items are appended
/// to the list without a blank line. If `heading` is given, it is added above the text as a heading
/// of level 2. All blocks and bytes of the document stay as they were.
///
/// `check` accepts or refuses the outline of the resulting document.
///
/// # Errors
///
/// What in the text would change the structure of the document, or the error of `check`.
pub(crate) fn insert(
    before: &Outline<'_>,
    at: usize,
    heading: Option<&str>,
    text: &str,
    check: impl FnOnce(Outline<'_>) -> Result<(), ContentError>,
) -> Result<String, ContentError> {
    let entry = Entry::parse(text)?;
    let source = before.source;
    if let Some(error) = entry.conflicting_definition(source) {
        return Err(error);
    }
    let with = |is_apart: bool| {
        let added = with_blank_lines(&source[..at], heading, text, &source[at..], is_apart);
        [&source[..at], &added, &source[at..]].concat()
    };
    let place = Place { before, at, heading, entry: &entry };
    if place.may_join_tightly() {
        let with = with(false);
        if let Ok(after) = place.check(&with)
            && place.joins_tightly(&after)
        {
            check(after)?;
            return Ok(with);
        }
    }
    let with = with(true);
    check(place.check(&with)?)?;
    Ok(with)
}

/// An insertion and where it goes.
struct Place<'a> {
    before: &'a Outline<'a>,
    at: usize,
    heading: Option<&'a str>,
    entry: &'a Entry<'a>,
}

impl Place<'_> {
    /// The block of the outline `of` just before the insertion, if it is a tight list.
    fn tight_list<'b>(&self, of: &'b Outline<'_>) -> Option<&'b Block> {
        let preceding = self.before.blocks.partition_point(|block| block.range.start < self.at);
        of.blocks[..preceding].last().filter(|block| block.is_tight_list())
    }

    fn may_join_tightly(&self) -> bool {
        // A link definition is not in `blocks`. Without a blank line before it, the definition would
        // become text of the list's last item.
        let source = self.entry.outline.source;
        let begins = |first: &&Block| source[..first.range.start].trim().is_empty();
        let first = self.entry.outline.blocks.first().filter(begins);
        self.heading.is_none()
            && self.tight_list(self.before).is_some()
            && first.is_some_and(Block::is_tight_list)
    }

    /// Whether the items of the entry were appended to the list before the insertion, and that list
    /// is still tight.
    fn joins_tightly(&self, after: &Outline<'_>) -> bool {
        let lists = self.tight_list(self.before).zip(self.tight_list(after));
        lists.is_some_and(|(was, is)| was.kind != is.kind)
    }

    /// Returns the outline of `with`, which is the document with the insertion.
    ///
    /// # Errors
    ///
    /// What in the inserted text changes the structure of the document.
    fn check<'b>(&self, with: &'b str) -> Result<Outline<'b>, ContentError> {
        let Self { before, at, heading, entry } = *self;
        let length = with.len() - before.source.len();
        let after = before.with_insertion(with, at, length);
        let added = at..at + length;
        let insertion = Insertion { before, after: &after, added, heading, entry };
        structure_error(&insertion).map_or(Ok(after), Err)
    }
}

/// Returns the bytes to insert between two parts of a document: the heading and the text, with blank
/// lines around both. If `is_apart` is false, there is no blank line before them.
fn with_blank_lines(
    before: &str,
    heading: Option<&str>,
    text: &str,
    after: &str,
    is_apart: bool,
) -> String {
    let mut added = String::new();
    // If the line ends in a lone CR, this LF makes it a CRLF.
    if !before.is_empty() && !before.ends_with('\n') {
        added.push('\n');
    }
    if is_apart {
        added.push('\n');
    }
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

/// A document before and after an insertion.
struct Insertion<'a> {
    before: &'a Outline<'a>,
    after: &'a Outline<'a>,
    /// The range of the inserted bytes in `after`.
    added: Range<usize>,
    /// The heading that was added above the entry.
    heading: Option<&'a str>,
    entry: &'a Entry<'a>,
}

/// Returns how the insertion changes the other blocks of the document. `None` if each block keeps
/// its kind and its source. One change is allowed: the list before the entry may gain the items of
/// the list that the entry begins with.
fn structure_error(insertion: &Insertion<'_>) -> Option<ContentError> {
    let Insertion { before, after, entry, .. } = insertion;
    // The numbers of blocks before and after the insertion, and of headings added by it.
    let at = insertion.added.start;
    let preceding = before.blocks.partition_point(|block| block.range.start < at);
    let following = before.blocks.len() - preceding;
    let headings = usize::from(insertion.heading.is_some());
    // 1 if the entry's first list was appended to the list before it, and so is not a separate block.
    // Otherwise 0.
    let joined = usize::from(insertion.joins(preceding));
    let own = &entry.outline.blocks[joined..];

    let is_same = |(was, is): (&Block, &Block)| {
        was.kind == is.kind && (insertion.is_unmoved(was, is) || before.text(was) == after.text(is))
    };
    let is_heading = |(block, name): (&Block, &str)| block.is_section_heading(name);
    let is_own = |(own, is): (&Block, &Block)| {
        entry.outline.text(own) == after.text(is) && own.kind == is.kind
    };
    let begins_apart = after.blocks.len() >= preceding + headings
        && before.blocks[..preceding - joined].iter().zip(&after.blocks).all(is_same)
        && after.blocks[preceding..].iter().zip(insertion.heading).all(is_heading)
        && own.iter().zip(&after.blocks[preceding + headings..]).take(1).all(is_own);
    if !begins_apart {
        return Some(ContentError::new(
            1,
            "would become a part of the block before it: begin with a line that is not indented",
        ));
    }
    let added = &after.blocks[preceding + headings..];
    let ends_apart = added.len() == own.len() + following
        && own.iter().zip(added).all(is_own)
        && before.blocks[preceding..].iter().zip(&added[own.len()..]).all(is_same);
    if !ends_apart {
        return Some(ContentError::new(
            entry.outline.source.lines().count(),
            "ends in a block that would include the text after it: end with a paragraph that is \
             not indented",
        ));
    }
    None
}

impl Insertion<'_> {
    /// Whether a block is where it was; for a block after the insertion, shifted by the length of
    /// the insertion. The text of an unmoved block is the same and need not be compared.
    fn is_unmoved(&self, was: &Block, is: &Block) -> bool {
        let Range { start, end } = was.range;
        let at = self.added.start;
        let shift = if end <= at { 0 } else { self.added.len() };
        (end <= at || start >= at) && is.range == (start + shift..end + shift)
    }

    /// Whether the entry begins with a list whose items were appended to the list before it, the
    /// last of the `preceding` blocks. The old items of that list must be unchanged.
    fn joins(&self, preceding: usize) -> bool {
        let (Some(was), Some(is), Some(own)) = (
            self.before.blocks[..preceding].last(),
            self.after.blocks[..preceding.min(self.after.blocks.len())].last(),
            self.entry.outline.blocks.first(),
        ) else {
            return false;
        };
        let (
            BlockKind::List { items: before, .. },
            BlockKind::List { items: after, .. },
            BlockKind::List { items: added, .. },
        ) = (&was.kind, &is.kind, &own.kind)
        else {
            return false;
        };
        let was = self.before.text(was);
        let is = self.after.text(is);
        self.heading.is_none()
            && *after == before + added
            && is.starts_with(was)
            && is.ends_with(self.entry.outline.text(own))
    }
}
