use super::Failure;
use super::output::print;
use super::settings::Mounting;
use crate::Tool;
use clap::Args;
use serde_json::Value;
use std::fmt::Write;
use std::process::ExitCode;

/// List the tools.
#[derive(Debug, Args)]
pub struct Tools {
    /// Print the component's list, with schemas and hints, as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    mounting: Mounting,
}

impl Tools {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let memory = self.mounting.builder()?.build().map_err(Failure::usage)?;
        let list = if self.json {
            serde_json::to_string_pretty(memory.tools()).map_err(Failure::tool)?
        } else {
            let tools = memory.tools().iter().map(readable);
            tools.collect::<Vec<_>>().join("\n\n")
        };
        print(&list)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn readable(tool: &Tool) -> String {
    let mut text = format!("{} - {}\n  {}", tool.name, tool.title, tool.description);
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
