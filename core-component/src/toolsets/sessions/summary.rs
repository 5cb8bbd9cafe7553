//! The summary of an agent: lasting knowledge, in sections of the users' own choice.

use std::ops::Range;

use super::content::without_blank_ends;
use super::finding::Finding;
use crate::markdown::{
    Block, BlockKind, ContentError, Outline, Section, content_end, insert, is_heading_text,
};
use crate::text::{is_blank, line_of, lines, normalise, normalise_line_ends};
use crate::words::likeness_key;

/// The text of a new summary.
pub(super) const TEMPLATE: &str = "\
# Agent Summary

## Overview

## Key Knowledge

## Active Decisions

## Important Patterns
";

/// A parsed summary.
pub(super) struct Summary<'a> {
    outline: Outline<'a>,
    sections: Vec<Section>,
}

/// Why a summary was not changed.
pub(super) enum EditError {
    /// The new content would change the structure.
    Content(ContentError),
    /// The document has a block that is not closed.
    Document(Finding),
}

impl From<ContentError> for EditError {
    fn from(error: ContentError) -> Self {
        Self::Content(error)
    }
}

impl<'a> Summary<'a> {
    pub fn parse(text: &'a str) -> Self {
        let outline = Outline::parse(text);
        let sections = Section::all(&outline);
        Self { outline, sections }
    }

    /// The lines of all sections with this name.
    pub fn lines_of(&self, name: &str) -> Vec<usize> {
        let named = self.sections.iter().filter(|section| section.name == name);
        named.map(|section| line_of(self.outline.source, section.range.start)).collect()
    }

    /// The name of an existing section that differs only in case, spaces, accents, punctuation or
    /// numbering.
    pub fn near(&self, name: &str) -> Option<&str> {
        let key = likeness_key(name);
        self.names().find(|near| likeness_key(near) == key)
    }

