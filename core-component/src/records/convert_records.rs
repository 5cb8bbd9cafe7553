use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, file_path, rows_are_hidden};
use super::error::{Code, Error};
use super::input::default_agent;
use super::json::{JsonFile, caps};
use super::sqlite::{AgentRows, Known, Moving, migrate};
use super::store::Imported;
use crate::names::AgentName;
use crate::storage::database::{Connection, Mode};
use crate::storage::{Change, MAX_DOCUMENT_BYTES, Side, Writer};
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
            (Format::Sqlite, Some(file)) => file_to_rows(&agent, &*lock, &file),
            (Format::Sqlite, None) => tidy(&agent, None),
            (Format::Json, Some(file)) => tidy(&agent, Some(&file)),
            (Format::Json, None) => rows_to_file(&agent, &*lock),
        }
    }
}

fn converted_path(agent: &str) -> String {
    format!("{}.converted", file_path(agent))
}

/// From the file to rows: a page of a copy that nobody sees; when all are copied, they become the
/// agent's; then the file is renamed, and with that the rows are seen.
fn file_to_rows(agent: &Agent<'_>, lock: &dyn Writer, file: &JsonFile) -> Result<Output, Error> {
    let version = file.version.as_deref().unwrap_or_default();
    let earlier = converted(agent, file)?;
    let Some(database) = agent.database(true)? else { return Err(Error::no_records(agent.name)) };
    let transaction = database.begin(Mode::Write)?;
    migrate(&*transaction)?;
    let rows = AgentRows::of(&*transaction, agent.name);
    let total = file.len() as u64;
    if let Some(known) = rows.find()? {
        let is_copy = known.moving == Some(Moving::CopyOf(version.to_owned()));
        let is_left = agent.are_leftovers(&rows, &known, file)?;
        if is_copy || is_left && known.moving == Some(Moving::Unproven) {
            // What comes to stand there once the file is gone is another one.
            rows.set_moving(known.key, Some(Moving::Unproven))?;
            transaction.commit()?;
            retire_file(agent, lock, file, earlier).map_err(Error::may_stand)?;
            return Ok(Output::step(total, total));
        }
        if !is_left {
            return Err(two_homes(agent.name));
        }
        // Of another version of the file, or of a conversion the other way.
        rows.mark_deleted(known.key)?;
    }
    let key = rows.begin_copy(version)?;
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
    match agent.tree.read(Side::Documents, &path, MAX_DOCUMENT_BYTES)? {
        None => Ok(None),
        Some(document) if document.contents == file.text.as_bytes() => Ok(Some(document.version)),
        Some(_) => Err(in_the_way(&path)),
    }
}

