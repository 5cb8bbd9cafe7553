use super::output::print_json;
use super::settings::Settings;
use super::{Failure, help, runtime};
use crate::{CallError, Memory};
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
        let arguments = read(self.arguments)?;
        call(&self.settings.memory()?, &self.tool, &arguments)
    }
}

/// The arguments that a command line gives.
pub(super) fn read(arguments: String) -> Result<String, Failure> {
    match arguments.as_str() {
        "-" => from_standard_input(),
        _ => Ok(arguments),
    }
}

/// Calls a tool, prints what it answers, and returns the exit status.
pub(super) fn call(memory: &Memory, tool: &str, arguments: &str) -> Result<ExitCode, Failure> {
    let called = runtime()?.block_on(memory.call(tool, arguments));
    let outcome = called.map_err(|error| match error {
        CallError::Ended { .. } => Failure::tool(error),
        CallError::NotFound(_) => Failure::usage(error),
        CallError::InvalidRequest(_) => Failure::usage(format!("{error}; {FORM}")),
    })?;
    print_json(outcome.json())?;
    Ok(match outcome.answer {
        Ok(_) => ExitCode::SUCCESS,
        Err(refusal) => Failure::status_of(&refusal).into(),
    })
}

fn from_standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    // Some editors and shells put a byte order mark first.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