    /// The names of the sections, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|section| section.name.as_str())
    }

    /// The text of a section below its heading. `None` if there is no such section.
    pub fn body(&self, name: &str) -> Option<&str> {
        self.section(name).map(|section| &self.outline.source[section.body()])
    }

    /// Whether the section exists and has nothing but blank lines below its heading.
    pub fn is_empty(&self, name: &str) -> bool {
        self.body(name).is_some_and(|body| lines(body).all(|(_, line)| is_blank(line)))
    }

    /// Whether a new section can have this name. If the heading is added at the end, Markdown has
    /// to read it as exactly this text. Link definitions in the summary can turn a part of the name
    /// into a link.
    pub fn accepts_section(&self, name: &str) -> bool {
        let is_plain = !name.contains(['\t', '\n']) && normalise(name).as_deref() == Ok(name);
        is_plain
            && name.trim() == name
            && is_heading_text(name)
            && (!name.contains('[') || self.reads_as_text(name))
    }

    fn reads_as_text(&self, name: &str) -> bool {
        let with = format!("{}\n\n## {name}", self.outline.source);
        let last = Section::all(&Outline::parse(&with)).pop();
        self.outline.open_at_end().is_some() || last.is_some_and(|last| last.name == name)
    }

    /// Returns the errors that prevent a change: a section that appears twice, or a block that is
    /// open at the end.
    pub fn findings(&self) -> Vec<Finding> {
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        let twice = names.chunk_by(|a, b| a == b).filter(|group| group.len() > 1);
        let twice = twice.take(MAX_FINDINGS).map(|group| {
            let lines = self.lines_of(group[0]);
            let what = format!(
                "section `{}` appears a second time (first in line {}): rename or merge one of \
                 them",
                group[0], lines[0]
            );
            Finding { line: lines[1], what }
        });
        let mut findings: Vec<_> = twice.chain(self.open_block(&self.outline)).collect();
        findings.sort_by_key(|finding| finding.line);
        findings
    }

    /// Returns the document with a text appended to a section. A missing section is added at the
    /// end of the document. Nothing else changes.
    ///
    /// # Errors
    ///
    /// If the text would change the structure of the document, or if a block of the document is not
    /// closed.
    pub fn append(&self, section: &str, text: &str) -> Result<String, EditError> {
        self.check_closed(&self.outline)?;
        let source = self.outline.source;
        let (range, heading) = match self.section(section) {
            Some(found) => (found.range.clone(), None),
            None => (0..source.len(), Some(section)),
        };
        Ok(insert(&self.outline, content_end(source, &range), heading, text, |_| Ok(()))?)
    }

    /// Returns the document with another body of a section. An empty text clears the section. A
    /// missing section is added at the end of the document. Nothing else changes.
    ///
    /// # Errors
    ///
    /// If the text would change the structure of the document, or if a block of the document is not
    /// closed.
    pub fn replace(&self, section: &str, text: &str) -> Result<String, EditError> {
        let Some(found) = self.section(section) else {
            return self.append(section, text);
        };
        let source = self.outline.source;
        let body = found.body();
        let gap = if body.end < source.len() { "\n" } else { "" };
        let cleared = [&source[..body.start], gap, &source[body.end..]].concat();
        let outline = Outline::parse(&cleared);
        self.check_cleared(&body, &outline)?;
        if outline.open_at_end().is_some() {
            // The block was open before this change. The error has its line in the stored document.
            self.check_closed(&self.outline)?;
        }
        if text.is_empty() {
            return Ok(cleared);
        }
        Ok(insert(&outline, body.start, None, text, |_| Ok(()))?)
    }

    /// Returns the document with an edited body of a section. The line ends and blank lines of
    /// `body` are kept, unless Markdown would read other blocks because of them.
    ///
    /// # Errors
    ///
    /// If the body would change the structure of the document, or if a block of the document is not
    /// closed.
    pub fn replace_body(&self, section: &str, body: &str) -> Result<String, EditError> {
        let checked = self.replace(section, without_blank_ends(body))?;
        let Some(found) = self.section(section) else { return Ok(checked) };
        if lines(body).all(|(_, line)| is_blank(line)) {
            return Ok(checked);
        }
        let source = self.outline.source;
        let old = found.body();
        let exact = [&source[..old.start], body, &source[old.end..]].concat();
        let is_same = blocks_of(&exact) == blocks_of(&checked);
        Ok(if is_same { exact } else { checked })
    }

    /// Returns the document without an empty section and the blank lines below it. These blank
    /// lines stay if a line of text is directly above the section. At the end of the document, one
    /// blank line above goes, too. `None` if there is no such section, or if Markdown would read
    /// other parts differently.
    ///
    /// # Errors
    ///
    /// If a block of the document is not closed.
    pub fn remove(&self, section: &str) -> Result<Option<String>, EditError> {
        self.check_closed(&self.outline)?;
        let source = self.outline.source;
        let Some(found) = self.section(section) else { return Ok(None) };
        let start = found.range.start;
        let end = found.range.end;
        let (head, tail) = match lines(&source[..start]).last() {
            Some((_, line)) if !is_blank(line) => (start, found.heading.end),
            Some((at, _)) if end == source.len() => (at, end),
            _ => (start, end),
        };
        let removed = [&source[..head], &source[tail..]].concat();
        let is_same = self.check_cleared(&found.range, &Outline::parse(&removed)).is_ok();
        Ok(is_same.then_some(removed))
    }

    fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Checks that all blocks outside of `body` are the same in `cleared`, the document without
    /// that body. A block changes if the body defines a link that a heading uses.
    fn check_cleared(&self, body: &Range<usize>, cleared: &Outline<'_>) -> Result<(), EditError> {
        let outside = |block: &&Block| !body.contains(&block.range.start);
        let mut others = self.outline.blocks.iter().filter(outside);
        let is_same = |is: &Block| {
            let was = others.next();
            was.is_some_and(|was| was.kind == is.kind && self.outline.text(was) == cleared.text(is))
        };
        if cleared.blocks.iter().all(is_same) && others.next().is_none() {
            return Ok(());
        }
        let what = "cannot replace the section: without its old text, Markdown would read other \
                    parts of the summary differently, such as links that it defines";
        Err(EditError::Content(ContentError::new(1, what)))
    }

    fn check_closed(&self, outline: &Outline<'_>) -> Result<(), EditError> {
        self.open_block(outline).map_or(Ok(()), |finding| Err(EditError::Document(finding)))
    }

    fn open_block(&self, outline: &Outline<'_>) -> Option<Finding> {
        outline.open_at_end().map(|open| Finding {
            line: line_of(outline.source, open.range.start),
            what: "a fence, comment or HTML block that begins here is not closed".into(),
        })
    }
}

/// The blocks of a document, with line feeds as line ends.
fn blocks_of(text: &str) -> Vec<(BlockKind, String)> {
    let outline = Outline::parse(text);
    let blocks = outline.blocks.iter();
    blocks.map(|block| (block.kind.clone(), normalise_line_ends(outline.text(block)))).collect()
}

/// The most sections that are reported because they appear twice.
const MAX_FINDINGS: usize = 20;
