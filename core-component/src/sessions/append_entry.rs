use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, AgentName, in_repository};
use super::error::{Code, Error};
use super::log::Owner;
use super::schema::Schema;
use super::start_session::parse_log;
use crate::markdown::Offence;
use crate::storage::{Change, ErrorCode, Side, Writer};
use crate::text::{self, is_blank};
use crate::time::Date;
use crate::tool::{Call, Hints, Tool};

/// How often an append is made anew because the log was changed, by a program that takes no lock,
/// between our reading and our writing.
const ATTEMPTS: usize = 4;

pub(super) struct AppendEntry;

/// Adds an entry at the end of a section of an agent's session log: what was discussed, decided,
/// left open or planned. Needs a session that `start_session` has started. Never changes what is
/// there; refuses text that would break the log's structure.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Append an entry")]
pub(super) struct Input {
    /// The agent's name, the same in every session.
    agent_name: AgentName,
    /// The absolute path of the top level of the source repository.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: String,
    /// The day of the session, `YYYY-MM-DD`. Leave it out for today.
    date: Option<Date>,
    /// The section's name, exactly: `Context`, `Discussion Summary`, `Decisions`,
    /// `Open Questions` or `Next Actions`, unless the agent's `_schema.md` names others.
    #[schemars(length(min = 1, max = 100))]
    section: String,
    /// Markdown, best one list item or paragraph. No headings of level 1 or 2; code fences and
    /// HTML closed.
    #[schemars(length(min = 1, max = 65536), regex(pattern = r"\S"))]
    content: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// The log's path, relative to `repo_root`.
    session_file: String,
    /// The section that holds the entry.
    section: String,
    /// What differs between the log, its schema and this program.
    warnings: Vec<String>,
}

impl Tool for AppendEntry {
    const NAME: &'static str = "append_entry";
    const HINTS: Hints = Hints::ADDS;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let content = normalise(&input.content)?;
        let date = input.date.unwrap_or_else(|| call.context.today());
        let agent = Agent::open(call, &input.repo_root, &input.agent_name)?;
        let owner = Owner { agent: agent.name, date };
        let writer = agent.tree().lock()?;
        let mut attempt = 1;
        loop {
            match append(&agent, &*writer, owner, &input.section, &content) {
                Err(Failed::Changed(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(Failed::Changed(error) | Failed::For(error)) => return Err(error),
                Ok(output) => return Ok(output),
            }
        }
    }
}

enum Failed {
    /// Somebody else changed the log meanwhile.
    Changed(Error),
    For(Error),
}

impl<E: Into<Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::For(error.into())
    }
}

fn append(
    agent: &Agent<'_>,
    writer: &dyn Writer,
    owner: Owner<'_>,
    section: &str,
    content: &str,
) -> Result<Output, Failed> {
    let schema = agent.schema()?.schema;
    check_section(&schema, section)?;
    let path = agent.log_path(owner.date);
    let Some(document) = agent.read(&path)? else {
        return Err(not_started(owner).into());
    };
    let log = parse_log(&document.text, &schema, owner, &path)?;
    let text = log.append(section, content, owner).map_err(invalid_content)?;
    let warnings = schema.warning().into_iter().chain(log.warnings()).collect();
    let put = Change::Put {
        side: Side::Documents,
        path: path.clone(),
        contents: text.into_bytes(),
        expects: Some(document.version),
    };
    writer.commit(&[put]).map_err(|failed| match failed.error.code {
        ErrorCode::VersionMismatch => Failed::Changed(failed.into()),
        _ => Failed::For(failed.into()),
    })?;
    Ok(Output { session_file: in_repository(&path), section: section.to_owned(), warnings })
}

/// The text as it is stored: line feeds only, and no blank lines around it.
fn normalise(content: &str) -> Result<String, Error> {
    let content = text::normalise(content).map_err(|forbidden| {
        let code = u32::from(forbidden.character);
        let what = format!("holds the control character U+{code:04X}: remove it");
        invalid_content(Offence::new(forbidden.line, what))
    })?;
    let lines = || text::lines(&content).filter(|(_, line)| !is_blank(line));
    let start = lines().next().map_or(0, |(at, _)| at);
    let end = lines().last().map_or(0, |(at, line)| at + line.len());
    Ok(content[start..end].to_owned())
}

fn check_section(schema: &Schema, section: &str) -> Result<(), Error> {
    if schema.sections.iter().any(|known| known == section) {
        return Ok(());
    }
    let known: Vec<_> = schema.sections.iter().map(|known| format!("`{known}`")).collect();
    let known = known.join(", ");
    let message =
        format!("section `{section}` is not defined in the schema; its sections are {known}");
    Err(Error::at(Code::InvalidSection, message, "section", format!("one of {known}")))
}

fn not_started(owner: Owner<'_>) -> Error {
    let Owner { agent, date } = owner;
    let message = format!("`{agent}` has no session log of {date}: call `start_session` first");
    Error::new(Code::SessionNotFound, message)
}

fn invalid_content(offence: Offence) -> Error {
    let message = format!("line {} of `content` {}", offence.line, offence.what);
    Error::new(Code::InvalidContent, message)
}
