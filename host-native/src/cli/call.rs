use super::embedder::EmbedderOptions;
use super::output::print_json;
use super::program::runtime;
use super::settings::Settings;
use super::{Error, help};
use crate::{AgentMemory, CallError};
use clap::Args;
use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

/// How long the program waits for the follow-ups of the call.
const FOLLOW_UPS: Duration = Duration::from_secs(30);

/// The hint for arguments that are not an object: a shell may have changed them.
const FORM: &str = "give one JSON object in single quotes, such as '{\"name\": \"value\"}', or `-` \
    to read it from standard input";

/// Call one tool and print its result.
///
/// Standard output gets the result or the tool's error as JSON: indented on a terminal, on one line
/// elsewhere. It calls tools for models and tools for people.
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

    #[command(flatten)]
    embedder: EmbedderOptions,
}

impl Call {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let arguments = read(self.arguments)?;
        let builder = self.embedder.add(self.settings.builder()?)?;
        call(&builder.build().map_err(Error::usage)?, &self.tool, &arguments)
    }
}

/// Reads the arguments of the tool from the command line or, for `-`, from standard input.
pub(super) fn read(arguments: String) -> Result<String, Error> {
    match arguments.as_str() {
        "-" => from_standard_input(),
        _ => Ok(arguments),
    }
}

/// Calls a tool, prints its answer, and returns the exit status.
pub(super) fn call(memory: &AgentMemory, tool: &str, arguments: &str) -> Result<ExitCode, Error> {
    let runtime = runtime()?;
    let called = runtime.block_on(memory.call(tool, arguments));
    let outcome = called.map_err(|error| match error {
        CallError::Ended { .. } => Error::tool(error),
        CallError::InvalidRequest(_) => Error::usage(format!("{error}; {FORM}")),
        _ => Error::usage(error),
    })?;
    print_json(outcome.json())?;
    runtime.block_on(memory.close(FOLLOW_UPS));
    Ok(match outcome.answer {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => Error::status_of(&error).into(),
    })
}

fn from_standard_input() -> Result<String, Error> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Error::usage(format!("standard input cannot be read: {error}")))?;
    // Some editors and shells write a byte order mark first.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
