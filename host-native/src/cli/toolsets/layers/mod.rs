//! Commands about the layers of an agent's memory. Each calls tools of the core.

mod forget;
mod show;
mod target;

use crate::cli::{Error, help};
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Show the layers of an agent's memory, or remove a text from them.
///
/// Layers are the memories of the toolset `layers`. Other programs may go on reading and writing
/// them at the same time.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "COMMAND",
    disable_help_subcommand = true,
    after_long_help = help::sections(&[include_str!("help/layers.txt")]),
)]
pub struct Layers {
    #[command(subcommand)]
    command: LayersCommand,
}

#[derive(Debug, Subcommand)]
enum LayersCommand {
    Show(show::Show),
    Forget(forget::Forget),
}

impl Layers {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        match self.command {
            LayersCommand::Show(show) => show.run(),
            LayersCommand::Forget(forget) => forget.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
