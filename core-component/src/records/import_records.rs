use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, Purpose};
use super::error::{Code, Error};
use super::input::default_agent;
use super::json::Given;
use super::store::{Imported, Writer};
use crate::names::AgentName;
use crate::tool::{Audience, Call, Hints, Tool};

/// The most of one call.
const MAX_RECORDS: usize = 5_000;

/// How many faults a refusal names.
const MAX_TOLD: usize = 10;

pub(super) struct ImportRecords;

/// Imports records with their ids and timestamps, one page a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Import records")]
pub(super) struct Input {
    /// Records as JSON Lines, or a document of the JSON format.
    records: String,
    /// Default `default`.
    #[serde(default = "default_agent")]
    agent_id: AgentName,
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
}

/// Records with their lines.
type Page = Vec<(usize, Imported)>;

impl Tool for ImportRecords {
    const NAME: &'static str = "import_records";
    const HINTS: Hints = Hints::OVERWRITES;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let line = |line: usize| line + input.first_line as usize - 1;
        // Some editors put a byte order mark before what they save.
        let records = input.records.strip_prefix('\u{feff}').unwrap_or(&input.records);
        let given =
            Given::of(records).map_err(|(at, what)| refused(vec![(line(at), what)], "records"))?;
        let start = match &input.cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| Error::no_page(cursor))?,
        };
        let (mut page, mut wrong) = (Page::new(), Vec::new());
        for (at, record) in given.page(start, MAX_RECORDS) {
            match record {
                Ok(record) => page.push((line(at), record)),
                Err(what) => wrong.push((line(at), what)),
            }
        }
        if !wrong.is_empty() {
            return Err(refused(wrong, "records"));
        }
        // What follows the first page is part of the same change: its backup is there already.
        let is_first = input.first_line == 1 && input.cursor.is_none();
        let purpose = if is_first { Purpose::Change } else { Purpose::Continuation };
        let end = start + page.len();
        let mut output = match page.is_empty() {
            true => Output::default(),
            false => agent.change(purpose, |writer| import(writer, &page, input.on_conflict))?,
        };
        output.cursor = (end < given.len()).then(|| end.to_string());
        Ok(output)
    }
}

fn import(writer: &mut dyn Writer, page: &Page, on_conflict: OnConflict) -> Result<Output, Error> {
    let ids: Vec<&str> = page.iter().map(|(_, record)| record.memory.id.as_str()).collect();
    let known = writer.known(&ids)?;
    let mut output = Output::default();
    let mut taken = Vec::new();
    let mut replaced = BTreeSet::new();
    // Where each id is among those that are added.
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut added: Vec<&Imported> = Vec::with_capacity(page.len());
    for (line, record) in page {
        let id = record.memory.id.as_str();
        let earlier = places.get(id).copied();
        match (known.contains(id) || earlier.is_some(), on_conflict) {
            (false, _) => output.added += 1,
            (true, OnConflict::Refuse) => {
                taken.push((*line, format!("the id `{id}` is taken")));
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
        places.insert(id, added.len());
        added.push(record);
    }
    if !taken.is_empty() {
        return Err(refused(taken, "on_conflict"));
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

/// Nothing of a page is imported where something of it cannot be.
fn refused(wrong: Vec<(usize, String)>, field: &str) -> Error {
    let mut message = String::from("nothing of this page was imported: ");
    let told: Vec<String> =
        wrong.iter().take(MAX_TOLD).map(|(line, what)| format!("line {line}: {what}")).collect();
    message += &told.join("; ");
    if wrong.len() > MAX_TOLD {
        message += &format!("; and {} more", wrong.len() - MAX_TOLD);
    }
    let accepted = match field {
        "records" => "JSON Lines or a document of the JSON format",
        _ => "`skip` or `replace` where ids are taken",
    };
    message += match field {
        "records" => ": mend it",
        _ => ": skip or replace those",
    };
    Error::at(Code::InvalidInput, message, field, accepted.into())
}
