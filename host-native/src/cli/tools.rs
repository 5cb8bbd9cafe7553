use super::options::{LeavingOut, ToolsetOptions};
use super::output::print;
use super::settings::Mounting;
use super::{Error, help, terminal};
use crate::{Audience, Tool};
use clap::Args;
use clap::builder::styling::Style;
use serde_json::Value;
use std::fmt::Write;
use std::process::ExitCode;

/// List the tools.
///
/// Shows the tools that `serve` offers to models, each with its description and parameters.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[include_str!("help/tools.txt")]))]
pub struct Tools {
    /// List the tools for people too, which commands and `agent-memory call` use
    #[arg(long)]
    all: bool,

    /// Print the component's list, with schemas and hints, as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    mounting: Mounting,

    #[command(flatten)]
    leaving_out: ToolsetOptions<LeavingOut>,
}

impl Tools {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let builder = self.leaving_out.set(self.mounting.builder()?)?;
        let memory = builder.build().map_err(Error::usage)?;
        let wanted = |tool: &&Tool| self.all || tool.audience == Audience::Model;
        let tools: Vec<&Tool> = memory.tools().iter().filter(wanted).collect();
        let list = if self.json {
            serde_json::to_string_pretty(&tools).map_err(Error::tool)?
        } else {
            let bold = if terminal::has_colours(&std::io::stdout()) {
                Style::new().bold()
            } else {
                Style::new()
            };
            let tools = tools.into_iter().map(|tool| readable(tool, bold));
            tools.collect::<Vec<_>>().join("\n\n")
        };
        print(&list)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn readable(tool: &Tool, bold: Style) -> String {
    let Tool { name, title, description, .. } = tool;
    let audience = match tool.audience {
        Audience::Model => "",
        Audience::Person => " (for people)",
    };
    let mut text = format!("{bold}{name}{bold:#} - {title}{audience}\n  {description}");
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let parameters = tool.input_schema.get("properties").and_then(Value::as_object);
    for (name, schema) in parameters.into_iter().flatten() {
        let needed = required.is_some_and(|required| required.iter().any(|one| one == name));
        let needed = if needed { "" } else { " (optional)" };
        let description = schema["description"].as_str().unwrap_or_default();
        // Writing to a string does not fail.
        let _ = write!(text, "\n    {name}{needed}: {description}");
    }
    text
}
