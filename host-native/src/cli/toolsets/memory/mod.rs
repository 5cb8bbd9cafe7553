//! Commands that search the stored memories or resume earlier work, for people and for the hooks of
//! clients.

mod ask;
mod deadline;
mod event;
mod hits;
pub(in crate::cli) mod hook;
mod json;
mod marks;
mod record;
pub(in crate::cli) mod resume;
mod transcript;

use crate::cli::answer::read;
use crate::cli::embedder::EmbedderOptions;
use crate::cli::output::{print, print_json, print_note};
use crate::cli::program::builder;
use crate::cli::settings::Reach;
use crate::cli::terminal::{has_colours, visible};
use crate::cli::{Error, help};
use ask::ask;
use clap::Args;
use hits::{Found, readable};
use marks::Marks;
use serde_json::{Map, Value, json};
use std::process::ExitCode;

const TOOL: &str = "search_memory";

/// Search everything that is kept, by a question in plain words.
///
/// It looks at all toolsets that have memories here, and prints what fits best first. Inflected
/// words are found too. It writes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/search.txt"),
    include_str!("../../help/settings.txt"),
]))]
pub struct Search {
    /// A question, or some words
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,

    /// Only what this agent kept; layers are searched only for a named agent
    #[arg(long, value_name = "NAME", conflicts_with = "agent_from")]
    agent: Option<String>,

    /// Only these toolsets, as a comma list [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    toolsets: Vec<String>,

    /// Only what was kept on this day or later, or since this moment
    #[arg(long, value_name = "DATE")]
    from: Option<String>,

    /// Only what was kept on this day or earlier, or up to this moment
    #[arg(long, value_name = "DATE")]
    to: Option<String>,

    /// How many hits at most [default: 8]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Also what is archived or has expired
    #[arg(long)]
    archived: bool,

    /// Print the tool's result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    embedder: EmbedderOptions,
}

impl Search {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        // `memory` is named because a variable may leave it out of `all`.
        let builder = self.reach.builder(builder().toolsets(["all", "memory"]))?;
        let memory = self.embedder.add(builder)?.build().map_err(Error::usage)?;
        let result = ask(&memory, TOOL, &self.arguments())?;
        let found: Found = read(&result)?;
        if self.json {
            print_json(&result)?
        } else {
            self.show(&found)?
        }
        Ok(if found.hits.is_empty() { Error::TOOL.into() } else { ExitCode::SUCCESS })
    }

    fn arguments(&self) -> String {
        let mut arguments = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            arguments.extend(value.map(|value| (name.to_owned(), value)));
        };
        add("query", Some(json!(self.query.join(" "))));
        add("agent", self.agent.as_ref().map(|agent| json!(agent)));
        add("toolsets", (!self.toolsets.is_empty()).then(|| json!(self.toolsets)));
        add("from_date", self.from.as_ref().map(|from| json!(from)));
        add("to_date", self.to.as_ref().map(|to| json!(to)));
        add("limit", self.limit.map(|limit| json!(limit)));
        add("include_archived", self.archived.then(|| json!(true)));
        Value::Object(arguments).to_string()
    }

    fn show(&self, found: &Found) -> Result<(), Error> {
        let marks = has_colours(&std::io::stdout()).then(|| Marks::new(&self.query.join(" ")));
        let hits: Vec<_> = found.hits.iter().map(|hit| readable(hit, marks.as_ref())).collect();
        if !hits.is_empty() {
            print(&hits.join("\n\n"))?;
        }
        let notes = found.note.iter().cloned();
        let warnings = found.warnings.iter().map(|warning| format!("warning: {warning}"));
        notes.chain(warnings).for_each(|line| print_note(&visible(&line)));
        Ok(())
    }
}
