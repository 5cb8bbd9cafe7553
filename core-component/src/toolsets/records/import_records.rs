use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::{Code, Error};
use super::input::WriteAgent;
use super::json::{ImportText, without_byte_order_mark};
use super::store::Purpose;
use super::store::{Imported, Writer};
use crate::listing::first_clauses;
use crate::names::AgentName;
use crate::tool::{Audience, Call, Hints, Tool};

/// The maximum number of records that one call imports.
const MAX_RECORDS: usize = 5_000;

/// The maximum number of lines that an error message names.
const MAX_NAMED: usize = 10;

pub(super) struct ImportRecords;

/// Imports records with their ids and timestamps, one page a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Import records")]
pub(super) struct Input {
    /// Records as JSON Lines, or a document of the JSON format.
    records: String,
    /// Default `default`.
    agent_id: Option<AgentName>,
    /// What becomes of a record whose id is taken.
    #[serde(default)]
    on_conflict: OnConflict,
    /// The number of the first line.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    first_line: u32,
    /// Where the last call with these `records` stopped.
    #[schemars(length(min = 1, max = 20))]
    cursor: Option<String>,
}

fn first() -> u32 {
    1
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OnConflict {
    #[default]
    Refuse,
    Skip,
    Replace,
}

#[derive(Clone, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Records of this page that are new.
    added: usize,
    replaced: usize,
    skipped: usize,
    /// For the next call; absent after the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// That the call named no agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Records with their line numbers.
type Page = Vec<(usize, Imported)>;

/// A line number, and the fault of the record in this line.
type LineError = (usize, String);

impl Tool for ImportRecords {
    const NAME: &'static str = "import_records";
    const HINTS: Hints = Hints::OVERWRITES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let WriteAgent { name, note } = WriteAgent::new(input.agent_id, "imported");
        let agent = Agent::open(call, &name)?;
        let line = |line: usize| line + input.first_line as usize - 1;
        let records = ImportText::parse(without_byte_order_mark(&input.records))
            .map_err(|(at, message)| import_error(vec![(line(at), message)], "records"))?;
        let start = match &input.cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| Error::invalid_cursor(cursor))?,
        };
        let mut page = Page::new();
        let mut errors = Vec::new();
        for (at, record) in records.page(start, MAX_RECORDS) {
            match record {
                Ok(record) => page.push((line(at), record)),
                Err(message) => errors.push((line(at), message)),
            }
        }
        if !errors.is_empty() {
            return Err(import_error(errors, "records"));
        }
        // All pages of an import are one change: only the first page makes a backup.
        let is_first = input.first_line == 1 && input.cursor.is_none();
        let purpose = if is_first { Purpose::Change } else { Purpose::Continuation };
        let end = start + page.len();
        let mut output = if page.is_empty() {
            Output::default()
        } else {
            agent.change(purpose, |writer| import(writer, &page, input.on_conflict))?
        };
        output.cursor = (end < records.len()).then(|| end.to_string());
        output.note = note;
        Ok(output)
    }
}

fn import(writer: &mut dyn Writer, page: &Page, on_conflict: OnConflict) -> Result<Output, Error> {
    let ids: Vec<&str> = page.iter().map(|(_, record)| record.memory.id.as_str()).collect();
    let existing = writer.existing_ids(&ids)?;
    let mut output = Output::default();
    let mut conflicts = Vec::new();
    let mut replaced = BTreeSet::new();
    // For each id, the index in `added` of the record with this id.
    let mut added_ids: BTreeMap<&str, usize> = BTreeMap::new();
    let mut added: Vec<&Imported> = Vec::with_capacity(page.len());
    for (line, record) in page {
        let id = record.memory.id.as_str();
        let earlier = added_ids.get(id).copied();
        match (existing.contains(id) || earlier.is_some(), on_conflict) {
            (false, _) => output.added += 1,
            (true, OnConflict::Refuse) => {
                conflicts.push((*line, format!("the id `{id}` exists already")));
                continue;
            }
            (true, OnConflict::Skip) => {
                output.skipped += 1;
                continue;
            }
            (true, OnConflict::Replace) => {
                output.replaced += 1;
                if let Some(earlier) = earlier {
                    added[earlier] = record;
                    continue;
                }
                replaced.insert(id);
            }
        }
        added_ids.insert(id, added.len());
        added.push(record);
    }
    if !conflicts.is_empty() {
        return Err(import_error(conflicts, "on_conflict"));
    }
    for id in replaced {
        if let Some(before) = writer.find(id)? {
            writer.remove(&before)?;
        }
    }
    if !added.is_empty() {
        writer.insert_all(&added)?;
    }
    Ok(output)
}

/// The error of a page with invalid records or conflicting ids. Nothing of the page is imported.
fn import_error(errors: Vec<LineError>, field: &str) -> Error {
    let named = errors.iter().map(|(line, message)| format!("line {line}: {message}"));
    let named = first_clauses(named, MAX_NAMED);
    let mut message = format!("nothing of this page was imported: {named}");
    let accepted = match field {
        "records" => "JSON Lines or a document of the JSON format",
        _ => "`skip` or `replace` for ids that exist already",
    };
    message += match field {
        "records" => ": correct the text",
        _ => ": skip or replace those",
    };
    Error::at(Code::InvalidInput, message, field, accepted.into())
}
