use super::target::{PLACE, Target, of_storage};
use crate::cli::output::print;
use crate::cli::{Error, help};
use clap::Args;

/// Print the directory of a store.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/path.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Path {
    /// The name of the store
    name: String,

    #[command(flatten)]
    target: Target,
}

impl Path {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        print(&target.memory.family_directory(PLACE, &self.name).map_err(of_storage)?)
    }
}
