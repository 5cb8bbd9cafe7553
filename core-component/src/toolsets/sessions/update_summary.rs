use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, AgentWriter, ChangeError, MAX_PARSED_BYTES, in_repository, malformed};
use super::content::{invalid_content, invalid_text, stored_form, with_line_feeds};
use super::error::{Code, Error, listed};
use super::summary::{EditError, Summary, TEMPLATE};
use crate::existing::did_you_mean;
use crate::names::AgentName;
use crate::passage::replace_passage;
use crate::storage::{Area, Change};
use crate::text::normalise_line_ends;
use crate::tool::{Call, Hints, Tool};
use crate::version::{conflict_message, is_current};

pub(super) struct UpdateSummary;

/// Changes one section of an agent's summary, which every later session reads first: what people
/// and agent want to last. Use it deliberately, for durable knowledge; what belongs to one session
/// goes to `append_entry`. Refuses text that would break the summary's structure.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Update the summary")]
pub(super) struct Input {
    /// The agent's name, the same in every session.
    agent_name: AgentName,
    /// The absolute path of the repository's top level. Leave it out if only one is granted.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: Option<String>,
    /// The section's name, exactly, such as `Key Knowledge`. One that is missing is added at the
    /// end.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"\S"))]
    section: String,
    /// Markdown. No headings of level 1 or 2; code fences and HTML closed. Empty clears the section
    /// in mode `replace`. Empty in mode `remove`.
    #[schemars(length(max = 65536), regex(pattern = r"^$|\S"))]
    content: Option<String>,
    /// `append` adds to the section, `replace` puts the content in place of what stands there,
    /// `remove` takes away a section that is empty.
    mode: Mode,
    /// Instead of `content`, in mode `replace`: a passage that occurs once in the section.
    #[schemars(length(min = 1, max = 65536))]
    old_text: Option<String>,
    /// Takes the place of `old_text`. Empty deletes it.
    #[schemars(length(max = 65536))]
    new_text: Option<String>,
    /// From `read_summary`: refuse if the summary has changed since.
    #[schemars(length(min = 1, max = 64))]
    version: Option<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Append,
    Replace,
    Remove,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// The summary's path, relative to `repo_root`.
    summary_file: String,
    /// The section that was changed.
    section: String,
    /// How it was changed.
    mode: Mode,
    /// Whether this call added the section.
    created_section: bool,
    /// An existing section whose name is near that of the added one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for UpdateSummary {
    const NAME: &'static str = "update_summary";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let edit = Edit::new(&input)?;
        let agent = Agent::open(call, input.repo_root.as_deref(), &input.agent_name)?;
        agent.change(call, |writer| update(&agent, writer, &input, &edit))
    }
}

/// The change of the section.
enum Edit {
    Append(String),
    Replace(String),
    ReplacePassage { old: String, new: String },
    Remove,
}

impl Edit {
    /// Reads the change that the input asks for.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for fields that contradict each other. `InvalidContent` for a control
    /// character.
    fn new(input: &Input) -> Result<Self, Error> {
        let refused = |field: &str, message: &str, accepted: &str| {
            Err(Error::at(Code::InvalidInput, message, field, accepted.to_owned()))
        };
        // Some clients send every field. An empty `content` beside `old_text` does not count, and
        // neither does an empty `new_text` beside `content`.
        let old = input.old_text.as_deref();
        let content = input.content.as_deref().filter(|text| old.is_none() || !text.is_empty());
        let is_other = |text: &&str| content.is_none() || !text.is_empty();
        let new = input.new_text.as_deref().filter(is_other);
        let given = match (content, old, new) {
            (Some(content), None, None) => content,
            (None, None, None | Some("")) if input.mode == Mode::Remove => return Ok(Self::Remove),
            (None, Some(old), Some(new)) if input.mode == Mode::Replace => {
                let new = with_line_feeds(new, "`new_text`")?;
                return Ok(Self::ReplacePassage { old: normalise_line_ends(old), new });
            }
            (None, Some(_), Some(_)) => {
                let message = "`old_text` and `new_text` replace a passage: use mode `replace`";
                return refused("mode", message, "`replace` beside `old_text`");
            }
            (None, Some(_), None) => {
                let message = "`new_text` is missing: give the text that takes the place of \
                               `old_text`, or an empty one to delete the passage";
                return refused("new_text", message, "a text, beside `old_text`");
            }
            (None, None, Some(_)) => {
                let message = "`old_text` is missing: give the passage that `new_text` replaces";
                return refused("old_text", message, "a passage of the section");
            }
            (None, None, None) => {
                let message = "`content` is missing: give it, or `old_text` and `new_text` to \
                               replace one passage of the section";
                return refused("content", message, "a text, or none beside `old_text`");
            }
            (Some(_), ..) => {
                let message = "`content` contradicts `old_text` and `new_text`: give the whole \
                               section or one passage of it";
                return refused("content", message, "none beside `old_text`");
            }
        };
        let content = stored_form(given)?;
        match input.mode {
            Mode::Append if content.is_empty() => {
                let message = "`content` is empty: give the text to append, or clear the section \
                               with mode `replace`";
                let accepted = "text; only the modes `replace` and `remove` take an empty one";
                refused("content", message, accepted)
            }
            Mode::Remove if !content.is_empty() => {
                let message = "`content` is not empty: mode `remove` takes none, and removes only \
                               a section that is empty";
                refused("content", message, "an empty text")
            }
            Mode::Append => Ok(Self::Append(content)),
            Mode::Replace => Ok(Self::Replace(content)),
            Mode::Remove => Ok(Self::Remove),
        }
    }
}

