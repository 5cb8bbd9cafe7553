use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, AgentWriter, ChangeError, MAX_PARSED_BYTES, in_repository, parse_log};
use super::content::{invalid_content, stored_form};
use super::error::{Code, Error};
use super::log::LogId;
use super::schema::Schema;
use crate::names::AgentName;
use crate::storage::{Area, Change};
use crate::time::Date;
use crate::tool::{Call, Hints, Tool};

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
    /// The absolute path of the repository's top level. Leave it out if only one is granted.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: Option<String>,
    /// The day of the session, `YYYY-MM-DD`. Leave it out for today.
    date: Option<Date>,
    /// The section's name, exactly: `Context`, `Discussion Summary`, `Decisions`,
    /// `Open Questions` or `Next Actions`, unless the agent's `_schema.md` names others.
    #[schemars(length(min = 1, max = 100))]
    section: String,
    /// Markdown, best one list item or paragraph. `- [x]` with the text of an earlier question or
    /// action closes it. No headings of level 1 or 2; code fences and HTML closed.
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
    /// What differs between the log, its schema and this program, and a heading above the entry.
    warnings: Vec<String>,
}

impl Tool for AppendEntry {
    const NAME: &'static str = "append_entry";
    const HINTS: Hints = Hints::ADDS;
    const IS_ALWAYS_VISIBLE: bool = true;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let content = stored_form(&input.content)?;
        let date = input.date.unwrap_or_else(|| call.context.today());
        let agent = Agent::open(call, input.repo_root.as_deref(), &input.agent_name)?;
        let id = LogId { agent: agent.name, date };
        agent.change(call, |writer| append(call, &agent, writer, id, &input.section, &content))
    }
}

fn append(
    call: &Call<'_>,
    agent: &Agent<'_>,
    writer: &AgentWriter<'_>,
    id: LogId<'_>,
    section: &str,
    content: &str,
) -> Result<Output, ChangeError> {
    let schema = agent.schema()?.schema;
    check_section(&schema, section)?;
    let path = agent.log_path(id.date);
    let Some(document) = agent.log(id.date)? else {
        return Err(not_started(call, agent, id)?.into());
    };
    let log = parse_log(&document.text, &schema, id, &path)?;
    let text = log.append(section, content, id).map_err(invalid_content)?;
    if text.len() as u64 > MAX_PARSED_BYTES {
        return Err(too_long(id, text.len()).into());
    }
    let mut warnings = log.all_warnings();
    warnings.extend(log.heading_above(section, content).map(|finding| finding.what));
    let put = Change::Put {
        area: Area::Documents,
        path: path.clone(),
        contents: text.into_bytes(),
        expects: Some(document.version),
    };
    writer.commit(&[put])?;
    Ok(Output { session_file: in_repository(&path), section: section.to_owned(), warnings })
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

/// The error `SessionNotFound`. If the agent has no log at all, the message says which agents there
/// are.
fn not_started(call: &Call<'_>, agent: &Agent<'_>, id: LogId<'_>) -> Result<Error, Error> {
    let LogId { agent: name, date } = id;
    let mut message = format!("`{name}` has no session log of {date}: call `start_session` first");
    if agent.sessions()?.is_empty() {
        message.extend(agent.others(call)?.map(|others| format!("; {others}")));
    }
    Ok(Error::new(Code::SessionNotFound, message))
}

fn too_long(id: LogId<'_>, bytes: usize) -> Error {
    let LogId { agent, date } = id;
    let message = format!(
        "with this entry `{agent}`'s log of {date} would have {bytes} bytes, and {MAX_PARSED_BYTES} \
         are allowed: write less, or go on in the log of another day"
    );
    Error::new(Code::StorageError, message)
}
