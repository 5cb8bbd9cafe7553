use super::{Target, records};
use crate::cli::output::tell;
use crate::cli::progress::Progress;
use crate::cli::{Failure, help};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::json;

/// Take an agent's records from JSON to SQLite, or back.
///
/// Nothing is lost either way, nor what other programs keep in the file. Until it is done the
/// records stay where they are, and one that was stopped can be run again, or be taken back with
/// the other format. The file becomes `NAME.json.converted`.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("../help/records-convert.txt"),
    include_str!("../help/records-status.txt"),
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
struct Step {
    done: usize,
    total: usize,
    finished: bool,
}

impl Convert {
    pub(super) fn run(self) -> Result<(), Failure> {
        let target = self.target.open()?;
        let (to, name) = match self.to {
            Format::Json => ("json", "JSON"),
            Format::Sqlite => ("sqlite", "SQLite"),
        };
        let mut progress = Progress::new("records");
        loop {
            let step = target.page::<Step>("convert_records", json!({"to": to}));
            progress.clear();
            let step = step?;
            if step.finished {
                let count = records(step.total as u64);
                tell(&format!("agent `{}` is in {name}, with {count}", target.agent));
                return Ok(());
            }
            progress.show(step.done, step.total);
        }
    }
}
