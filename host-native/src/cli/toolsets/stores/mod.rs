//! Commands about stores: their registry, their memories, and long work on one.

mod add;
mod draft;
mod edit;
mod editor;
mod folder;
mod import;
mod list;
mod path;
mod prune;
mod reindex;
mod remove;
mod show;
mod target;

use crate::cli::{Error, help};
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Register stores, read, edit or import their memories, or work on a whole store.
///
/// A store is a directory of Markdown memories of the toolset `stores`. The registry, a YAML file,
/// names the stores and their directories. It may also be edited by hand.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "COMMAND",
    disable_help_subcommand = true,
    after_long_help = help::sections(&[include_str!("help/store.txt")]),
)]
pub struct Store {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    Add(add::Add),
    List(list::List),
    Remove(remove::Remove),
    Path(path::Path),
    Show(show::Show),
    Edit(edit::Edit),
    Import(import::Import),
    Reindex(reindex::Reindex),
    Prune(prune::Prune),
}

impl Store {
    pub(in crate::cli) fn run(self) -> Result<ExitCode, Error> {
        match self.command {
            StoreCommand::Add(add) => add.run(),
            StoreCommand::List(list) => list.run(),
            StoreCommand::Remove(remove) => remove.run(),
            StoreCommand::Path(path) => path.run(),
            StoreCommand::Show(show) => show.run(),
            StoreCommand::Edit(edit) => edit.run(),
            StoreCommand::Import(import) => return import.run(),
            StoreCommand::Reindex(reindex) => reindex.run(),
            StoreCommand::Prune(prune) => prune.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
