use super::output::print_json;
use super::settings::Settings;
use super::{Failure, help, runtime};
use crate::CallError;
use clap::Args;
use std::io::Read;
use std::process::ExitCode;

/// What is said of arguments that are no object: a shell may have changed them.
const FORM: &str = "give one JSON object in single quotes, such as '{\"name\": \"value\"}', or `-` \
    to read it from standard input";

/// Call one tool and print its result.
///
/// Standard output gets the result, or the tool's error, as one JSON document: on one line for a
/// program, on many for a terminal. It calls tools for models and those for people.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/call.txt"),
    include_str!("help/settings.txt"),
    include_str!("help/call-status.txt"),
]))]
pub struct Call {
    /// The tool's name, as `agent-memory tools --all` lists it
    tool: String,

    /// The arguments, a JSON object; `-` reads them from standard input [default: {}]
    #[arg(value_name = "JSON|-", default_value = "{}", hide_default_value = true)]
    arguments: String,

    #[command(flatten)]
    settings: Settings,
}

impl Call {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let arguments = match self.arguments.as_str() {
            "-" => from_standard_input()?,
            _ => self.arguments,
        };
        let memory = self.settings.memory()?;
        let outcome = runtime()?.block_on(memory.call(&self.tool, &arguments)).map_err(
            |error| match error {
                CallError::Ended { .. } => Failure::tool(error),
                CallError::NotFound(_) => Failure::usage(error),
                CallError::InvalidRequest(_) => Failure::usage(format!("{error}; {FORM}")),
            },
        )?;
        print_json(&outcome.result)?;
        Ok(match outcome.error() {
            None => ExitCode::SUCCESS,
            Some(error) => Failure::status_of(&error).into(),
        })
    }
}

fn from_standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    // Some editors and shells put a byte order mark first.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
