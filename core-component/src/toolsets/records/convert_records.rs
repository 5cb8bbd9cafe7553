use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, hidden_rows_message};
use super::agents;
use super::database::{AgentRows, StoredAgent, prepare};
use super::entries::forget_all;
use super::error::{Code, Error};
use super::input::WriteAgent;
use super::json::file_path;
use super::json::{JsonFile, limits};
use super::settings::RecordsSettings;
use super::store::Imported;
use crate::names::AgentName;
use crate::storage::database::Mode;
use crate::storage::{Area, Change, Writer, has_document};
use crate::tool::{Audience, Call, Hints, Tool};

/// The number of records that are inserted at once.
const BATCH: usize = 1_000;

pub(super) struct ConvertRecords;

/// Takes an agent's records to the other format. Until it has ended they stay where they were.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Convert records")]
pub(super) struct Input {
    /// The format to take them to.
    to: Format,
    /// Default `default`.
    agent_id: Option<AgentName>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Sqlite,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Whether they were in the other format.
    converted: bool,
    /// How many records there are.
    records: u64,
    /// That the call named no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Output {
    fn new(converted: bool, records: u64) -> Self {
        Self { converted, records, note: None }
    }
}

impl Tool for ConvertRecords {
    const NAME: &'static str = "convert_records";
    const HINTS: Hints = Hints::ADDS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let WriteAgent { name, note } = WriteAgent::new(input.agent_id, "converted");
        let agent = Agent::open(call, &name)?;
        agent.check_case()?;
        let lock = agent.tree.lock(Some(&agent.scope()))?;
        let converted = match (input.to, agent.file()?) {
            (Format::Sqlite, Some(file)) => file_to_rows(&agent, &*lock, &file),
            (Format::Sqlite, None) => already_rows(&agent),
            (Format::Json, Some(file)) => already_file(&agent, &file),
            (Format::Json, None) => rows_to_file(&agent, &*lock),
        };
        let output = converted.map_err(|error| agents::with_agents(call, agent.name, error))?;
        Ok(Output { note: note.filter(|_| output.converted), ..output })
    }
}

