use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::error::{Code, Error};
use super::line::Line;
use crate::listing::first_clauses;
use crate::names::AgentName;
use crate::tool::{Audience, Call, Hints, Tool};

/// The most entries that one call imports.
const MAX_ENTRIES: usize = 2_000;

/// An error names at most this many faulty lines.
const MAX_TOLD: usize = 10;

pub(super) struct ImportLayers;

/// Imports what `export_layers` gave, with its timestamps, one page a call. The agent must have no
/// memories, unless they are to be merged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Import layers")]
pub(super) struct Input {
    /// Entries as JSON Lines.
    entries: String,
    /// The agent.
    agent_id: AgentName,
    /// Add to the memories that the agent has. Core memories that it has, and a task where it has
    /// one, are skipped.
    #[serde(default)]
    merge: bool,
    /// The number of the first line.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    first_line: u32,
    /// Where the last call with these `entries` stopped.
    #[schemars(length(min = 1, max = 20))]
    cursor: Option<String>,
}

fn first() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Entries of this page that are new.
    added: usize,
    skipped: usize,
    /// For the next call; absent after the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl Tool for ImportLayers {
    const NAME: &'static str = "import_layers";
    const HINTS: Hints = Hints::ADDS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        let start: usize = match &input.cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| Error::invalid_cursor(cursor))?,
        };
        let given = input.entries.strip_prefix('\u{feff}').unwrap_or(&input.entries);
        let all: Vec<(usize, &str)> = given
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(at, line)| (at + input.first_line as usize, line))
            .collect();
        let page = all.iter().skip(start).take(MAX_ENTRIES);
        let page = parsed(page)?;
        let is_first = input.first_line == 1 && input.cursor.is_none();
        let mut output = Output { added: 0, skipped: 0, cursor: None };
        if !page.is_empty() {
            output.added = agent.change(|writer| {
                if is_first && !input.merge && writer.reader().has_rows()? {
                    return Err(has_memories(agent.name));
                }
                let mut added = 0;
                for line in &page {
                    added += usize::from(writer.import(line)?);
                }
                Ok(added)
            })?;
        }
        output.skipped = page.len() - output.added;
        let end = start + page.len();
        output.cursor = (end < all.len()).then(|| end.to_string());
        Ok(output)
    }
}

/// Parses the lines of a page.
///
/// # Errors
///
/// `INVALID_INPUT`, which names the lines that are not entries. Nothing of the page is imported
/// then.
fn parsed<'a>(page: impl Iterator<Item = &'a (usize, &'a str)>) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    let mut wrong = Vec::new();
    for (number, line) in page {
        match serde_json::from_str(line) {
            Ok(line) => lines.push(line),
            Err(error) => wrong.push(format!("line {number}: {error}")),
        }
    }
    if wrong.is_empty() {
        return Ok(lines);
    }
    let wrong = first_clauses(wrong, MAX_TOLD);
    let message = format!("nothing of this page was imported: {wrong}: mend it");
    let accepted = "lines as `export_layers` gives them".to_owned();
    Err(Error::at(Code::InvalidInput, message, "entries", accepted))
}

fn has_memories(agent: &str) -> Error {
    let message = format!(
        "agent `{agent}` has memories already: merge the import into them, or name another agent"
    );
    Error::at(Code::InvalidInput, message, "merge", "true where they are to be merged".into())
}
