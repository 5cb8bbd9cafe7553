//! An agent's files, and how each can be damaged.

use crate::model::document::{Document, Section};
use crate::model::text::Kind;

/// The names that schemas draw their sections from.
pub const SECTIONS: [&str; 9] = [
    "Context",
    "Discussion Summary",
    "Decisions",
    "Open Questions",
    "Next Actions",
    "Risks",
    "Q & A",
    "Décisions",
    "Notes",
];

/// `_schema.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    pub version: u32,
    pub sections: Vec<String>,
    pub form: SchemaForm,
    pub damage: Option<SchemaDamage>,
}

/// The form of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaForm {
    /// The default, unchanged.
    Default,
    /// A schema that a team would write.
    Own { header: bool, crlf: bool },
}

/// The ways in which a schema is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaDamage {
    Empty,
    NoTitle,
    NoVersion,
    SecondTitle,
    NoSections,
    SectionTwice,
    OpenFence,
    NotUtf8,
}

impl Default for Schema {
    fn default() -> Self {
        let sections = SECTIONS[..5].iter().map(|section| section.to_string()).collect();
        Self { version: 1, sections, form: SchemaForm::Default, damage: None }
    }
}

const DEFAULT_SCHEMA: &str = include_str!("../../../conformance/documents/schema-v1.md");
const SUMMARY_SECTIONS: [&str; 4] =
    ["Overview", "Key Knowledge", "Active Decisions", "Important Patterns"];

impl Schema {
    pub fn render(&self) -> Vec<u8> {
        let mut text = match self.form {
            SchemaForm::Default => DEFAULT_SCHEMA.to_owned(),
            SchemaForm::Own { header, .. } => {
                let title = format!("# Agent Memory Schema v{}\n\nOurs.\n", self.version);
                let header = if header { "\n## Header\n- Agent Name\n" } else { "" };
                let sections = self.sections.iter().map(|name| format!("\n## {name}\n- what\n"));
                title + header + &sections.collect::<String>()
            }
        };
        let (title, rest) = text.split_once('\n').expect("a title");
        let first = &self.sections[0];
        match self.damage {
            None | Some(SchemaDamage::NotUtf8) => {}
            Some(SchemaDamage::Empty) => text.clear(),
            Some(SchemaDamage::NoTitle) => text = rest.to_owned(),
            Some(SchemaDamage::NoVersion) => text = format!("# Agent Memory Schema\n{rest}"),
            Some(SchemaDamage::SecondTitle) => text += &format!("\n{title}\n"),
            Some(SchemaDamage::NoSections) => text = format!("{title}\n\n## Header\n"),
            Some(SchemaDamage::SectionTwice) => text += &format!("\n## {first}\n"),
            Some(SchemaDamage::OpenFence) => text += "\n```\n## Later\n",
        }
        if let SchemaForm::Own { crlf: true, .. } = self.form {
            text = text.replace('\n', "\r\n");
        }
        let mut contents = text.into_bytes();
        if self.damage == Some(SchemaDamage::NotUtf8) {
            contents.push(0xff);
        }
        contents
    }
}

/// The ways in which a log or a summary is damaged, at its end or in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    OpenFence,
    OpenComment,
    NotUtf8,
    /// For logs: the header names another agent.
    OtherAgent,
    /// For logs: the header names another date.
    OtherDate,
    /// For logs: the header does not name the agent.
    NoAgent,
}

fn damaged(text: String, damage: Option<Damage>, agent: &str, date: &str) -> Vec<u8> {
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    let text = match damage {
        None | Some(Damage::NotUtf8) => text,
        Some(Damage::OpenFence) => format!("{text}{end}\n```\nopen\n"),
        Some(Damage::OpenComment) => format!("{text}{end}\n<!-- open\n"),
        // The header of either form.
        Some(Damage::OtherAgent) => text
            .replacen(&format!("Agent Name: {agent}"), "Agent Name: another", 1)
            .replacen(&format!("Agent Name:** {agent}"), "Agent Name:** another", 1),
        Some(Damage::OtherDate) => text.replace(date, "1999-12-31"),
        Some(Damage::NoAgent) => text.replacen("Agent Name", "Agent", 1),
    };
    let mut contents = text.into_bytes();
    if damage == Some(Damage::NotUtf8) {
        contents.push(0xff);
    }
    contents
}

