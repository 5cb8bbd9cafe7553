use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, file_path, rows_are_hidden};
use super::error::{Code, Error};
use super::input::default_agent;
use super::json::{JsonFile, MAX_FILE_BYTES, caps};
use super::sqlite::{Moving, Pages, Position, Style, migrate};
use super::store::Imported;
use crate::names::AgentName;
use crate::storage::database::{Mode, Transaction};
use crate::storage::{Change, Side, Writer};
use crate::tool::{Audience, Call, Hints, Tool};

/// The most of one call, but for the file that is written whole.
const MAX_RECORDS: usize = 5_000;
const MAX_BYTES: usize = 4 << 20;

pub(super) struct ConvertRecords;

/// Takes an agent's records to the other format, a step a call: call it until `finished`. Until
/// then they stay where they are, and whoever ends early may go on, or go back.
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
    /// How many records are there in the new format.
    done: u64,
    total: u64,
    /// Whether nothing is left to do.
    finished: bool,
}

impl Output {
    fn step(done: u64, total: u64) -> Self {
        Self { done, total, finished: false }
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
        let agent = Agent::open(call, &input.agent_id)?;
        agent.check_case()?;
        // Nobody changes the file, or makes it, meanwhile.
        let lock = agent.tree.lock()?;
        match (input.to, agent.file()?) {
            (Format::Sqlite, Some(file)) => copy(&agent, &*lock, &file),
            (Format::Sqlite, None) => tidy(&agent, None),
            (Format::Json, Some(file)) => tidy(&agent, Some(&file)),
            (Format::Json, None) => write(&agent, &*lock),
        }
    }
}

fn converted_path(agent: &str) -> String {
    format!("{}.converted", file_path(agent))
}