/// Converts an agent's file to rows. Other calls use the file until it is renamed at the end.
fn file_to_rows(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<Output, Error> {
    file.check_utf8()?;
    let version = file.version.as_deref().unwrap_or_default();
    let converted = converted_path(agent);
    check_no_document(agent, &converted)?;
    let Some(database) = agent.database(true)? else { return Err(Error::no_records(agent.name)) };
    let scope = agent.scope();
    let transaction = database.begin(Mode::Write(Some(&scope)))?;
    prepare(&*transaction)?;
    let rows = AgentRows::new(&*transaction, agent.name);
    delete_copy(agent, &rows, file)?;
    let key = rows.begin_copy(version, &file.without_records())?;
    let mut records = file.imported();
    loop {
        let page: Vec<Imported> = records.by_ref().take(BATCH).collect::<Result<_, _>>()?;
        if page.is_empty() {
            break;
        }
        rows.add(key, &page.iter().collect::<Vec<_>>())?;
    }
    transaction.commit().map_err(Error::from_commit)?;
    drop(transaction);
    let rename = Change::Rename {
        area: Area::Documents,
        from: file_path(agent.name),
        to: converted,
        expects: version.to_owned(),
    };
    lock.commit(&[rename]).map_err(|failed| Error::from(failed).after_change())?;
    agent.note_change();
    // Clears the note that the rows are a copy of the file. If another program creates a file at
    // this path later, that file has other contents.
    let transaction = database.begin(Mode::Write(Some(&scope))).map_err(after_change)?;
    AgentRows::new(&*transaction, agent.name).forget_copy(key).map_err(Error::after_change)?;
    transaction.commit().map_err(after_change)?;
    Ok(Output::new(true, file.len() as u64))
}

/// Converts an agent's rows to a file. Other calls use the file as soon as it exists; the rows are
/// deleted last.
fn rows_to_file(agent: &Agent<'_>, lock: &dyn Writer) -> Result<Output, Error> {
    check_no_document(agent, &converted_path(agent))?;
    let no_records = || Error::no_records(agent.name);
    let database = agent.database(false)?.ok_or_else(no_records)?;
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    let rows = AgentRows::new(&*transaction, agent.name);
    let stored = rows.find()?.ok_or_else(no_records)?;
    let (records, bytes) = rows.size(stored.key)?;
    check_size(agent, records, bytes)?;
    prepare(&*transaction)?;
    let text = file_text(agent, &rows, &stored)?;
    let put = Change::Put {
        area: Area::Documents,
        path: file_path(agent.name),
        contents: text.into_bytes(),
        expects: None,
    };
    lock.commit(&[put])?;
    agent.note_change();
    rows.delete(stored.key).map_err(Error::after_change)?;
    transaction.commit().map_err(after_change)?;
    drop(transaction);
    forget_all(agent.call, agent.name);
    Ok(Output::new(true, records))
}

/// Answers for an agent that is in SQLite already. Clears the note that the rows are a copy of a
/// file, which an interrupted conversion may have left.
fn already_rows(agent: &Agent<'_>) -> Result<Output, Error> {
    let no_records = || Error::no_records(agent.name);
    let database = agent.database(false)?.ok_or_else(no_records)?;
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    let rows = AgentRows::new(&*transaction, agent.name);
    let stored = rows.find()?.ok_or_else(no_records)?;
    let (records, _) = rows.size(stored.key)?;
    if stored.copy_of.is_some() {
        prepare(&*transaction)?;
        rows.forget_copy(stored.key)?;
        transaction.commit().map_err(Error::from_commit)?;
    }
    Ok(Output::new(false, records))
}

/// Answers for an agent that is in JSON already. Deletes the rows that an interrupted conversion
/// may have left.
fn already_file(agent: &Agent<'_>, file: &JsonFile) -> Result<Output, Error> {
    if let Some(database) = agent.database(false)? {
        let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
        prepare(&*transaction)?;
        if delete_copy(agent, &AgentRows::new(&*transaction, agent.name), file)? {
            transaction.commit().map_err(Error::from_commit)?;
            drop(transaction);
            forget_all(agent.call, agent.name);
        }
    }
    Ok(Output::new(false, file.len() as u64))
}

/// Deletes the rows of an agent if the agent's file has the same records. Returns whether there
/// were rows.
///
/// # Errors
///
/// `INVALID_INPUT` if the rows hold other records.
fn delete_copy(agent: &Agent<'_>, rows: &AgentRows<'_>, file: &JsonFile) -> Result<bool, Error> {
    let Some(stored) = rows.find()? else { return Ok(false) };
    if !agent.are_in_file(rows, &stored, file)? {
        return Err(hidden_rows(agent.name));
    }
    rows.delete(stored.key)?;
    Ok(true)
}

fn converted_path(agent: &Agent<'_>) -> String {
    format!("{}.converted", file_path(agent.name))
}

/// Fails if the renamed file of an earlier conversion still exists.
fn check_no_document(agent: &Agent<'_>, converted: &str) -> Result<(), Error> {
    if has_document(&*agent.tree, Area::Documents, converted)? {
        return Err(converted_exists(converted));
    }
    Ok(())
}

fn after_change(error: crate::storage::Error) -> Error {
    Error::from(error).after_change()
}

/// Fails early if the rows are too many or too large for a file. `bytes` is the size of the rows as
/// compact JSON. The text of the file is longer, so [`file_text`] checks again.
fn check_size(agent: &Agent<'_>, records: u64, bytes: u64) -> Result<(), Error> {
    let (max_records, max_bytes) = limits(&RecordsSettings::from_context(agent.call.context));
    if records > max_records {
        return Err(over_json_limit(agent.name, &format!("{records} memories"), max_records));
    }
    if bytes > max_bytes {
        return Err(over_json_limit(agent.name, &format!("{bytes} bytes"), max_bytes));
    }
    Ok(())
}

/// Returns the rows as the text of a file.
///
/// # Errors
///
/// `LIMIT_EXCEEDED` if the text is too long for a file.
fn file_text(
    agent: &Agent<'_>,
    rows: &AgentRows<'_>,
    stored: &StoredAgent,
) -> Result<String, Error> {
    let context = agent.call.context;
    let text = rows.document(stored, context.now)?;
    let (_, max_bytes) = limits(&RecordsSettings::from_context(context));
    if text.len() as u64 > max_bytes {
        Err(over_json_limit(agent.name, &format!("{} bytes", text.len()), max_bytes))
    } else {
        Ok(text)
    }
}

fn converted_exists(path: &str) -> Error {
    let message =
        format!("`{path}` exists, the file of an earlier conversion: move it away, or delete it");
    Error::at(Code::InvalidInput, message, "to", "a format without such a file".into())
}

fn hidden_rows(agent: &str) -> Error {
    let accepted = "an agent whose records are in one place";
    Error::at(Code::InvalidInput, hidden_rows_message(agent), "agent_id", accepted.into())
}

fn over_json_limit(agent: &str, actual: &str, max: u64) -> Error {
    let message = format!(
        "agent `{agent}` has {actual}, and JSON holds at most {max}: delete memories, or leave it \
         in SQLite"
    );
    Error::new(Code::LimitExceeded, message)
}