/// `_summary.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub document: Document,
    pub damage: Option<Damage>,
}

impl Summary {
    pub fn template() -> Self {
        let head = Section::new(None, "# Agent Summary\n");
        let document = empty_sections(head, SUMMARY_SECTIONS.iter().copied());
        Self { document, damage: None }
    }

    pub fn render(&self) -> Vec<u8> {
        damaged(self.document.render(), self.damage, "", "")
    }
}

/// A session log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub document: Document,
    pub session_id: String,
    /// The version of the schema that its header names.
    pub schema: Option<u32>,
    pub damage: Option<Damage>,
}

impl Log {
    pub fn new(agent: &str, date: &str, schema: &Schema) -> Self {
        let version = schema.version;
        let session_id = format!("{agent}-{date}");
        let mut head = Section::new(None, format!("# {agent} — {date}\n"));
        head.gap = "\n".into();
        let mut header = Section::new(
            Some("Header"),
            format!(
                "## Header\n\n- Agent Name: {agent}\n- Date: {date}\n\
                 - Session ID: {session_id}\n- Schema: v{version}\n"
            ),
        );
        header.blocks[0].text.blocks = vec![Kind::tight('-')];
        let names = schema.sections.iter().map(String::as_str);
        let mut document = empty_sections(header, names);
        document.sections.insert(0, head);
        Self { document, session_id, schema: Some(version), damage: None }
    }

    /// A log in the form of the first program.
    pub fn in_first_form(agent: &str, date: &str) -> Self {
        let head = format!(
            "# Agent Memory Session\n\n**Agent Name:** {agent}\n**Date:** {date}\n\
             **Session ID:** 221907\n\n---\n"
        );
        let document = empty_sections(Section::new(None, head), SECTIONS[..5].iter().copied());
        Self { document, session_id: "221907".into(), schema: None, damage: None }
    }

    pub fn render(&self, agent: &str, date: &str) -> Vec<u8> {
        damaged(self.document.render(), self.damage, agent, date)
    }

    /// The text before a section, and that of the section. None for a log that is not UTF-8.
    pub fn parts(&self, section: Option<usize>, agent: &str, date: &str) -> Option<[String; 2]> {
        // Only a damage of the header shows before the end.
        let is_of_header = |damage: &Damage| {
            matches!(damage, Damage::OtherAgent | Damage::OtherDate | Damage::NoAgent)
        };
        let up_to = |count: usize| {
            let is_whole = count == self.document.sections.len();
            let damage = self.damage.filter(|damage| is_whole || is_of_header(damage));
            let sections = self.document.sections[..count].to_vec();
            String::from_utf8(damaged(Document { sections }.render(), damage, agent, date)).ok()
        };
        let whole = up_to(self.document.sections.len())?;
        let Some(index) = section else { return Some([String::new(), whole]) };
        let before = up_to(index)?;
        let with = up_to(index + 1)?;
        let text = with[before.len()..].to_owned();
        Some([before, text])
    }

    /// Whether tools refuse it with this schema.
    pub fn is_malformed(&self, schema: &Schema) -> bool {
        let twice = |name: &str| self.document.named(name).len() > 1;
        self.damage.is_some() || twice("Header") || schema.sections.iter().any(|name| twice(name))
    }
}

/// A document of a first section and further ones, which are empty.
fn empty_sections<'a>(first: Section, names: impl Iterator<Item = &'a str>) -> Document {
    let mut document = Document { sections: vec![first] };
    for name in names {
        let last = document.sections.len() - 1;
        document.insert(last, name, None);
    }
    document
}