/// From the file to rows: a page of a copy that nobody sees; when all are copied, they become the
/// agent's; then the file is renamed, and with that the rows are seen.
fn copy(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<Output, Error> {
    let version = file.version.as_deref().unwrap_or_default();
    let earlier = converted(agent, file)?;
    let Some(database) = agent.database(true)? else { return Err(Error::no_records(agent.name)) };
    let transaction = database.begin(Mode::Write)?;
    migrate(&*transaction)?;
    let rows = Moving::of(&*transaction, agent.name);
    let total = file.len() as u64;
    if let Some(known) = rows.known()? {
        match known.moving.as_deref() {
            None => return Err(two_homes(agent.name)),
            Some(moving) if moving == version => {
                drop(transaction);
                rename(agent, lock, file, earlier)?;
                return Ok(Output::step(total, total));
            }
            // Of another version of the file, or of a conversion the other way.
            Some(_) => rows.leave(known.key)?,
        }
    }
    let key = rows.copy_of(version)?;
    let (start, _) = rows.size(key)?;
    let mut page: Vec<Imported> = Vec::new();
    let mut bytes = 0;
    for record in file.imported_after(start as usize).take(MAX_RECORDS) {
        if bytes >= MAX_BYTES {
            break;
        }
        let record = record?;
        bytes += record.memory.content.len() + record.original.as_ref().map_or(0, String::len);
        page.push(record);
    }
    rows.add(key, &page.iter().collect::<Vec<_>>())?;
    let done = start + page.len() as u64;
    if done == total {
        rows.complete(key, version, &file.without_records())?;
    }
    transaction.commit()?;
    Ok(Output::step(done, total))
}

/// The version of an earlier try to rename the file.
///
/// # Errors
///
/// `INVALID_INPUT` where another file has that name.
fn converted(agent: &Agent<'_>, file: &JsonFile) -> Result<Option<String>, Error> {
    let path = converted_path(agent.name);
    match agent.tree.read(Side::Documents, &path, MAX_FILE_BYTES)? {
        None => Ok(None),
        Some(document) if document.contents == file.text.as_bytes() => Ok(Some(document.version)),
        Some(_) => Err(in_the_way(&path)),
    }
}

fn rename(
    agent: &Agent<'_>,
    lock: &dyn Writer,
    file: &JsonFile,
    earlier: Option<String>,
) -> Result<(), Error> {
    let side = Side::Documents;
    let expects = file.version.clone().unwrap_or_default();
    let mut changes = Vec::new();
    if earlier.is_none() {
        let contents = file.text.clone().into_bytes();
        changes.push(Change::Put {
            side,
            path: converted_path(agent.name),
            contents,
            expects: None,
        });
    }
    changes.push(Change::Delete { side, path: file_path(agent.name), expects });
    lock.commit(&changes)?;
    Ok(())
}

/// From rows to the file: they are marked first, so that after the file is there nobody takes them
/// for anything but what is left of them.
fn write(agent: &Agent<'_>, lock: &dyn Writer) -> Result<Output, Error> {
    let path = converted_path(agent.name);
    let entries = agent.tree.list(Side::Documents, "")?.unwrap_or_default();
    if entries.iter().any(|entry| entry.name == path) {
        return Err(in_the_way(&path));
    }
    let no_records = || Error::no_records(agent.name);
    let database = agent.database(false)?.ok_or_else(no_records)?;
    // No row changes until the file is there.
    let transaction = database.begin(Mode::Write)?;
    let rows = Moving::of(&*transaction, agent.name);
    let known = rows.known()?.ok_or_else(no_records)?;
    let (total, bytes) = rows.size(known.key)?;
    let (most_records, most_bytes) = caps(&agent.call.context.settings.records);
    if total > most_records {
        return Err(too_much(agent.name, &format!("{total} memories"), most_records));
    }
    // Of memories as compact JSON, which is shorter than the file.
    if bytes > most_bytes {
        return Err(too_much(agent.name, &format!("{bytes} bytes"), most_bytes));
    }
    if known.moving.is_none() {
        migrate(&*transaction)?;
        rows.set_moving(known.key, Some(""))?;
        transaction.commit()?;
        return Ok(Output::step(0, total));
    }
    let pages = Pages::of(&*transaction, &known, Style::Document, agent.call.context.now)?;
    let text = pages.page(Position::START, u64::MAX, usize::MAX)?.text;
    if text.len() as u64 > most_bytes {
        return Err(too_much(agent.name, &format!("{} bytes", text.len()), most_bytes));
    }
    let path = file_path(agent.name);
    let contents = text.into_bytes();
    lock.commit(&[Change::Put { side: Side::Documents, path, contents, expects: None }])?;
    Ok(Output::step(total, total))
}

/// After a conversion: what is left of the rows that are no longer the agent's goes, and an agent
/// that is there is no longer moving.
fn tidy(agent: &Agent<'_>, file: Option<&JsonFile>) -> Result<Output, Error> {
    let in_file = file.map(|file| file.len() as u64);
    let done = |total| Output { done: total, total, finished: true };
    let no_records = || Error::no_records(agent.name);
    let Some(database) = agent.database(false)? else {
        return in_file.map(done).ok_or_else(no_records);
    };
    let transaction = database.begin(Mode::Write)?;
    let rows = Moving::of(&*transaction, agent.name);
    let known = rows.known()?;
    let total = match (in_file, &known) {
        (Some(total), _) => total,
        (None, Some(known)) => rows.size(known.key)?.0,
        (None, None) => return Err(no_records()),
    };
    let changes = change_of_tidying(agent.name, &rows, &*transaction, file.is_some())?;
    if !changes {
        return Ok(done(total));
    }
    transaction.commit()?;
    Ok(Output::step(total, total))
}

/// Whether there was anything to do.
fn change_of_tidying(
    agent: &str,
    rows: &Moving<'_>,
    transaction: &dyn Transaction,
    has_file: bool,
) -> Result<bool, Error> {
    match rows.known()? {
        Some(known) if known.moving.is_some() => {
            migrate(transaction)?;
            match has_file {
                true => rows.leave(known.key)?,
                false => rows.set_moving(known.key, None)?,
            }
            Ok(true)
        }
        Some(_) if has_file => Err(two_homes(agent)),
        _ => rows.delete_left(MAX_RECORDS as u32),
    }
}

fn in_the_way(path: &str) -> Error {
    let message =
        format!("`{path}` is there, the file of an earlier conversion: move it away, or delete it");
    Error::at(Code::InvalidInput, message, "to", "a format without such a file".into())
}

fn two_homes(agent: &str) -> Error {
    let accepted = "an agent that is kept in one place";
    Error::at(Code::InvalidInput, rows_are_hidden(agent), "agent_id", accepted.into())
}

fn too_much(agent: &str, has: &str, most: u64) -> Error {
    let message = format!(
        "agent `{agent}` has {has}, and JSON takes {most}: delete memories, or leave it in SQLite"
    );
    Error::new(Code::LimitExceeded, message)
}
