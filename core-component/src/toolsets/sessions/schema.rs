//! `_schema.md`: the sections that the logs of an agent have.

use super::finding::Finding;
use crate::markdown::{BlockKind, Outline, is_heading_text};
use crate::text::line_of;

/// The default schema of spec 000, which the first session of an agent creates.
pub(super) const DEFAULT: &str = "\
# Agent Memory Schema v1

## Header
- Agent Name
- Date (YYYY-MM-DD)
- Session ID

## Context
- Project
- Focus Area
- Stage

## Discussion Summary
- Key topics discussed

## Decisions
- Explicit decisions made

## Open Questions
- Unresolved issues or risks

## Next Actions
- Follow-up actions
";

/// The section that has the agent and the date of a log. It accepts no entries.
pub(super) const HEADER: &str = "Header";

const KNOWN_VERSION: u32 = 1;
const MAX_SECTIONS: usize = 100;
const MAX_SECTION_CHARACTERS: usize = 100;

/// A parsed schema.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Schema {
    pub version: u32,
    /// The number of the line that has the title with the version.
    title_line: usize,
    /// The sections that accept entries, in order.
    pub sections: Vec<String>,
}

/// The schema that [`DEFAULT`] describes. Most calls use it, so it is not parsed each time.
impl Default for Schema {
    fn default() -> Self {
        let sections =
            ["Context", "Discussion Summary", "Decisions", "Open Questions", "Next Actions"];
        Self { version: 1, title_line: 1, sections: sections.map(str::to_owned).into() }
    }
}

impl Schema {
    /// Parses the title `# Agent Memory Schema vN` and the `## Section` headings below it. All
    /// other text is for people and is ignored.
    pub fn parse(text: &str) -> Result<Self, Finding> {
        if text == DEFAULT {
            return Ok(Self::default());
        }
        Self::parse_any(text)
    }

    fn parse_any(text: &str) -> Result<Self, Finding> {
        let outline = Outline::parse(text);
        let error = |at: usize, what: String| Finding { line: line_of(text, at), what };
        let mut version = None;
        let mut sections: Vec<String> = Vec::new();
        let mut has_header = false;
        for block in &outline.blocks {
            let BlockKind::Heading { level, text: name } = &block.kind else {
                continue;
            };
            let at = block.range.start;
            let name = name.trim();
            match (level, version) {
                (1, None) => {
                    let number = parse_title(name).map_err(|what| error(at, what))?;
                    version = Some((number, line_of(text, at)));
                }
                (1, Some(_)) => return Err(error(at, "a second heading of level 1".into())),
                (2, None) => return Err(error(at, TITLE_EXPECTED.into())),
                (2, Some(_)) if name == HEADER && !has_header => has_header = true,
                (2, Some(_)) => {
                    check_section(name, &sections).map_err(|what| error(at, what))?;
                    sections.push(name.to_owned());
                }
                _ => {}
            }
        }
        let end = text.trim_end().len();
        let (version, title_line) = version.ok_or_else(|| error(0, TITLE_EXPECTED.into()))?;
        if let Some(open) = outline.open_at_end() {
            let what = "a fence, comment or HTML block that is not closed";
            return Err(error(open.range.start, what.into()));
        }
        if sections.is_empty() {
            return Err(error(end, "no `## Section` that accepts entries".into()));
        }
        Ok(Self { version, title_line, sections })
    }

    /// A warning if the version of the schema is unknown.
    pub fn warning(&self) -> Option<Finding> {
        let what = format!(
            "schema version v{} is not known (known: v{KNOWN_VERSION}): its sections are used as \
             they are",
            self.version
        );
        (self.version != KNOWN_VERSION).then_some(Finding { line: self.title_line, what })
    }
}

/// Checks the name of a section. `known` has the sections before it.
fn check_section(name: &str, known: &[String]) -> Result<(), String> {
    if name == HEADER || known.iter().any(|known| known == name) {
        return Err(format!("section `{name}` appears twice"));
    }
    if name.is_empty() || name.chars().count() > MAX_SECTION_CHARACTERS {
        return Err(format!("the name of a section has 1 to {MAX_SECTION_CHARACTERS} characters"));
    }
    if !is_heading_text(name) {
        return Err(format!(
            "section `{name}` has a name that Markdown would read as something else: use plain \
             words"
        ));
    }
    if known.len() == MAX_SECTIONS {
        return Err(format!("a schema has at most {MAX_SECTIONS} sections"));
    }
    Ok(())
}

const TITLE_EXPECTED: &str = "expected the heading `# Agent Memory Schema vN`";

fn parse_title(title: &str) -> Result<u32, String> {
    let version = title.strip_prefix("Agent Memory Schema v");
    let digits = version.filter(|version| version.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| TITLE_EXPECTED.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_schema_equals_its_parsed_text() {
        assert_eq!(Schema::parse_any(DEFAULT), Ok(Schema::default()));
        assert_eq!(Schema::default().warning(), None);
    }

    #[test]
    fn an_error_of_the_schema_has_its_line() {
        for (text, line) in [
            ("", 1),
            ("## Context\n", 1),
            ("# Agent Memory Schema\n\n## A\n", 1),
            ("\n# Agent Memory Schema vx\n\n## A\n", 2),
            ("# Agent Memory Schema v1\n\n## A\n\n## B\n\n## A\n", 7),
            ("# Agent Memory Schema v1\n\n## A\n\n# Agent Memory Schema v2\n", 5),
            ("# Agent Memory Schema v1\n\n## Header\n", 3),
            ("# Agent Memory Schema v1\n\n## A\n\n```\n## B\n", 5),
            ("# Agent Memory Schema v1\n\n##\n", 3),
            ("# Agent Memory Schema v1\n\n## What \\*not\\* to do\n", 3),
            ("# Agent Memory Schema v1\n\n## C \\#\n", 3),
        ] {
            assert_eq!(Schema::parse(text).err().map(|error| error.line), Some(line), "{text}");
        }
    }

    #[test]
    fn a_team_may_write_its_own_schema() {
        let text =
            "\u{feff}# Agent Memory Schema v2\r\n\r\nOurs.\r\n\r\nRisks\r\n---\r\n\r\n## Next\r\n";
        let schema = Schema::parse(text).expect("a schema");
        assert_eq!(
            schema,
            Schema { version: 2, title_line: 1, sections: vec!["Risks".into(), "Next".into()] }
        );
        assert!(schema.warning().is_some_and(|warning| warning.what.contains("v2")));
    }
}
