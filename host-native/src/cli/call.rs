use super::output::print;
use super::settings::{NOTE, Settings};
use super::{Failure, runtime};
use crate::CallError;
use clap::Args;
use serde_json::Value;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

/// The errors that storage is the cause of, in the shapes and codes of every toolset.
const STORAGE_CODES: [&str; 6] =
    ["Busy", "PermissionDenied", "StorageError", "BUSY", "PERMISSION_ERROR", "STORAGE_ERROR"];

/// Call one tool and print its result.
///
/// Standard output gets the result, or the tool's error, as one JSON document. The exit status is 0
/// for a result, 1 for an error, 2 for a call that cannot be understood, and 3 for an error of
/// storage.
#[derive(Debug, Args)]
#[command(after_help = NOTE)]
pub struct Call {
    /// The tool's name, as `agent-memory tools` lists it
    tool: String,

    /// The arguments, a JSON object; `-` reads them from standard input
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
                _ => Failure::usage(error),
            },
        )?;
        print(&for_reader(&outcome.result))?;
        Ok(match outcome.is_error {
            false => ExitCode::SUCCESS,
            true => status_of(&outcome.result).into(),
        })
    }
}

fn from_standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    Ok(text)
}

/// On many lines for a person, on one for a program.
fn for_reader(json: &str) -> String {
    let person = std::io::stdout().is_terminal();
    let value = person.then(|| serde_json::from_str::<Value>(json).ok());
    let pretty = value.flatten().map(|value| format!("{value:#}"));
    pretty.unwrap_or_else(|| json.to_owned())
}

fn status_of(error: &str) -> u8 {
    let error: Value = serde_json::from_str(error).unwrap_or_default();
    let code = error["error"]["code"].as_str().or_else(|| error["error"].as_str());
    match code {
        Some(code) if STORAGE_CODES.contains(&code) => Failure::STORAGE,
        _ => Failure::TOOL,
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, status_of};

    #[test]
    fn the_exit_status_tells_storage_from_a_tool_that_refuses() {
        let storage = [
            r#"{"error": "Busy", "message": "m"}"#,
            r#"{"error": {"code": "STORAGE_ERROR", "message": "m"}}"#,
        ];
        for error in storage {
            assert_eq!(status_of(error), Failure::STORAGE, "{error}");
        }
        let refused = [
            r#"{"error": "InvalidSection", "message": "m"}"#,
            r#"{"error": {"code": "NOT_FOUND", "message": "m"}}"#,
        ];
        for error in refused {
            assert_eq!(status_of(error), Failure::TOOL, "{error}");
        }
    }
}
