use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, AgentWriter, ChangeError, MAX_PARSED_BYTES, in_repository, malformed};
use super::content::{invalid_content, stored_form};
use super::error::{Code, Error, listed};
use super::summary::{EditError, Summary, TEMPLATE};
use crate::names::AgentName;
use crate::storage::{Area, Change};
use crate::tool::{Call, Hints, Tool};

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
    content: String,
    /// `append` adds to the section, `replace` puts the content in place of what stands there,
    /// `remove` takes away a section that is empty.
    mode: Mode,
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
}

impl Tool for UpdateSummary {
    const NAME: &'static str = "update_summary";
    const HINTS: Hints = Hints::OVERWRITES;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let content = stored_form(&input.content)?;
        if content.is_empty() && input.mode == Mode::Append {
            let message = "`content` is empty: give the text to append, or clear the section with \
                           mode `replace`";
            let accepted = "text; only the modes `replace` and `remove` take an empty one";
            return Err(Error::at(Code::InvalidInput, message, "content", accepted.into()));
        }
        if !content.is_empty() && input.mode == Mode::Remove {
            let message = "`content` is not empty: mode `remove` takes none, and removes only a \
                           section that is empty";
            return Err(Error::at(Code::InvalidInput, message, "content", "an empty text".into()));
        }
        let agent = Agent::open(call, input.repo_root.as_deref(), &input.agent_name)?;
        agent.change(call, |writer| update(&agent, writer, &input.section, &content, input.mode))
    }
}

fn update(
    agent: &Agent<'_>,
    writer: &AgentWriter<'_>,
    section: &str,
    content: &str,
    mode: Mode,
) -> Result<Output, ChangeError> {
    agent.schema()?;
    let path = agent.summary_path();
    let document = agent.summary(MAX_PARSED_BYTES)?;
    let before = document.as_ref().map_or(TEMPLATE, |document| document.text.as_str());
    let summary = Summary::of(before);
    let created_section = check_section(&summary, section, &path, mode)?;
    let after = match mode {
        Mode::Append => summary.append(section, content).map_err(|error| edit_error(error, &path)),
        Mode::Replace => {
            summary.replace(section, content).map_err(|error| edit_error(error, &path))
        }
        Mode::Remove => {
            let removed = summary.remove(section).map_err(|error| edit_error(error, &path))?;
            removed.ok_or_else(|| not_removable(section))
        }
    }?;
    if after.len() as u64 > MAX_PARSED_BYTES {
        return Err(too_long(agent.name).into());
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
    Ok(Output { summary_file: in_repository(&path), section, mode, created_section })
}

/// Returns whether the section has to be added. `InvalidSection` if it cannot be, appears twice, is
/// nearly another, or cannot be removed.
fn check_section(
    summary: &Summary<'_>,
    section: &str,
    path: &str,
    mode: Mode,
) -> Result<bool, Error> {
    let refused = |message: String, accepted: String| {
        Err(Error::at(Code::InvalidSection, message, "section", accepted))
    };
    match summary.lines_of(section)[..] {
        [_] if mode == Mode::Remove && !summary.is_empty(section) => refused(
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
            if mode == Mode::Remove {
                let names = listed(summary.names());
                let message = format!("there is no section `{given}` to remove, only {names}");
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

fn not_removable(section: &str) -> Error {
    let message = format!(
        "section `{section}` cannot be removed: without its heading, Markdown would read other parts \
         of the summary differently; remove it by hand"
    );
    Error::at(Code::InvalidSection, message, "section", "a section between blank lines".into())
}

fn edit_error(error: EditError, path: &str) -> Error {
    match error {
        EditError::Content(error) => invalid_content(error),
        EditError::Document(finding) => malformed(path, &finding),
    }
}

fn too_long(agent: &str) -> Error {
    let message = format!(
        "with this change `{agent}`'s summary would be longer than {MAX_PARSED_BYTES} bytes: \
         write less, or replace what is out of date"
    );
    Error::new(Code::StorageError, message)
}
