//! A session log: one Markdown document a day, with the sections that the schema names.

use std::ops::Range;

use super::finding::Finding;
use super::header::{Field, Header};
use super::schema::{HEADER, Schema};
use crate::markdown::{Block, BlockKind, ContentError, Outline, Section, content_end, insert};
use crate::text::{excerpt, line_of, lines};
use crate::time::Date;

/// The title of logs that an earlier program wrote; comments call it the first program. Such a log
/// has its header above the first section. These logs are never converted.
const FIRST_PROGRAM_TITLE: &str = "Agent Memory Session";

/// The most unknown sections that get a warning each. One more warning counts the rest.
const MAX_UNKNOWN_SECTIONS: usize = 20;

/// The agent and the day of a log, as its path gives them.
#[derive(Clone, Copy)]
pub(super) struct LogId<'a> {
    pub agent: &'a str,
    pub date: Date,
}

/// A parsed log, which is well formed.
pub(super) struct Log<'a> {
    outline: Outline<'a>,
    schema: &'a Schema,
    header: Header,
    sections: Vec<Section>,
}

/// The text of a new log: title, header, and every section of the schema, empty.
pub(super) fn new_log(id: LogId<'_>, schema: &Schema) -> String {
    let LogId { agent, date } = id;
    let mut text = format!(
        "# {agent} — {date}\n\n## {HEADER}\n\n- Agent Name: {agent}\n- Date: {date}\n\
         - Session ID: {}\n- Schema: v{}\n",
        default_session_id(id),
        schema.version
    );
    for section in &schema.sections {
        text += &format!("\n## {section}\n");
    }
    text
}

/// The day of a log, from its file name. `None` if the file name is not that of a log.
pub(super) fn log_date(file_name: &str) -> Option<Date> {
    file_name.strip_suffix(".md").and_then(Date::parse)
}

/// The session id of a new log, and of a log whose header has none.
pub(super) fn default_session_id(id: LogId<'_>) -> String {
    format!("{}-{}", id.agent, id.date)
}

impl<'a> Log<'a> {
    /// Parses a log, in today's form or in that of the first program.
    ///
    /// # Errors
    ///
    /// Why the log is malformed: no header; a header of another agent or date; a section of the
    /// schema twice; a block that is open at the end, or that hides a section.
    pub fn parse(text: &'a str, schema: &'a Schema, id: LogId<'_>) -> Result<Self, Finding> {
        Self::read(Outline::parse(text), schema, id)
    }

    fn read(outline: Outline<'a>, schema: &'a Schema, id: LogId<'_>) -> Result<Self, Finding> {
        let sections = Section::all(&outline);
        let log = Self { header: Header::default(), outline, schema, sections };
        log.check_open_blocks()?;
        log.check_sections()?;
        let header = log.read_header(id)?;
        Ok(Self { header, ..log })
    }

    /// The session id in the header. `None` if the header has none.
    pub fn session_id(&self) -> Option<&str> {
        self.header.session_id.as_ref().map(|field| field.value.as_str())
    }

    /// The warnings about differences between the log and its schema. No tool refuses a log because
    /// of these.
    pub fn warnings(&self) -> Vec<Finding> {
        let mut warnings = Vec::new();
        let current = format!("v{}", self.schema.version);
        if let Some(field) = self.header.schema.as_ref().filter(|field| field.value != current) {
            let started = &field.value;
            let what =
                format!("the log was started under schema {started}; the schema is now {current}");
            warnings.push(self.finding(field.at, what));
        }
        for name in self.schema.sections.iter().filter(|name| self.section(name).is_none()) {
            let what = format!("the log lacks section `{name}`: its first entry adds it");
            warnings.push(self.finding(0, what));
        }
        let known = |name: &str| name == HEADER || self.schema.sections.iter().any(|s| s == name);
        let mut unknown = self.sections.iter().filter(|section| !known(&section.name));
        for section in unknown.by_ref().take(MAX_UNKNOWN_SECTIONS) {
            let what = format!("section `{}` is not in the schema: it is kept", section.name);
            warnings.push(self.finding(section.range.start, what));
        }
        if let Some(next) = unknown.next() {
            let more = unknown.count() + 1;
            let what = format!("{more} more sections are not in the schema: they are kept");
            warnings.push(self.finding(next.range.start, what));
        }
        warnings
    }

    /// The texts of all warnings, about the schema and about the log.
    pub fn all_warnings(&self) -> Vec<String> {
        let findings = self.schema.warning().into_iter().chain(self.warnings());
        findings.map(|finding| finding.what).collect()
    }

