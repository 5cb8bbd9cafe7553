//! A session log: one Markdown document a day, with the sections that the schema names.

use std::ops::Range;

use super::header::{Field, Header};
use super::schema::{Fault, HEADER, Schema};
use crate::markdown::{BlockKind, Entry, Insertion, Offence, Outline, disturbance};
use crate::text::{is_blank, line_of, lines};
use crate::time::Date;

/// The title of logs that the seed's first program wrote. Their header stands above the first
/// section, and they are never converted.
const FIRST_FORM_TITLE: &str = "Agent Memory Session";

/// Whose log it is, by its path.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub agent: &'a str,
    pub date: Date,
}

/// A log that is well formed.
pub(super) struct Log<'a> {
    outline: Outline<'a>,
    schema: &'a Schema,
    header: Header,
    sections: Vec<Section>,
}

struct Section {
    name: String,
    /// From the line of the heading to the line of the next heading of level 1 or 2.
    range: Range<usize>,
}

/// The text of a new log: the header, and every section, empty.
pub(super) fn new_log(owner: Owner<'_>, schema: &Schema) -> String {
    let Owner { agent, date } = owner;
    let mut text = format!(
        "# {agent} — {date}\n\n## {HEADER}\n\n- Agent Name: {agent}\n- Date: {date}\n\
         - Session ID: {}\n- Schema: v{}\n",
        default_session_id(owner),
        schema.version
    );
    for section in &schema.sections {
        text += &format!("\n## {section}\n");
    }
    text
}

/// The session id of a log whose header has none.
pub(super) fn default_session_id(owner: Owner<'_>) -> String {
    format!("{}-{}", owner.agent, owner.date)
}

impl<'a> Log<'a> {
    /// Reads a log, ours or one of the seed's first program.
    ///
    /// # Errors
    ///
    /// What makes it malformed: no header, a header of another agent or date, a section of the
    /// schema twice, a block that is open at the end or where a section should stand.
    pub fn parse(text: &'a str, schema: &'a Schema, owner: Owner<'_>) -> Result<Self, Fault> {
        Self::read(Outline::of(text), schema, owner)
    }

    fn read(outline: Outline<'a>, schema: &'a Schema, owner: Owner<'_>) -> Result<Self, Fault> {
        let sections = sections(&outline);
        let log = Self { header: Header::default(), outline, schema, sections };
        log.check_open_blocks()?;
        log.check_sections()?;
        let header = log.read_header(owner)?;
        Ok(Self { header, ..log })
    }

    /// The session id that the header gives.
    pub fn session_id(&self) -> Option<&str> {
        self.header.session_id.as_ref().map(|field| field.value.as_str())
    }

