use super::target::Target;
use crate::cli::output::{print, print_note};
use crate::cli::progress::Progress;
use crate::cli::{Error, help};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

/// Delete the expired memories of a store, and print their paths.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/prune.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Prune {
    /// The name of the store
    name: String,

    /// Print the paths, and delete nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    target: Target,
}

#[derive(Deserialize)]
struct Page {
    #[serde(alias = "would_prune")]
    pruned: Vec<Expired>,
    remaining: usize,
    cursor: Option<String>,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Expired {
    path: String,
}

impl Prune {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let mut arguments = json!({"store": self.name, "dry_run": self.dry_run});
        let mut progress = Progress::new("files to go");
        let mut pruned = 0;
        loop {
            let page = target.call::<Page>("prune_memories", &arguments);
            progress.clear();
            let page = page?;
            for expired in &page.pruned {
                print(&expired.path)?;
            }
            page.warnings.iter().for_each(|warning| print_note(warning));
            pruned += page.pruned.len();
            let Some(cursor) = page.cursor else { break };
            arguments["cursor"] = json!(cursor);
            progress.show_count(page.remaining);
        }
        let memories = if pruned == 1 { "memory" } else { "memories" };
        let done = if self.dry_run { "would be deleted" } else { "deleted" };
        print_note(&format!("{pruned} {memories} {done}"));
        Ok(())
    }
}