    /// Returns the log with an entry appended to a section of the schema. A section that the log
    /// lacks is added in the order of the schema. Every byte of the log stays as it was.
    ///
    /// # Errors
    ///
    /// If the entry would change the structure of the log: the line of the entry, and why.
    pub fn append(&self, section: &str, text: &str, id: LogId<'_>) -> Result<String, ContentError> {
        let source = self.outline.source;
        let (at, heading) = match self.section(section) {
            Some(found) => (content_end(source, &found.range), None),
            None => (content_end(source, &self.predecessor(section)), Some(section)),
        };
        insert(&self.outline, at, heading, text, |after| {
            let read = Log::read(after, self.schema, id);
            read.map(drop).map_err(|error| {
                ContentError::new(1, format!("would make the log malformed: {}", error.what))
            })
        })
    }

    /// Returns a warning if an earlier heading of the section has a higher level than the entry's
    /// first heading. The entry is added below that heading, so readers would take it for a part of
    /// that topic. `None` if there is no such heading.
    pub fn heading_above(&self, section: &str, entry: &str) -> Option<Finding> {
        let range = &self.section(section)?.range;
        let own = Outline::parse(entry).blocks.first().and_then(Block::level).unwrap_or(u8::MAX);
        let above = |block: &&Block| block.level().is_some_and(|level| (3..own).contains(&level));
        let inside = |block: &&Block| range.contains(&block.range.start);
        let block = self.outline.blocks.iter().filter(inside).rfind(above)?;
        let level = block.level()?;
        let at = block.range.start;
        let heading = excerpt(self.outline.text(block).lines().next().unwrap_or_default());
        let line = line_of(self.outline.source, at);
        let what = format!(
            "the entry stands under the heading `{heading}` in line {line}: an entry that begins \
             with a heading of level {level} would stand beside it"
        );
        Some(self.finding(at, what))
    }

    fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The range after which a missing section is added: that of the nearest section before it in
    /// the schema, or that of the header if the log has none of these.
    fn predecessor(&self, name: &str) -> Range<usize> {
        let earlier = self.schema.sections.iter().take_while(|section| *section != name);
        let nearest = earlier.filter_map(|section| self.section(section)).last();
        match nearest.or_else(|| self.section(HEADER)) {
            Some(section) => section.range.clone(),
            None => 0..self.sections.first().map_or(self.outline.source.len(), |s| s.range.start),
        }
    }

    fn check_open_blocks(&self) -> Result<(), Finding> {
        let what = |block: &Block| match block.kind {
            BlockKind::Fence => "the code fence",
            _ => "the comment or HTML block",
        };
        if let Some(open) = self.outline.open_at_end() {
            let what = format!("{} that begins here is not closed", what(open));
            return Err(self.finding(open.range.start, what));
        }
        let missing: Vec<_> =
            self.schema.sections.iter().filter(|name| self.section(name).is_none()).collect();
        let is_raw = |kind: &BlockKind| matches!(kind, BlockKind::Fence | BlockKind::Html);
        for block in self.outline.blocks.iter().filter(|block| is_raw(&block.kind)) {
            for (_, line) in lines(self.outline.text(block)) {
                let name = line.strip_prefix("## ").map(str::trim);
                let hidden = missing.iter().find(|missing| Some(missing.as_str()) == name);
                if let Some(section) = hidden {
                    let what = format!(
                        "{} that begins here is still open at section `{section}`",
                        what(block)
                    );
                    return Err(self.finding(block.range.start, what));
                }
            }
        }
        Ok(())
    }

    fn check_sections(&self) -> Result<(), Finding> {
        let names = self.schema.sections.iter().map(String::as_str).chain([HEADER]);
        for name in names {
            let twice = self.sections.iter().filter(|section| section.name == name).nth(1);
            if let Some(second) = twice {
                let what = format!("section `{name}` appears a second time");
                return Err(self.finding(second.range.start, what));
            }
        }
        Ok(())
    }

    fn read_header(&self, id: LogId<'_>) -> Result<Header, Finding> {
        let source = self.outline.source;
        let title = self.outline.blocks.first().map(|block| &block.kind);
        let is_of_first_program = matches!(
            title,
            Some(BlockKind::Heading { level: 1, text }) if text.trim() == FIRST_PROGRAM_TITLE
        );
        let range = match self.section(HEADER) {
            Some(section) => section.range.clone(),
            None if is_of_first_program => {
                0..self.sections.first().map_or(source.len(), |section| section.range.start)
            }
            None => return Err(self.finding(0, format!("no section `{HEADER}`"))),
        };
        let header = Header::read(source, range.clone());
        let date = id.date.to_string();
        for (field, value, wanted) in
            [("Agent Name", &header.agent, id.agent), ("Date", &header.date, &date)]
        {
            let (at, what) = match value {
                Some(field) if field.value == wanted => continue,
                Some(Field { value, at }) => (
                    *at,
                    format!("the header's `{field}` is `{value}`, but the path has `{wanted}`"),
                ),
                None => (range.start, format!("the header has no `{field}`")),
            };
            return Err(self.finding(at, what));
        }
        Ok(header)
    }