    /// Where the log and the schema differ in ways that do not stop anyone.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let current = format!("v{}", self.schema.version);
        if let Some(started) = self.header.schema.as_ref().filter(|field| field.value != current) {
            let started = &started.value;
            warnings.push(format!(
                "the log was started under schema {started}; the schema is now {current}"
            ));
        }
        for name in self.schema.sections.iter().filter(|name| self.section(name).is_none()) {
            warnings.push(format!("the log lacks section `{name}`: its first entry adds it"));
        }
        let known = |name: &str| name == HEADER || self.schema.sections.iter().any(|s| s == name);
        for section in self.sections.iter().filter(|section| !known(&section.name)) {
            let name = &section.name;
            warnings.push(format!("section `{name}` is not in the schema: it is kept"));
        }
        warnings
    }

    /// The log with an entry at the end of a section of the schema, which is added at its place
    /// where the log lacks it. All that was in the log stays as it was, byte for byte.
    ///
    /// # Errors
    ///
    /// What in the entry would change the structure of the log.
    pub fn append(&self, section: &str, text: &str, owner: Owner<'_>) -> Result<String, Offence> {
        let entry = Entry::of(text)?;
        let source = self.outline.source;
        if let Some(offence) = entry.meddling_definition(source) {
            return Err(offence);
        }
        let (at, heading) = match self.section(section) {
            Some(found) => (content_end(source, &found.range), None),
            None => (content_end(source, &self.place_of(section)), Some(section)),
        };
        let added = separated(&source[..at], heading, text, &source[at..]);
        let after = [&source[..at], &added, &source[at..]].concat();
        let outline = Outline::of(&after);
        let insertion = Insertion {
            before: &self.outline,
            after: &outline,
            added: at..at + added.len(),
            heading,
            entry: &entry,
        };
        if let Some(offence) = disturbance(&insertion) {
            return Err(offence);
        }
        Log::read(outline, self.schema, owner).map_err(|fault| {
            Offence::new(1, format!("would make the log malformed: {}", fault.what))
        })?;
        Ok(after)
    }

    fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// After what a section that the log lacks belongs: the nearest section before it in the
    /// schema's order that the log has, or the header.
    fn place_of(&self, name: &str) -> Range<usize> {
        let earlier = self.schema.sections.iter().take_while(|section| *section != name);
        let nearest = earlier.filter_map(|section| self.section(section)).last();
        match nearest.or_else(|| self.section(HEADER)) {
            Some(section) => section.range.clone(),
            None => 0..self.sections.first().map_or(self.outline.source.len(), |s| s.range.start),
        }
    }

    fn check_open_blocks(&self) -> Result<(), Fault> {
        let what = |block: &crate::markdown::Block| match block.kind {
            BlockKind::Fence => "the code fence",
            _ => "the comment or HTML block",
        };
        if let Some(open) = self.outline.open_at_end() {
            let what = format!("{} that begins here is not closed", what(open));
            return Err(self.fault(open.range.start, what));
        }
        let missing: Vec<_> =
            self.schema.sections.iter().filter(|name| self.section(name).is_none()).collect();
        let raw = |kind: &BlockKind| matches!(kind, BlockKind::Fence | BlockKind::Html);
        for block in self.outline.blocks.iter().filter(|block| raw(&block.kind)) {
            for (_, line) in lines(self.outline.text(block)) {
                let name = line.strip_prefix("## ").map(str::trim);
                let swallowed = missing.iter().find(|missing| Some(missing.as_str()) == name);
                if let Some(section) = swallowed {
                    let what = format!(
                        "{} that begins here is still open where section `{section}` stands",
                        what(block)
                    );
                    return Err(self.fault(block.range.start, what));
                }
            }
        }
        Ok(())
    }

    fn check_sections(&self) -> Result<(), Fault> {
        let ruled = self.schema.sections.iter().map(String::as_str).chain([HEADER]);
        for name in ruled {
            let twice = self.sections.iter().filter(|section| section.name == name).nth(1);
            if let Some(second) = twice {
                let what = format!("section `{name}` stands a second time");
                return Err(self.fault(second.range.start, what));
            }
        }
        Ok(())
    }

    fn read_header(&self, owner: Owner<'_>) -> Result<Header, Fault> {
        let source = self.outline.source;
        let title = self.outline.blocks.first().map(|block| &block.kind);
        let is_first_form = matches!(
            title,
            Some(BlockKind::Heading { level: 1, text }) if text.trim() == FIRST_FORM_TITLE
        );
        let range = match self.section(HEADER) {
            Some(section) => section.range.clone(),
            None if is_first_form => {
                0..self.sections.first().map_or(source.len(), |section| section.range.start)
            }
            None => return Err(self.fault(0, format!("no section `{HEADER}`"))),
        };
        let header = Header::read(&source[range.clone()]);
        let date = owner.date.to_string();
        for (field, value, wanted) in
            [("Agent Name", &header.agent, owner.agent), ("Date", &header.date, &date)]
        {
            let (at, what) = match value {
                Some(field) if field.value == wanted => continue,
                Some(Field { value, at }) => {
                    (*at, format!("the header's `{field}` is `{value}`, its path's `{wanted}`"))
                }
                None => (0, format!("the header has no `{field}`")),
            };
            return Err(self.fault(range.start + at, what));
        }
        Ok(header)
    }

    fn fault(&self, at: usize, what: String) -> Fault {
        Fault { line: line_of(self.outline.source, at), what }
    }
}

