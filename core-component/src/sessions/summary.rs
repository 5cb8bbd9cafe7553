//! The summary: what an agent and its people want to last, in sections of their own choice.

use std::ops::Range;

use super::finding::Finding;
use crate::markdown::{Block, Offence, Outline, Section, content_end, insert, is_heading_text};
use crate::text::{line_of, normalise};

/// What a summary holds before anyone has written to it.
pub(super) const TEMPLATE: &str = "\
# Agent Summary

## Overview

## Key Knowledge

## Active Decisions

## Important Patterns
";

/// A summary, read.
pub(super) struct Summary<'a> {
    outline: Outline<'a>,
    sections: Vec<Section>,
}

/// Why a summary was not changed.
pub(super) enum Unchanged {
    /// What in the content is to blame.
    Content(Offence),
    /// What in the document is to blame.
    Document(Finding),
}

impl From<Offence> for Unchanged {
    fn from(offence: Offence) -> Self {
        Self::Content(offence)
    }
}

impl<'a> Summary<'a> {
    pub fn of(text: &'a str) -> Self {
        let outline = Outline::of(text);
        let sections = Section::all(&outline);
        Self { outline, sections }
    }

    /// The lines of the sections of that name.
    pub fn lines_of(&self, name: &str) -> Vec<usize> {
        let named = self.sections.iter().filter(|section| section.name == name);
        named.map(|section| line_of(self.outline.source, section.range.start)).collect()
    }

    /// Whether a heading of that name, added at the end, is read as that very text: plain words on
    /// one line, which no link definition of the summary gives a meaning.
    pub fn can_have(&self, name: &str) -> bool {
        let is_plain = !name.contains(['\t', '\n']) && normalise(name).as_deref() == Ok(name);
        is_plain && is_heading_text(name) && (!name.contains('[') || self.takes_as_text(name))
    }

    fn takes_as_text(&self, name: &str) -> bool {
        let with = format!("{}\n\n## {name}", self.outline.source);
        let last = Section::all(&Outline::of(&with)).pop();
        self.outline.open_at_end().is_some() || last.is_some_and(|last| last.name == name)
    }

    /// What makes the tools refuse to change it: a section that stands twice, or a block that is
    /// open at the end.
    pub fn findings(&self) -> Vec<Finding> {
        let mut names: Vec<&str> = self.sections.iter().map(|s| s.name.as_str()).collect();
        names.sort_unstable();
        let twice = names.chunk_by(|a, b| a == b).filter(|group| group.len() > 1);
        let twice = twice.take(MAX_FINDINGS).map(|group| {
            let lines = self.lines_of(group[0]);
            let what = format!(
                "section `{}` stands a second time (first in line {}): rename or merge one of them",
                group[0], lines[0]
            );
            Finding { line: lines[1], what }
        });
        let mut findings: Vec<_> = twice.chain(self.open_block(&self.outline)).collect();
        findings.sort_by_key(|finding| finding.line);
        findings
    }

    /// The summary with a text at the end of a section, which is added at the end of the document
    /// where it has none of that name. Nothing else changes.
    ///
    /// # Errors
    ///
    /// What would change the structure of the document.
    pub fn append(&self, section: &str, text: &str) -> Result<String, Unchanged> {
        self.check_closed(&self.outline)?;
        let source = self.outline.source;
        let (range, heading) = match self.section(section) {
            Some(found) => (found.range.clone(), None),
            None => (0..source.len(), Some(section)),
        };
        Ok(insert(&self.outline, content_end(source, &range), heading, text, |_| Ok(()))?)
    }

    /// The summary with a text in place of what stands under a section's heading; an empty text
    /// clears it. A section that is missing is added at the end. Nothing else changes.
    ///
    /// # Errors
    ///
    /// What would change the structure of the document.
    pub fn replace(&self, section: &str, text: &str) -> Result<String, Unchanged> {
        let Some(found) = self.section(section) else {
            return self.append(section, text);
        };
        let source = self.outline.source;
        let body = found.body();
        let gap = if body.end < source.len() { "\n" } else { "" };
        let cleared = [&source[..body.start], gap, &source[body.end..]].concat();
        let outline = Outline::of(&cleared);
        self.check_cleared(&body, &outline)?;
        if outline.open_at_end().is_some() {
            // Open before as well: the lines are those of the document as it stands.
            self.check_closed(&self.outline)?;
        }
        if text.is_empty() {
            return Ok(cleared);
        }
        Ok(insert(&outline, body.start, None, text, |_| Ok(()))?)
    }

    fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Without a section's body, every other block has to be what it was: a link that the body
    /// defines could have been a part of another heading.
    fn check_cleared(&self, body: &Range<usize>, cleared: &Outline<'_>) -> Result<(), Unchanged> {
        let outside = |block: &&Block| !body.contains(&block.range.start);
        let mut others = self.outline.blocks.iter().filter(outside);
        let is_same = |is: &Block| {
            let was = others.next();
            was.is_some_and(|was| was.kind == is.kind && self.outline.text(was) == cleared.text(is))
        };
        if cleared.blocks.iter().all(is_same) && others.next().is_none() {
            return Ok(());
        }
        let what = "cannot replace the section: other parts of the summary are read differently \
                    without what stands there, such as a link that it defines";
        Err(Unchanged::Content(Offence::new(1, what)))
    }

    fn check_closed(&self, outline: &Outline<'_>) -> Result<(), Unchanged> {
        self.open_block(outline).map_or(Ok(()), |finding| Err(Unchanged::Document(finding)))
    }

    fn open_block(&self, outline: &Outline<'_>) -> Option<Finding> {
        outline.open_at_end().map(|open| Finding {
            line: line_of(outline.source, open.range.start),
            what: "a fence, comment or HTML block that begins here is not closed".into(),
        })
    }
}

/// How many sections that stand twice are named.
const MAX_FINDINGS: usize = 20;