fn retire_file(
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

/// From rows to the file: they are marked first, so that after the file is there they are known for
/// what is left of them, whenever this ends.
///
/// Both under the tree's lock: who sees the mark waits for that, and who had not seen it changes rows
/// before the file is written, or sees it then.
fn rows_to_file(agent: &Agent<'_>, lock: &dyn Writer) -> Result<Output, Error> {
    let path = converted_path(agent.name);
    let entries = agent.tree.list(Side::Documents, "")?.unwrap_or_default();
    if entries.iter().any(|entry| entry.name == path) {
        return Err(in_the_way(&path));
    }
    let database = agent.database(false)?.ok_or_else(|| Error::no_records(agent.name))?;
    let mut step = step_to_file(agent, lock, &*database)?;
    if let ToFile::Marked = step {
        step = step_to_file(agent, lock, &*database).map_err(Error::may_stand)?;
    }
    match step {
        ToFile::Marked => Err(agent.moving()),
        ToFile::Written(total) => Ok(Output::step(total, total)),
        ToFile::Refused(error) => Err(error),
    }
}

/// What a transaction has come to on the way to a file.
enum ToFile {
    Marked,
    /// So many records.
    Written(u64),
    /// The rows are not marked, and not moving.
    Refused(Error),
}

/// Writes the file where the rows are marked, or else marks them.
fn step_to_file(
    agent: &Agent<'_>,
    lock: &dyn Writer,
    database: &dyn Connection,
) -> Result<ToFile, Error> {
    // No row changes until it ends.
    let transaction = database.begin(Mode::Write)?;
    let rows = AgentRows::of(&*transaction, agent.name);
    let known = rows.find()?.ok_or_else(|| Error::no_records(agent.name))?;
    let (total, bytes) = rows.size(known.key)?;
    let fits = check_size(agent, total, bytes);
    if known.moving != Some(Moving::Unproven) {
        fits?;
        migrate(&*transaction)?;
        rows.set_moving(known.key, Some(Moving::Unproven))?;
        transaction.commit()?;
        return Ok(ToFile::Marked);
    }
    let text = match fits {
        Ok(()) => file_text(agent, &rows, &known)?,
        Err(refused) => Err(refused),
    };
    match text {
        Ok(text) => {
            let (path, contents) = (file_path(agent.name), text.into_bytes());
            let put = Change::Put { side: Side::Documents, path, contents, expects: None };
            let version = lock.commit(&[put])?.pop().unwrap_or_default();
            rows.set_moving(known.key, Some(Moving::CopyOf(version)))?;
            transaction.commit()?;
            Ok(ToFile::Written(total))
        }
        Err(refused) => {
            rows.set_moving(known.key, None)?;
            transaction.commit()?;
            Ok(ToFile::Refused(refused))
        }
    }
}

/// Refuses what is more than a file may hold, as far as that is known without writing it: the bytes
/// are those of memories as compact JSON, which is shorter.
fn check_size(agent: &Agent<'_>, total: u64, bytes: u64) -> Result<(), Error> {
    let (most_records, most_bytes) = caps(&agent.call.context.settings.records);
    if total > most_records {
        return Err(too_much(agent.name, &format!("{total} memories"), most_records));
    }
    if bytes > most_bytes {
        return Err(too_much(agent.name, &format!("{bytes} bytes"), most_bytes));
    }
    Ok(())
}

/// The file of these rows, or the refusal of one that would be too long.
fn file_text(
    agent: &Agent<'_>,
    rows: &AgentRows<'_>,
    known: &Known,
) -> Result<Result<String, Error>, Error> {
    let context = agent.call.context;
    let text = rows.document(known, context.now)?;
    let (_, most) = caps(&context.settings.records);
    Ok(match text.len() as u64 > most {
        true => Err(too_much(agent.name, &format!("{} bytes", text.len()), most)),
        false => Ok(text),
    })
}

/// After a conversion: what is left of the rows that are no longer the agent's goes, and an agent
/// that is there is no longer moving.
fn tidy(agent: &Agent<'_>, file: Option<&JsonFile>) -> Result<Output, Error> {
    let in_file = file.map(|file| file.len() as u64);
    let finished = |total| Output { done: total, total, finished: true };
    let no_records = || Error::no_records(agent.name);
    let Some(database) = agent.database(false)? else {
        return in_file.map(finished).ok_or_else(no_records);
    };
    let transaction = database.begin(Mode::Write)?;
    let rows = AgentRows::of(&*transaction, agent.name);
    let known = rows.find()?;
    let total = match (in_file, &known) {
        (Some(total), _) => total,
        (None, Some(known)) => rows.size(known.key)?.0,
        (None, None) => return Err(no_records()),
    };
    match (known, file) {
        (Some(known), Some(file)) => {
            if !agent.are_leftovers(&rows, &known, file)? {
                return Err(two_homes(agent.name));
            }
            migrate(&*transaction)?;
            rows.mark_deleted(known.key)?;
        }
        (Some(Known { key, moving: Some(_), .. }), None) => {
            migrate(&*transaction)?;
            rows.set_moving(key, None)?;
        }
        _ if rows.delete_marked(MAX_RECORDS as u32)? => (),
        _ => return Ok(finished(total)),
    }
    transaction.commit()?;
    Ok(Output::step(total, total))
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
