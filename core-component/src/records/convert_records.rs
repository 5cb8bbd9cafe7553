use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, file_path, rows_are_hidden};
use super::error::{Code, Error};
use super::input::default_agent;
use super::json::{JsonFile, caps};
use super::settings::RecordsSettings;
use super::sqlite::{AgentRows, Known, migrate};
use super::store::Imported;
use crate::names::AgentName;
use crate::storage::database::Mode;
use crate::storage::{Area, Change, Writer, has_document};
use crate::tool::{Audience, Call, Hints, Tool};

/// How many records are handed to storage at once.
const RECORDS_AT_ONCE: usize = 1_000;

pub(super) struct ConvertRecords;

/// Takes an agent's records to the other format. Until it has ended they stay where they were.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Convert records")]
pub(super) struct Input {
    /// The format to take them to.
    to: Format,
    /// Default `default`.
    #[serde(default = "default_agent")]
    agent_id: AgentName,
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
}

impl Tool for ConvertRecords {
    const NAME: &'static str = "convert_records";
    const HINTS: Hints = Hints::ADDS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        agent.check_case()?;
        let lock = agent.tree.lock(Some(&agent.scope()))?;
        match (input.to, agent.file()?) {
            (Format::Sqlite, Some(file)) => file_to_rows(&agent, &*lock, &file),
            (Format::Sqlite, None) => stays_in_rows(&agent),
            (Format::Json, Some(file)) => stays_in_file(&agent, &file),
            (Format::Json, None) => rows_to_file(&agent, &*lock),
        }
    }
}

