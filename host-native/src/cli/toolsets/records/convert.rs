use super::{Target, records};
use crate::cli::output::tell;
use crate::cli::{Failure, help};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::json;

/// Take an agent's records from JSON to SQLite, or back.
///
/// Nothing is lost either way, nor what other programs keep in the file. Until it is done the
/// records stay where they are, and one that was stopped can be run again, unless the file was
/// changed since. The file becomes `NAME.json.converted`.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/convert.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Convert {
    /// The format to take them to
    #[arg(long, value_name = "FORMAT", value_enum)]
    to: Format,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A file for each agent, which people and other programs read
    Json,
    /// One database for all agents, for very many records
    Sqlite,
}

#[derive(Deserialize)]
struct Converted {
    records: u64,
}

impl Convert {
    pub(super) fn run(self) -> Result<(), Failure> {
        let target = self.target.open()?;
        let (to, name) = match self.to {
            Format::Json => ("json", "JSON"),
            Format::Sqlite => ("sqlite", "SQLite"),
        };
        let converted: Converted = target.page("convert_records", json!({"to": to}))?;
        let count = records(converted.records);
        tell(&format!("agent `{}` is in {name}, with {count}", target.agent));
        Ok(())
    }
}
