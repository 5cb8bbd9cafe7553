use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, ChangeError, MAX_PARSED_BYTES, in_repository, malformed};
use super::content::{invalid_content, stored_form};
use super::error::{Code, Error};
use super::summary::{EditError, Summary, TEMPLATE};
use crate::names::AgentName;
use crate::storage::{Area, Change, Writer};
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
    /// The absolute path of the top level of the source repository.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: String,
    /// The section's name, exactly, such as `Key Knowledge`. One that is missing is added at the
    /// end.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"\S"))]
    section: String,
    /// Markdown. No headings of level 1 or 2; code fences and HTML closed. Empty clears the section
    /// in mode `replace`.
    #[schemars(length(max = 65536), regex(pattern = r"^$|\S"))]
    content: String,
    /// `append` adds to the section, `replace` puts the content in place of what stands there.
    mode: Mode,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Append,
    Replace,
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
            let accepted = "text; only mode `replace` takes an empty one";
            return Err(Error::at(Code::InvalidInput, message, "content", accepted.into()));
        }
        let agent = Agent::open(call, &input.repo_root, &input.agent_name)?;
        agent.change(|writer| update(&agent, writer, &input.section, &content, input.mode))
    }
}

fn update(
    agent: &Agent<'_>,
    writer: &dyn Writer,
    section: &str,
    content: &str,
    mode: Mode,
) -> Result<Output, ChangeError> {
    agent.schema()?;
    let path = agent.summary_path();
    let document = agent.summary(MAX_PARSED_BYTES)?;
    let before = document.as_ref().map_or(TEMPLATE, |document| document.text.as_str());
    let summary = Summary::of(before);
    let created_section = check_section(&summary, section, &path)?;
    let changed = match mode {
        Mode::Append => summary.append(section, content),
        Mode::Replace => summary.replace(section, content),
    };
    let after = changed.map_err(|error| edit_error(error, &path))?;
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

/// Returns whether the section has to be added. `InvalidSection` if it cannot be, or appears twice.
fn check_section(summary: &Summary<'_>, section: &str, path: &str) -> Result<bool, Error> {
    let refused = |message: String, accepted: &str| {
        Err(Error::at(Code::InvalidSection, message, "section", accepted.to_owned()))
    };
    match summary.lines_of(section)[..] {
        [_] => Ok(false),
        [] if summary.accepts_section(section) => Ok(true),
        [] => {
            let section = section.escape_debug();
            let message = format!(
                "`{section}` cannot be the heading of a new section, because Markdown would read \
                 it differently: use plain words on one line"
            );
            refused(message, "plain words on one line, without blanks at either end")
        }
        [first, second, ..] => {
            let path = in_repository(path);
            let message = format!(
                "section `{section}` appears twice in `{path}`, in lines {first} and {second}: \
                 rename or merge one of them"
            );
            refused(message, "a section that appears once")
        }
    }
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