fn sections(outline: &Outline<'_>) -> Vec<Section> {
    let source = outline.source;
    let line_start = |at: usize| source[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let mut sections: Vec<Section> = Vec::new();
    let mut open = false;
    for block in &outline.blocks {
        let BlockKind::Heading { level: level @ (1 | 2), text } = &block.kind else {
            continue;
        };
        let start = line_start(block.range.start);
        if let Some(last) = sections.last_mut().filter(|_| open) {
            last.range.end = start;
        }
        open = *level == 2;
        if open {
            sections.push(Section { name: text.trim().to_owned(), range: start..source.len() });
        }
    }
    sections
}

/// The end of the last line of a range that is not blank, with its line end.
fn content_end(source: &str, range: &Range<usize>) -> usize {
    let text = &source[range.clone()];
    let mut starts = lines(text).map(|(at, _)| at).skip(1).chain([text.len()]);
    let ends = lines(text).zip(starts.by_ref());
    let last = ends.filter(|((_, line), _)| !is_blank(line)).last();
    range.start + last.map_or(0, |(_, end)| end)
}

/// What is inserted between two parts of a log: the entry and its heading, each with a blank line
/// on both sides.
fn separated(before: &str, heading: Option<&str>, text: &str, after: &str) -> String {
    let mut added = String::new();
    if !before.is_empty() && !before.ends_with(['\n', '\r']) {
        added.push('\n');
    }
    added.push('\n');
    if let Some(heading) = heading {
        added += &format!("## {heading}\n\n");
    }
    added += text;
    added.push('\n');
    if lines(after).next().is_some_and(|(_, line)| !is_blank(line)) {
        added.push('\n');
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner<'static> {
        Owner { agent: "ada", date: Date::parse("2025-01-20").expect("a date") }
    }

    fn append(text: &str, section: &str, entry: &str) -> Result<String, Offence> {
        let schema = Schema::default();
        let log = Log::parse(text, &schema, owner()).expect("a log");
        log.append(section, entry, owner())
    }

    #[test]
    fn a_new_log_is_well_formed_and_has_nothing_to_warn_of() {
        let schema = Schema::default();
        let text = new_log(owner(), &schema);
        let log = Log::parse(&text, &schema, owner()).expect("a log");
        assert_eq!(log.session_id(), Some("ada-2025-01-20"));
        assert_eq!(log.warnings(), [] as [&str; 0]);
    }

    #[test]
    fn entries_stand_at_the_end_of_their_section_with_a_blank_line_around_them() {
        let text = new_log(owner(), &Schema::default());
        let text = append(&text, "Decisions", "- one").expect("appended");
        let text = append(&text, "Decisions", "- two\n\nand text").expect("appended");
        assert!(text.contains("\n## Decisions\n\n- one\n\n- two\n\nand text\n\n## Open Q"));
        let text = append(&text, "Next Actions", "last").expect("appended");
        assert!(text.ends_with("\n## Next Actions\n\nlast\n"));
    }

    #[test]
    fn all_that_a_person_wrote_stays_byte_for_byte() {
        let text = "# t\r\n\r\n## Header\r\n- Agent Name: ada\r\n- Date: 2025-01-20\r\n\r\n\
                    ## Context \t\r\n- [ ] one  \r\n[l]: /x\r\n## Decisions\r\n\r\n\r\nlast line";
        let with = append(text, "Context", "new").expect("appended");
        assert_eq!(with.replace("\nnew\n\n## Dec", "## Dec"), text);
        let with = append(text, "Decisions", "new").expect("appended");
        assert_eq!(with, format!("{text}\n\nnew\n"));
        let with = append(text, "Discussion Summary", "new").expect("appended");
        assert_eq!(with.replace("\n## Discussion Summary\n\nnew\n\n## Dec", "## Dec"), text);
    }

    #[test]
    fn an_entry_does_not_touch_the_blocks_around_it() {
        let log = |context: &str, next: &str| {
            format!(
                "# t\n\n## Header\n\n- Agent Name: ada\n- Date: 2025-01-20\n\n\
                 ## Context\n\n{context}\n\n{next}"
            )
        };
        for (context, next, entry) in [
            ("    code", "## Decisions", "    more code"),
            ("- item", "## Decisions", "  more of the item"),
            ("- item", "## Decisions", "  - nested"),
            ("text", "   Decisions\n---", "- would take in the heading"),
            ("text", "  ## Decisions", "- would take in the heading"),
            ("see [it]", "## Decisions", "[it]: /x"),
        ] {
            let appended = append(&log(context, next), "Context", entry);
            assert!(appended.is_err(), "{context:?} {entry:?} {next:?}");
        }
        for (context, entry) in [
            ("- item", "- item"),
            ("- item\n- item", "- item\n- item\n\ntext"),
            ("1. item", "2. item"),
            ("* item", "- item"),
            ("> quote", "> quote"),
            ("text", "text"),
            ("<div>", "</div>"),
            ("| a |\n|---|\n| b |", "| c |"),
        ] {
            let appended = append(&log(context, "## Decisions"), "Context", entry);
            assert!(appended.is_ok(), "{context:?} {entry:?} {appended:?}");
        }
    }

    #[test]
    fn a_malformed_log_names_the_line() {
        let head = "# t\n\n## Header\n\n- Agent Name: ada\n- Date: 2025-01-20\n\n";
        let schema = Schema::default();
        for (text, line) in [
            (String::new(), 1),
            ("# t\n\n## Context\n".into(), 1),
            ("## Header\n- Date: 2025-01-20\n".into(), 1),
            (head.replace("ada", "bob"), 5),
            (head.replace("01-20", "01-21"), 6),
            (format!("{head}## Context\n\n## Context\n"), 10),
            (format!("{head}## Header\n"), 8),
            (format!("{head}## Context\n\n```\n\n## Decisions\n"), 10),
            (format!("{head}## Context\n\n```\n## Decisions\n```\n"), 10),
            (format!("{head}## Context\n\n<!--\n## Decisions\n-->\n"), 10),
            (format!("{head}## Context\n\n<!-- open\n"), 10),
        ] {
            let fault = Log::parse(&text, &schema, owner()).err();
            assert_eq!(fault.map(|fault| fault.line), Some(line), "{text}");
        }
        let quoted = format!("{head}## Context\n\n```\n## Decisions\n```\n\n## Decisions\n");
        assert!(Log::parse(&quoted, &schema, owner()).is_ok());
    }
}