    fn finding(&self, at: usize, what: String) -> Finding {
        Finding { line: line_of(self.outline.source, at), what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> LogId<'static> {
        LogId { agent: "ada", date: Date::parse("2025-01-20").expect("a date") }
    }

    fn append(text: &str, section: &str, entry: &str) -> Result<String, ContentError> {
        let schema = Schema::default();
        let log = Log::parse(text, &schema, id()).expect("a log");
        log.append(section, entry, id())
    }

    #[test]
    fn a_new_log_is_well_formed_and_has_no_warnings() {
        let schema = Schema::default();
        let text = new_log(id(), &schema);
        let log = Log::parse(&text, &schema, id()).expect("a log");
        assert_eq!(log.session_id(), Some("ada-2025-01-20"));
        assert_eq!(log.warnings(), []);
    }

    #[test]
    fn entries_are_added_at_the_end_of_their_section_with_a_blank_line_around_them() {
        let text = new_log(id(), &Schema::default());
        let text = append(&text, "Decisions", "- one").expect("appended");
        let text = append(&text, "Decisions", "- two\n\nand text").expect("appended");
        assert!(text.contains("\n## Decisions\n\n- one\n- two\n\nand text\n\n## Open Q"));
        let text = append(&text, "Next Actions", "last").expect("appended");
        assert!(text.ends_with("\n## Next Actions\n\nlast\n"));
    }

    #[test]
    fn only_a_tight_list_gains_tight_items_without_a_blank_line() {
        let head = "# t\n\n## Header\n\n- Agent Name: ada\n- Date: 2025-01-20\n\n## Context\n\n";
        for (list, entry, with) in [
            ("- a\n- b", "- c\n- d\n\ntext", "- a\n- b\n- c\n- d\n\ntext\n"),
            ("- a", "- c\n\n  more", "- a\n\n- c\n\n  more\n"),
            ("- a\n\n- b", "- c", "- a\n\n- b\n\n- c\n"),
            ("- a\n\n  - b", "- c", "- a\n\n  - b\n\n- c\n"),
            ("- a\n  - b\n\n  - c", "- d", "- a\n  - b\n\n  - c\n- d\n"),
            ("1. a", "2. b", "1. a\n2. b\n"),
            ("- a", "* b", "- a\n\n* b\n"),
            ("- a\n\n[l]: /x", "- b", "- a\n\n[l]: /x\n\n- b\n"),
            ("text", "- b", "text\n\n- b\n"),
        ] {
            let with = format!("{head}{with}");
            assert_eq!(append(&format!("{head}{list}\n"), "Context", entry), Ok(with.clone()));
            // The last line may lack its end.
            assert_eq!(append(&format!("{head}{list}"), "Context", entry), Ok(with));
        }
    }

    #[test]
    fn an_entry_below_a_deeper_heading_has_a_warning_unless_it_stands_beside_it() {
        let head = "# t\n\n## Header\n\n- Agent Name: ada\n- Date: 2025-01-20\n\n## Context\n\n";
        let schema = Schema::default();
        for (text, entry, line) in [
            ("text", "- b", None),
            ("### A\n\ntext", "- b", Some(10)),
            ("### A\n\n#### B", "text", Some(12)),
            ("### A\n\n#### B", "#### C", Some(10)),
            ("### A\n\n#### B", "### C", None),
            ("- ### A", "text", None),
            ("\n## Ours\n\n### A", "text", None),
        ] {
            let text = format!("{head}{text}\n");
            let log = Log::parse(&text, &schema, id()).expect("a log");
            let above = log.heading_above("Context", entry);
            assert_eq!(above.map(|finding| finding.line), line, "{text:?} {entry:?}");
        }
    }

    #[test]
    fn a_definition_before_items_does_not_go_on_with_the_item_before() {
        let text = new_log(id(), &Schema::default());
        let text = append(&text, "Decisions", "- one").expect("appended");
        let text = append(&text, "Decisions", "[l]: /x\n- two [l]").expect("appended");
        assert!(text.contains("\n- one\n\n[l]: /x\n- two [l]\n"), "{text}");
    }

    #[test]
    fn every_byte_that_a_person_wrote_is_kept() {
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
    fn an_entry_does_not_change_the_blocks_around_it() {
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
    fn the_error_of_a_malformed_log_has_the_line() {
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
            let error = Log::parse(&text, &schema, id()).err();
            assert_eq!(error.map(|error| error.line), Some(line), "{text}");
        }
        let quoted = format!("{head}## Context\n\n```\n## Decisions\n```\n\n## Decisions\n");
        assert!(Log::parse(&quoted, &schema, id()).is_ok());
    }
}
