//! Commands about the records of an agent. Each calls a tool of the core, page by page.

mod archive;
mod convert;
mod destination;
mod export;
mod import;
mod target;

use crate::cli::{Error, help};
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Convert, export, import or archive the records of an agent.
///
/// Records are the memories of the toolset `records`. Other programs may go on reading and writing
/// them at the same time.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "COMMAND",
    disable_help_subcommand = true,
    after_long_help = help::sections(&[include_str!("help/records.txt")]),
)]
pub struct Records {
    #[command(subcommand)]
    command: RecordsCommand,
}

#[derive(Debug, Subcommand)]
enum RecordsCommand {
    Convert(convert::Convert),
    Export(export::Export),
    Import(import::Import),
    Archive(archive::Archive),
}

impl Records {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        match self.command {
            RecordsCommand::Convert(convert) => convert.run(),
            RecordsCommand::Export(export) => export.run(),
            RecordsCommand::Import(import) => import.run(),
            RecordsCommand::Archive(archive) => archive.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
