//! Edits of files by people, whose effect the model knows.

use super::calls::{AGENTS, near};
use super::files::{Damage, Log, SECTIONS, Schema, SchemaDamage, SchemaForm, Summary};
use super::{Agent, Sessions};
use crate::model::document::Document;
use crate::model::text::Text;
use crate::random::Random;

/// A person's edit. It has no effect if its file does not exist.
#[derive(Clone, Debug)]
pub enum Edit {
    /// A change of one of an agent's Markdown files.
    Markdown(File, Change),
    /// The schema is replaced, or deleted.
    Schema(&'static str, Option<Schema>),
    /// A new log in the form of the first program, if there is none.
    FirstForm(&'static str, String),
    /// A file that does not belong to the toolset.
    Stray(String, Option<Vec<u8>>),
}

/// A Markdown file.
#[derive(Clone, Debug)]
pub enum File {
    Summary(&'static str),
    Log(&'static str, String),
}

/// A change of a Markdown file. The index of a section counts modulo the number of sections.
#[derive(Clone, Debug)]
pub enum Change {
    Heading { name: String, style: usize, after: usize },
    LevelOne,
    Paragraph { section: usize, text: Text },
    RemoveSection(usize),
    NoBlankLines(usize),
    ToCrlf,
    CutEnd,
    Damage(Damage),
    Mend,
    Delete,
}

impl Sessions {
    pub(super) fn any_edit(&self, random: &mut Random, today: &str) -> Edit {
        let agent = *random.pick(&AGENTS);
        match random.below(16) {
            0 => Edit::Schema(agent, None),
            1 | 2 => Edit::Schema(agent, Some(any_schema(random))),
            3 => Edit::FirstForm(agent, near(random, today)),
            4 => any_stray(random, agent),
            5..8 => Edit::Markdown(File::Summary(agent), any_change(random)),
            _ => {
                let logs = self.agents.get(agent).map(|agent| agent.logs.keys().collect());
                let logs: Vec<&String> = logs.unwrap_or_default();
                let date = if logs.is_empty() { today } else { random.pick(&logs) };
                Edit::Markdown(File::Log(agent, date.to_owned()), any_change(random))
            }
        }
    }

    pub(super) fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Stray(path, None) => drop(self.strays.remove(path)),
            Edit::Stray(path, Some(contents)) => {
                self.strays.insert(path.clone(), contents.clone());
            }
            Edit::Schema(agent, schema) => self.agent(agent).schema.clone_from(schema),
            Edit::FirstForm(agent, date) => {
                let log = || Log::in_first_form(agent, date);
                self.agent(agent).logs.entry(date.clone()).or_insert_with(log);
            }
            Edit::Markdown(File::Summary(agent), change) => {
                let summary = &mut self.agent(agent).summary;
                if let (Change::Delete, _) | (_, None) = (change, &summary) {
                    *summary = None;
                } else if let Some(Summary { document, damage }) = summary {
                    change.apply(document, damage, true);
                }
            }
            Edit::Markdown(File::Log(agent, date), change) => {
                let logs = &mut self.agent(agent).logs;
                if let Change::Delete = change {
                    logs.remove(date);
                } else if let Some(Log { document, damage, .. }) = logs.get_mut(date) {
                    change.apply(document, damage, false);
                }
            }
        }
    }

    fn agent(&mut self, name: &str) -> &mut Agent {
        self.agents.entry(name.to_owned()).or_default()
    }
}

impl Change {
    fn apply(&self, document: &mut Document, damage: &mut Option<Damage>, is_summary: bool) {
        let count = document.sections.len();
        match self {
            Self::Mend => *damage = None,
            // A text after an open block would be a part of it.
            _ if damage.is_some() => {}
            Self::Damage(new) => {
                let of_logs =
                    matches!(new, Damage::OtherAgent | Damage::OtherDate | Damage::NoAgent);
                *damage = Some(*new).filter(|_| !(of_logs && is_summary));
            }
            Self::Heading { name, style, after } => {
                // In a log of the first form it would be read as the header.
                if name == "Header" && document.named("Header").is_empty() {
                    return;
                }
                let after = after % count;
                document.insert(after, name, None);
                let heading = &mut document.sections[after + 1].blocks[0].source;
                *heading = match style {
                    0 => format!("## {name} ##\n"),
                    1 => format!("##\t{name}  \n"),
                    2 => format!("{name}\n---\n"),
                    _ => return,
                };
            }
            // It would be a part of a header above all sections.
            Self::LevelOne if !is_summary && document.named("Header").is_empty() => {}
            Self::LevelOne => {
                document.insert(count - 1, "", None);
                document.sections[count].name = None;
                document.sections[count].blocks[0].source = "# Part\n".into();
            }
            Self::Paragraph { section, text } => {
                document.add(section % count, text);
            }
            Self::RemoveSection(section) => {
                let section = section % count;
                if document.sections[section].name.as_deref().is_some_and(|name| name != "Header") {
                    document.sections.remove(section);
                }
            }
            Self::NoBlankLines(section) => close(document, section % count),
            Self::ToCrlf => document.to_crlf(),
            Self::CutEnd => document.cut_end(),
            Self::Delete => {}
        }
    }
}

/// Removes the blank lines before the next heading, if that stays a heading.
fn close(document: &mut Document, index: usize) {
    let next = document.sections.get(index + 1);
    let begins_anywhere = next.is_some_and(|next| next.blocks[0].source.starts_with('#'));
    let section = &mut document.sections[index];
    // HTML continues up to a blank line.
    if begins_anywhere && section.blocks.iter().all(|block| !block.source.contains('<')) {
        section.gap.clear();
    }
}

fn any_change(random: &mut Random) -> Change {
    use Damage::*;
    const DAMAGE: [Damage; 6] = [OpenFence, OpenComment, NotUtf8, OtherAgent, OtherDate, NoAgent];
    match random.below(18) {
        0..3 => {
            let name = match random.below(8) {
                0 => "Header",
                1 => "Overview",
                2..4 => "Ours",
                _ => *random.pick(&SECTIONS),
            };
            let style = random.below(5);
            let after = random.below(12);
            Change::Heading { name: name.into(), style, after }
        }
        3 => Change::LevelOne,
        4..8 => Change::Paragraph { section: random.below(12), text: Text::harmless(random) },
        8..10 => Change::RemoveSection(random.below(12)),
        10 => Change::NoBlankLines(random.below(12)),
        11 => Change::ToCrlf,
        12 => Change::CutEnd,
        13..15 => Change::Damage(*random.pick(&DAMAGE)),
        15..17 => Change::Mend,
        _ => Change::Delete,
    }
}

fn any_schema(random: &mut Random) -> Schema {
    use SchemaDamage::*;
    const DAMAGE: [SchemaDamage; 8] =
        [Empty, NoTitle, NoVersion, SecondTitle, NoSections, SectionTwice, OpenFence, NotUtf8];
    if random.below(3) == 0 {
        return Schema::default();
    }
    let mut sections: Vec<String> =
        SECTIONS.iter().filter(|_| random.below(2) == 0).map(|name| name.to_string()).collect();
    if random.below(3) == 0 {
        sections.reverse();
    }
    if sections.is_empty() {
        sections.push("Context".into());
    }
    let header = random.below(2) == 0;
    let form = SchemaForm::Own { header, crlf: random.below(4) == 0 };
    let damage = Some(*random.pick(&DAMAGE)).filter(|_| random.below(4) == 0);
    Schema { version: *random.pick(&[1, 1, 2, 17]), sections, form, damage }
}

fn any_stray(random: &mut Random, agent: &str) -> Edit {
    let path = match random.below(7) {
        0 => "README.md".into(),
        1 => "Aristotle/notes.md".into(),
        2 => format!("{agent}/notes.txt"),
        3 => format!("{agent}/logs/2025-02-30.md"),
        4 => format!("{agent}/logs/2019-05-06.txt"),
        5 => format!("{agent}/logs/2025-1-2.md"),
        _ => format!("{agent}/logs/2019-05-06.md/inside"),
    };
    let contents = Some(b"# stray\n".to_vec()).filter(|_| random.below(2) == 0);
    Edit::Stray(path, contents)
}
