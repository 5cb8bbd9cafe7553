use super::target::Target;
use crate::cli::output::print;
use crate::cli::{Error, help};
use agent_memory_setting_values::path_mistake;
use agent_memory_storage_files::display;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Register a directory as a store, and create it if it is missing.
///
/// The directory may have memories already. It must not be `/`, the home directory or in a `.git`,
/// and it must not lie within another store or contain one. No symbolic link may lead to it.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/add.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Add {
    /// The name of the store: letters, digits, `.`, `_` and `-`
    name: String,

    /// The directory; with a leading `~/`, the registry keeps it so
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,

    /// What is in the store, for the registry
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[command(flatten)]
    target: Target,
}

impl Add {
    pub(super) fn run(self) -> Result<(), Error> {
        let shown = self.directory.display();
        if let Some(mistake) = path_mistake(&self.directory.to_string_lossy()) {
            return Err(Error::usage(format!("`{shown}` {mistake}")));
        }
        let absolute = if self.directory.starts_with("~") {
            self.directory.clone()
        } else {
            std::path::absolute(&self.directory)
                .map_err(|error| Error::usage(format!("`{shown}` is no directory: {error}")))?
        };
        if absolute.to_str().is_none() {
            return Err(Error::usage(format!("`{shown}` is not UTF-8: rename the directory")));
        }
        let description = self.description.as_deref();
        let registered = self
            .target
            .open()?
            .change(|registry| registry.register(&self.name, &display(&absolute), description))?;
        print(&registered.to_string_lossy())
    }
}
