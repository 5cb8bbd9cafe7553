use super::target::Target;
use crate::cli::output::print_note;
use crate::cli::{Error, help};
use clap::Args;

/// Remove a store from the registry; its files stay.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/remove.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Remove {
    /// The name of the store
    name: String,

    #[command(flatten)]
    target: Target,
}

impl Remove {
    pub(super) fn run(self) -> Result<(), Error> {
        self.target.open()?.change(|registry| registry.unregister(&self.name))?;
        print_note(&format!("store `{}` is registered no more; its files stay", self.name));
        Ok(())
    }
}
