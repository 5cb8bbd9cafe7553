use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::Agent;
use super::agents;
use super::database::{AgentRows, Position, Style};
use super::error::{Code, Error};
use super::input::default_agent;
use super::json::{JsonFile, line, without_byte_order_mark};
use crate::names::AgentName;
use crate::storage::database::Mode;
use crate::tool::{Audience, Call, Hints, Tool};

/// The maximum number of records in a page of rows. A JSON file is exported as one page.
const MAX_RECORDS: u64 = 5_000;

/// The size in bytes at which a page of rows takes no further record.
const MAX_BYTES: usize = 2 << 20;

pub(super) struct ExportRecords;

/// Exports an agent's records as text, one page a call: the pages make one text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Export records")]
pub(super) struct Input {
    /// Default `default`.
    #[serde(default = "default_agent")]
    agent_id: AgentName,
    /// `jsonl`, a record a line, or `json`, the document of the JSON format.
    #[serde(default)]
    format: Format,
    /// Where the last call stopped.
    #[schemars(length(min = 1, max = 40))]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Jsonl,
    Json,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    text: String,
    /// Records of this page.
    count: u64,
    /// Records of the agent.
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// Records that the text lacks, because they cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for ExportRecords {
    const NAME: &'static str = "export_records";
    const HINTS: Hints = Hints::READS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let agent = Agent::open(call, &input.agent_id)?;
        agent.check_case()?;
        let start = match &input.cursor {
            None => Position::START,
            Some(cursor) => {
                Position::parse(cursor).ok_or_else(|| invalid_cursor(&agent, cursor))?
            }
        };
        // A conversion to JSON may end between the search for the file and the search for the rows.
        // Then the second attempt finds the file.
        for _ in 0..2 {
            if let Some(file) = agent.file()? {
                return match &input.cursor {
                    None => whole_file(&file, input.format),
                    Some(cursor) => Err(invalid_cursor(&agent, cursor)),
                };
            }
            let Some(database) = agent.database(false)? else { continue };
            let view = database.begin(Mode::Read)?;
            let rows = AgentRows::new(&*view, agent.name);
            let Some(stored) = rows.find()? else { continue };
            let style = match input.format {
                Format::Jsonl => Style::Lines,
                Format::Json => Style::Document,
            };
            let (total, _) = rows.size(stored.key)?;
            let pages = rows.pages(&stored, style, call.context.now)?;
            let page = pages.page(start, MAX_RECORDS, MAX_BYTES)?;
            let cursor = page.next.map(|next| next.to_string());
            return Ok(Output {
                text: without_byte_order_mark(&page.text).to_owned(),
                count: page.records,
                total,
                cursor,
                warnings: Vec::new(),
            });
        }
        Err(agents::with_agents(call, agent.name, Error::no_records(agent.name)))
    }
}

/// Exports a file as one page. The format `json` has every record of the file. JSON Lines have only
/// the records that can be read.
fn whole_file(file: &JsonFile, format: Format) -> Result<Output, Error> {
    let total = file.len() as u64;
    if format == Format::Json {
        file.check_utf8().map_err(|error| {
            error.with_suffix(", or use the format `jsonl`, which has the records that can be read")
        })?;
        let text = file.json().to_owned();
        return Ok(Output { text, count: total, total, cursor: None, warnings: Vec::new() });
    }
    let mut text = String::new();
    let mut count = 0;
    for record in file.readable_imported() {
        text += &line(&record.memory, record.original.as_deref());
        text.push('\n');
        count += 1;
    }
    let warnings = file.unreadable_warning().into_iter().collect();
    Ok(Output { text, count, total, cursor: None, warnings })
}

fn invalid_cursor(agent: &Agent<'_>, cursor: &str) -> Error {
    let message = format!(
        "`cursor` `{cursor}` does not fit the present format of agent `{}`: start again without a \
         cursor",
        agent.name
    );
    Error::at(Code::InvalidInput, message, "cursor", "the cursor of the last page".into())
}