/// Copies the file to rows, which nobody sees beside it; then renames it, and the rows are seen.
fn file_to_rows(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<Output, Error> {
    let version = file.version.as_deref().unwrap_or_default();
    let converted = converted_path(agent);
    check_absent(agent, &converted)?;
    let Some(database) = agent.database(true)? else { return Err(Error::no_records(agent.name)) };
    let scope = agent.scope();
    let transaction = database.begin(Mode::Write(Some(&scope)))?;
    migrate(&*transaction)?;
    let rows = AgentRows::of(&*transaction, agent.name);
    delete_copy(agent, &rows, file)?;
    let key = rows.begin_copy(version, &file.without_records())?;
    let mut records = file.imported_after(0);
    loop {
        let page: Vec<Imported> =
            records.by_ref().take(RECORDS_AT_ONCE).collect::<Result<_, _>>()?;
        if page.is_empty() {
            break;
        }
        rows.add(key, &page.iter().collect::<Vec<_>>())?;
    }
    transaction.commit().map_err(Error::of_commit)?;
    drop(transaction);
    let rename = Change::Rename {
        area: Area::Documents,
        from: file_path(agent.name),
        to: converted,
        expects: version.to_owned(),
    };
    lock.commit(&[rename]).map_err(|failed| Error::from(failed).may_stand())?;
    agent.note_change();
    // A file that appears here later is a new one: the rows are not a copy of it.
    let transaction = database.begin(Mode::Write(Some(&scope))).map_err(may_stand)?;
    AgentRows::of(&*transaction, agent.name).forget_copy(key).map_err(Error::may_stand)?;
    transaction.commit().map_err(may_stand)?;
    Ok(Output { converted: true, records: file.len() as u64 })
}

/// Writes the rows to a file, which hides them, and deletes them.
fn rows_to_file(agent: &Agent<'_>, lock: &dyn Writer) -> Result<Output, Error> {
    check_absent(agent, &converted_path(agent))?;
    let no_records = || Error::no_records(agent.name);
    let database = agent.database(false)?.ok_or_else(no_records)?;
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    let rows = AgentRows::of(&*transaction, agent.name);
    let known = rows.find()?.ok_or_else(no_records)?;
    let (records, bytes) = rows.size(known.key)?;
    check_size(agent, records, bytes)?;
    migrate(&*transaction)?;
    let text = file_text(agent, &rows, &known)?;
    let put = Change::Put {
        area: Area::Documents,
        path: file_path(agent.name),
        contents: text.into_bytes(),
        expects: None,
    };
    lock.commit(&[put])?;
    agent.note_change();
    rows.delete(known.key).map_err(Error::may_stand)?;
    transaction.commit().map_err(may_stand)?;
    Ok(Output { converted: true, records })
}

/// The agent is in rows; what an interrupted conversion noted of them goes.
fn stays_in_rows(agent: &Agent<'_>) -> Result<Output, Error> {
    let no_records = || Error::no_records(agent.name);
    let database = agent.database(false)?.ok_or_else(no_records)?;
    let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
    let rows = AgentRows::of(&*transaction, agent.name);
    let known = rows.find()?.ok_or_else(no_records)?;
    let (records, _) = rows.size(known.key)?;
    if known.copy_of.is_some() {
        migrate(&*transaction)?;
        rows.forget_copy(known.key)?;
        transaction.commit().map_err(Error::of_commit)?;
    }
    Ok(Output { converted: false, records })
}

/// The agent is in its file; the rows that an interrupted conversion left go.
fn stays_in_file(agent: &Agent<'_>, file: &JsonFile) -> Result<Output, Error> {
    if let Some(database) = agent.database(false)? {
        let transaction = database.begin(Mode::Write(Some(&agent.scope())))?;
        migrate(&*transaction)?;
        if delete_copy(agent, &AgentRows::of(&*transaction, agent.name), file)? {
            transaction.commit().map_err(Error::of_commit)?;
        }
    }
    Ok(Output { converted: false, records: file.len() as u64 })
}

/// Deletes the rows of an agent that are in its file; whether there were any.
///
/// # Errors
///
/// `INVALID_INPUT` where its rows hold something else.
fn delete_copy(agent: &Agent<'_>, rows: &AgentRows<'_>, file: &JsonFile) -> Result<bool, Error> {
    let Some(known) = rows.find()? else { return Ok(false) };
    if !agent.are_in_file(rows, &known, file)? {
        return Err(two_places(agent.name));
    }
    rows.delete(known.key)?;
    Ok(true)
}

fn converted_path(agent: &Agent<'_>) -> String {
    format!("{}.converted", file_path(agent.name))
}

/// Refuses where the file of an earlier conversion stands.
fn check_absent(agent: &Agent<'_>, converted: &str) -> Result<(), Error> {
    match has_document(&*agent.tree, Area::Documents, converted)? {
        false => Ok(()),
        true => Err(in_the_way(converted)),
    }
}

fn may_stand(error: crate::storage::Error) -> Error {
    Error::from(error).may_stand()
}

/// Refuses what is more than a file may hold, as far as that is known without writing it: the bytes
/// are those of memories as compact JSON, which is shorter.
fn check_size(agent: &Agent<'_>, total: u64, bytes: u64) -> Result<(), Error> {
    let (most_records, most_bytes) = caps(&RecordsSettings::of(agent.call.context));
    if total > most_records {
        return Err(too_much(agent.name, &format!("{total} memories"), most_records));
    }
    if bytes > most_bytes {
        return Err(too_much(agent.name, &format!("{bytes} bytes"), most_bytes));
    }
    Ok(())
}

/// The file of these rows, or the refusal of one that would be too long.
fn file_text(agent: &Agent<'_>, rows: &AgentRows<'_>, known: &Known) -> Result<String, Error> {
    let context = agent.call.context;
    let text = rows.document(known, context.now)?;
    let (_, most) = caps(&RecordsSettings::of(context));
    match text.len() as u64 > most {
        true => Err(too_much(agent.name, &format!("{} bytes", text.len()), most)),
        false => Ok(text),
    }
}

fn in_the_way(path: &str) -> Error {
    let message =
        format!("`{path}` is there, the file of an earlier conversion: move it away, or delete it");
    Error::at(Code::InvalidInput, message, "to", "a format without such a file".into())
}

fn two_places(agent: &str) -> Error {
    let accepted = "an agent that is kept in one place";
    Error::at(Code::InvalidInput, rows_are_hidden(agent), "agent_id", accepted.into())
}

fn too_much(agent: &str, has: &str, most: u64) -> Error {
    let message = format!(
        "agent `{agent}` has {has}, and JSON takes {most}: delete memories, or leave it in SQLite"
    );
    Error::new(Code::LimitExceeded, message)
}
