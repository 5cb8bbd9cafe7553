use super::target::{Target, records};
use crate::cli::output::print_note;
use crate::cli::{Error, help};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::json;

/// Convert an agent's records from JSON to SQLite, or back.
///
/// Both ways keep everything, also what other programs have added to the file. Until it is done, the
/// records stay where they are. A conversion that was stopped can be run again. If the file has changed
/// since, the rows that it left are first saved as `NAME.json.hidden`. After a conversion to SQLite the
/// file is called `NAME.json.converted`.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/convert.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Convert {
    /// The new format
    #[arg(long, value_name = "FORMAT", value_enum)]
    to: Format,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A file for each agent, which people and other programs can read
    Json,
    /// One database for all agents, for very many records
    Sqlite,
}

#[derive(Deserialize)]
struct Converted {
    records: u64,
}

impl Convert {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let (to, name) = match self.to {
            Format::Json => ("json", "JSON"),
            Format::Sqlite => ("sqlite", "SQLite"),
        };
        let converted: Converted = target.page("convert_records", json!({"to": to}))?;
        let count = records(converted.records);
        print_note(&format!("agent `{}` is in {name}, with {count}", target.agent));
        Ok(())
    }
}
