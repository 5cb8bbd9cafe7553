use super::target::Target;
use crate::cli::output::print_note;
use crate::cli::progress::Progress;
use crate::cli::{Error, help};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

/// Build the indexes of a store anew from its files.
///
/// A file that cannot be read is left out of its index, and standard error names it.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/reindex.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Reindex {
    /// The name of the store
    name: String,

    #[command(flatten)]
    target: Target,
}

#[derive(Deserialize)]
struct Page {
    remaining: usize,
    cursor: Option<String>,
    warnings: Vec<String>,
}

impl Reindex {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let mut arguments = json!({"store": self.name});
        let mut progress = Progress::new("files to go");
        loop {
            let page = target.call::<Page>("reindex_store", &arguments);
            progress.clear();
            let page = page?;
            page.warnings.iter().for_each(|warning| print_note(warning));
            let Some(cursor) = page.cursor else { break };
            arguments["cursor"] = json!(cursor);
            progress.show_count(page.remaining);
        }
        print_note(&format!("store `{}` is indexed", self.name));
        Ok(())
    }
}
