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
use crate::storage::{Area, Change, MAX_DOCUMENT_BYTES, Writer, has_document};
use crate::tool::{Audience, Call, Hints, Tool};

/// The number of records that are inserted at once.
const BATCH: usize = 1_000;

/// The suffix that a conversion to SQLite adds to the name of the file: `<agent>.json.converted`.
pub(super) const CONVERTED_END: &str = ".converted";

/// The suffix of the document that saves the rows of an interrupted conversion:
/// `<agent>.json.hidden`.
pub(super) const HIDDEN_END: &str = ".hidden";

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
            (Format::Json, Some(file)) => already_file(&agent, &*lock, &file),
            (Format::Json, None) => rows_to_file(&agent, &*lock),
        };
        let output = converted.map_err(|error| agents::with_agents(call, agent.name, error))?;
        Ok(Output { note: note.filter(|_| output.converted), ..output })
    }
}

/// Converts an agent's file to rows.
fn file_to_rows(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<Output, Error> {
    file.check_utf8()?;
    if !agent.tree.has_atomic_commits() {
        check_no_document(agent, &converted_path(agent))?;
    }
    let has_kept = keep_left_rows(agent, lock, file)?;
    copy_to_rows(agent, lock, file).map_err(|error| after_keeping(has_kept, error))
}

/// Copies the file to rows and moves it out of the way. On a database server, both are one
/// transaction. On a file system, other calls use the file until it is renamed at the end.
fn copy_to_rows(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<Output, Error> {
    let version = file.version.as_deref().unwrap_or_default();
    let Some(database) = agent.database(true)? else { return Err(Error::no_records(agent.name)) };
    let scope = agent.scope();
    let transaction = database.begin(Mode::Write(Some(&scope)))?;
    prepare(&*transaction)?;
    let rows = AgentRows::new(&*transaction, agent.name);
    delete_hidden(agent, &rows, file)?;
    let key = rows.begin_copy(version, &file.without_records())?;
    let mut records = file.imported();
    loop {
        let page: Vec<Imported> = records.by_ref().take(BATCH).collect::<Result<_, _>>()?;
        if page.is_empty() {
            break;
        }
        rows.add(key, &page.iter().collect::<Vec<_>>())?;
    }
    let converted = Output::new(true, file.len() as u64);
    let from = file_path(agent.name);
    let to = converted_path(agent);
    let expects = version.to_owned();
    let area = Area::Documents;
    if agent.tree.has_atomic_commits() {
        // The commit of the rows also commits these changes: between two commits, another server
        // could change the file. The copy replaces the copy of an earlier conversion, if there is
        // one.
        let copy = Change::Copy { area, from: from.clone(), to, expects: expects.clone() };
        lock.commit(&[copy, Change::Delete { area, path: from, expects }])?;
        rows.forget_copy(key)?;
        transaction.commit().map_err(Error::from_commit)?;
        agent.note_change();
        return Ok(converted);
    }
    transaction.commit().map_err(Error::from_commit)?;
    drop(transaction);
    let rename = Change::Rename { area, from, to, expects };
    lock.commit(&[rename]).map_err(|failed| Error::from(failed).after_change())?;
    agent.note_change();
    // Clears the note that the rows are a copy of the file. Otherwise, if another program creates a
    // file at this path later, the rows would count as an old copy of it.
    let transaction = database.begin(Mode::Write(Some(&scope))).map_err(after_change)?;
    AgentRows::new(&*transaction, agent.name).forget_copy(key).map_err(Error::after_change)?;
    transaction.commit().map_err(after_change)?;
    Ok(converted)
}

/// Converts an agent's rows to a file. On a database server, one transaction writes the file,
/// deletes the rows, and deletes the copy that an earlier conversion to rows has left. On a file
/// system, other calls use the file as soon as it exists, and the rows are deleted last.
fn rows_to_file(agent: &Agent<'_>, lock: &dyn Writer) -> Result<Output, Error> {
    let is_one_commit = agent.tree.has_atomic_commits();
    let converted = converted_path(agent);
    let area = Area::Documents;
    let mut changes = Vec::new();
    if !is_one_commit {
        check_no_document(agent, &converted)?;
    } else if let Some(copy) = agent.tree.read(area, &converted, MAX_DOCUMENT_BYTES)? {
        changes.push(Change::Delete { area, path: converted, expects: copy.version });
    }
    let no_records = || Error::no_records(agent.name);
    let database = agent.database(false)?.ok_or_else(no_records)?;
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    let rows = AgentRows::new(&*transaction, agent.name);
    let stored = rows.find()?.ok_or_else(no_records)?;
    let (records, bytes) = rows.size(stored.key)?;
    check_size(agent, records, bytes)?;
    prepare(&*transaction)?;
    let text = file_text(agent, &rows, &stored)?;
    let contents = text.into_bytes();
    changes.push(Change::Put { area, path: file_path(agent.name), contents, expects: None });
    lock.commit(&changes)?;
    agent.note_change();
    let failed = |error: Error| if is_one_commit { error } else { error.after_change() };
    rows.delete(stored.key).map_err(failed)?;
    transaction.commit().map_err(|error| failed(Error::from_commit(error)))?;
    drop(transaction);
    forget_all(agent.call, agent.name);
    Ok(Output::new(true, records))
}

/// Answers for an agent whose records are rows already. Clears the note that the rows are a copy of
/// a file, which an interrupted conversion may have left.
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

/// Answers for an agent whose records are in a file already. Deletes the rows that an interrupted
/// conversion may have left. If they differ from the file, they are first saved in `<agent>.json.hidden`.
fn already_file(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<Output, Error> {
    let has_kept = keep_left_rows(agent, lock, file)?;
    delete_all_hidden(agent, file).map_err(|error| after_keeping(has_kept, error))?;
    Ok(Output::new(false, file.len() as u64))
}

fn delete_all_hidden(agent: &Agent<'_>, file: &JsonFile) -> Result<(), Error> {
    let Some(database) = agent.database(false)? else { return Ok(()) };
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    prepare(&*transaction)?;
    if delete_hidden(agent, &AgentRows::new(&*transaction, agent.name), file)? {
        transaction.commit().map_err(Error::from_commit)?;
        drop(transaction);
        forget_all(agent.call, agent.name);
    }
    Ok(())
}

/// If an interrupted conversion has left rows, and the agent's file has other records, saves the
/// rows in a document. Returns whether it saved them.
///
/// Most often the file was changed after the conversion, and the rows are old. But the conversion
/// may have renamed the file, and another program may have created a new one: then only the rows
/// have the records. On a database server, no other program creates a file, so the rows are always
/// old.
fn keep_left_rows(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<bool, Error> {
    if agent.tree.has_atomic_commits() || !agent.has_rows()? {
        return Ok(false);
    }
    let Some(database) = agent.database(false)? else { return Ok(false) };
    let view = database.begin(Mode::Read)?;
    let rows = AgentRows::new(&*view, agent.name);
    let Some(stored) = rows.find()? else { return Ok(false) };
    if stored.copy_of.is_none() || agent.are_in_file(&rows, &stored, file)? {
        return Ok(false);
    }
    let contents = rows.document(&stored, agent.call.context.now)?.into_bytes();
    drop(view);
    let path = format!("{}{HIDDEN_END}", file_path(agent.name));
    match agent.tree.read(Area::Documents, &path, MAX_DOCUMENT_BYTES)? {
        Some(document) if document.contents == contents => Ok(false),
        Some(_) => Err(document_exists(&path)),
        None => {
            lock.commit(&[Change::Put { area: Area::Documents, path, contents, expects: None }])?;
            Ok(true)
        }
    }
}

/// Adds to the error that something has changed, if [`keep_left_rows`] has saved rows.
fn after_keeping(has_kept: bool, error: Error) -> Error {
    if has_kept { error.after_change() } else { error }
}

/// Deletes the rows of an agent that its file hides, if an interrupted conversion has left them, or if
/// the file has the same records. Returns whether there were rows.
///
/// # Errors
///
/// `INVALID_INPUT` if the rows hold other records, and no conversion has left them.
fn delete_hidden(agent: &Agent<'_>, rows: &AgentRows<'_>, file: &JsonFile) -> Result<bool, Error> {
    let Some(stored) = rows.find()? else { return Ok(false) };
    if stored.copy_of.is_none() && !agent.are_in_file(rows, &stored, file)? {
        return Err(hidden_rows(agent.name));
    }
    rows.delete(stored.key)?;
    Ok(true)
}

fn converted_path(agent: &Agent<'_>) -> String {
    format!("{}{CONVERTED_END}", file_path(agent.name))
}

/// Fails if the renamed file of an earlier conversion still exists.
fn check_no_document(agent: &Agent<'_>, converted: &str) -> Result<(), Error> {
    if has_document(&*agent.tree, Area::Documents, converted)? {
        return Err(document_exists(converted));
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

fn document_exists(path: &str) -> Error {
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
