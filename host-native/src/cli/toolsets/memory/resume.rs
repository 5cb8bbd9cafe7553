//! The resumption of earlier work, as text.

use super::ask::ask;
use crate::Builder;
use crate::cli::answer::read;
use crate::cli::output::{print, print_json, print_note};
use crate::cli::program::builder;
use crate::cli::settings::Reach;
use crate::cli::terminal::visible;
use crate::cli::{Error, help};
use crate::enclosing_repository::main_worktree_with_logs;
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::process::ExitCode;

const TOOL: &str = "resume_memory";

/// Print what is needed to go on with earlier work.
///
/// It looks at all toolsets that have memories here: the summary and the last logs of the repository,
/// the current task and the core memories of the agent, the pages of stores that changed last. It
/// writes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/resume.txt"),
    include_str!("../../help/settings.txt"),
]))]
pub struct Resume {
    #[command(flatten)]
    request: Request,

    /// Print the tool's result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reach: Reach,
}

/// The subject and the length of a resumption.
#[derive(Debug, Args)]
pub(super) struct Request {
    /// The agent that goes on; with only one agent, it need not be named
    #[arg(long, value_name = "NAME", conflicts_with = "agent_from")]
    pub(super) agent: Option<String>,

    /// The length of the text in tokens of 4 characters, at most [default: 1500]
    #[arg(long, value_name = "N")]
    pub(super) budget: Option<u32>,
}

/// The result of the tool.
#[derive(Deserialize)]
pub(super) struct Resumed {
    pub(super) text: String,
    #[serde(default)]
    pub(super) warnings: Vec<String>,
}

impl Resume {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        let result = self.request.ask(&self.reach, ["all".to_owned()])?;
        if self.json {
            print_json(&result)?;
            return Ok(ExitCode::SUCCESS);
        }
        let Resumed { text, warnings } = read(&result)?;
        print(&text.trim_end().lines().map(visible).collect::<Vec<_>>().join("\n"))?;
        for warning in warnings {
            print_note(&visible(&format!("warning: {warning}")));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Request {
    /// The tool's result, from these toolsets.
    pub(super) fn ask(
        &self,
        reach: &Reach,
        toolsets: impl IntoIterator<Item = String>,
    ) -> Result<String, Error> {
        // `memory` is named because a variable may leave it out.
        let toolsets = toolsets.into_iter().chain(["memory".to_owned()]);
        let builder = reach.builder(builder().toolsets(toolsets))?;
        let here = std::env::current_dir().ok();
        let main = here.and_then(|here| main_worktree_with_logs(&here));
        let builder = main.into_iter().fold(builder, Builder::allow);
        let memory = builder.build().map_err(Error::usage)?;
        ask(&memory, TOOL, &self.arguments())
    }

    fn arguments(&self) -> String {
        let mut arguments = Map::new();
        arguments.extend(self.agent.as_ref().map(|agent| ("agent".to_owned(), json!(agent))));
        arguments.extend(self.budget.map(|budget| ("budget".to_owned(), json!(budget))));
        Value::Object(arguments).to_string()
    }
}