fn update(
    agent: &Agent<'_>,
    writer: &AgentWriter<'_>,
    input: &Input,
    edit: &Edit,
) -> Result<Output, ChangeError> {
    let Input { section, mode, .. } = input;
    agent.schema()?;
    let path = agent.summary_path();
    let document = agent.summary(MAX_PARSED_BYTES)?;
    let before = document.as_ref().map_or(TEMPLATE, |document| document.text.as_str());
    if !is_current(input.version.as_deref(), before) {
        return Err(conflict().into());
    }
    let summary = Summary::parse(before);
    let created_section = check_section(&summary, section, &path, edit)?;
    let near = if created_section { near_section(&summary, section) } else { None };
    let edited = match edit {
        Edit::Append(content) => summary.append(section, content),
        Edit::Replace(content) => summary.replace(section, content),
        Edit::ReplacePassage { old, new } => {
            let body = summary.body(section).unwrap_or_default();
            let replaced = replace_passage(body, old, new).map_err(|occurrences| {
                let message = occurrences.message(&format!("section `{section}`"), "read_summary");
                let accepted = "a passage that occurs once in the section".to_owned();
                Error::at(Code::InvalidInput, message, "old_text", accepted)
            })?;
            summary.replace_body(section, &replaced)
        }
        Edit::Remove => match summary.remove(section) {
            Ok(removed) => Ok(removed.ok_or_else(|| not_removable(section))?),
            Err(error) => Err(error),
        },
    };
    let after = edited.map_err(|error| edit_error(error, edit, &path))?;
    if after.len() as u64 > MAX_PARSED_BYTES {
        return Err(too_long(agent.name, after.len()).into());
    }
    if document.is_none() || after != before {
        let put = Change::Put {
            area: Area::Documents,
            path: path.clone(),
            contents: after.into_bytes(),
            expects: document.map(|document| document.version),
        };
        writer.commit(&[put])?;
    }
    let section = section.to_owned();
    let summary_file = in_repository(&path);
    let warnings = near.into_iter().collect();
    Ok(Output { summary_file, section, mode: *mode, created_section, warnings })
}

/// Returns whether the section has to be added. Fails with `InvalidSection` if the section appears
/// twice, if it is missing and cannot be added, if its name is nearly that of another section, or
/// if it is to be removed and is not empty.
fn check_section(
    summary: &Summary<'_>,
    section: &str,
    path: &str,
    edit: &Edit,
) -> Result<bool, Error> {
    let refused = |message: String, accepted: String| {
        Err(Error::at(Code::InvalidSection, message, "section", accepted))
    };
    match summary.lines_of(section)[..] {
        [_] if matches!(edit, Edit::Remove) && !summary.is_empty(section) => refused(
            format!(
                "section `{section}` is not empty: clear it first, with mode `replace` and an empty \
                 `content`"
            ),
            "a section that is empty".into(),
        ),
        [_] => Ok(false),
        [] => {
            let given = section.escape_debug();
            if let Some(near) = summary.near(section) {
                let message = format!(
                    "`{given}` differs from the section `{near}` only in case, spaces, accents, \
                     punctuation or numbering: use that name"
                );
                return refused(message, format!("`{near}`"));
            }
            let needs_section = match edit {
                Edit::Append(_) | Edit::Replace(_) => None,
                Edit::ReplacePassage { .. } => Some("to change"),
                Edit::Remove => Some("to remove"),
            };
            if let Some(purpose) = needs_section {
                let names = listed(summary.names());
                let message = format!("there is no section `{given}` {purpose}, only {names}");
                return refused(message, format!("one of {names}"));
            }
            if summary.accepts_section(section) {
                return Ok(true);
            }
            let message = format!(
                "`{given}` cannot be the heading of a new section, because Markdown would read it \
                 differently: use plain words on one line"
            );
            refused(message, "plain words on one line, without blanks at either end".into())
        }
        [first, second, ..] => {
            let path = in_repository(path);
            let message = format!(
                "section `{section}` appears twice in `{path}`, in lines {first} and {second}: \
                 rename or merge one of them"
            );
            refused(message, "a section that appears once".into())
        }
    }
}

/// Returns a warning if the name of the added section is similar to that of an existing one. The
/// warning asks whether the existing section was meant.
fn near_section(summary: &Summary<'_>, section: &str) -> Option<String> {
    let names: Vec<String> = summary.names().map(str::to_owned).collect();
    let question = did_you_mean(section, &names)?;
    Some(format!(
        "the section `{section}` is new; {question} Then move its text there and clear it"
    ))
}

fn not_removable(section: &str) -> Error {
    let message = format!(
        "section `{section}` cannot be removed: without its heading, Markdown would read other parts \
         of the summary differently; remove it by hand"
    );
    Error::at(Code::InvalidSection, message, "section", "a section between blank lines".into())
}

/// The error if the caller's version is not the version of the summary.
fn conflict() -> Error {
    let message = conflict_message("the summary", "read_summary");
    Error::at(Code::Conflict, message, "version", "that which `read_summary` returns now".into())
}

fn edit_error(error: EditError, edit: &Edit, path: &str) -> Error {
    match (error, edit) {
        (EditError::Content(error), Edit::ReplacePassage { .. }) => {
            invalid_text("the section with this change", error)
        }
        (EditError::Content(error), _) => invalid_content(error),
        (EditError::Document(finding), _) => malformed(path, &finding),
    }
}

fn too_long(agent: &str, bytes: usize) -> Error {
    let message = format!(
        "with this change `{agent}`'s summary would have {bytes} bytes, and {MAX_PARSED_BYTES} are \
         allowed: write less, or replace what is out of date"
    );
    Error::new(Code::StorageError, message)
}
