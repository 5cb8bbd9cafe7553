use super::target::{PLACE, Target, of_storage};
use crate::cli::output::{print, print_note};
use crate::cli::{Error, help};
use clap::Args;

/// List the registered stores.
///
/// Each line has the name of a store and its directory, separated by a tab. A store that cannot be
/// used is listed with the path in the registry, and standard error gets the reason.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/list.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct List {
    #[command(flatten)]
    target: Target,
}

impl List {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        for (name, registered) in target.memory.registered(PLACE).map_err(of_storage)? {
            match target.memory.family_directory(PLACE, &name) {
                Ok(directory) => print(&format!("{name}\t{directory}"))?,
                Err(error) => {
                    print(&format!("{name}\t{}", registered.path))?;
                    print_note(&error.message);
                }
            }
        }
        Ok(())
    }
}
