use super::target::Target;
use crate::cli::output::{print_json, print_text};
use crate::cli::{Error, help};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

/// Print a memory as it is in its file, expired or not.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/show.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Show {
    /// The name of the store
    name: String,

    /// The path of the memory, as `store list NAME` prints it
    path: String,

    /// Print JSON: the text without front matter, and the metadata
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

#[derive(Deserialize)]
struct File {
    text: String,
}

impl Show {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let mut arguments = json!({"store": self.name, "path": self.path});
        if self.json {
            arguments["include_expired"] = json!(true);
            let memory: Value = target.call("get_memory", &arguments)?;
            return print_json(&memory.to_string());
        }
        print_text(&target.call::<File>("get_memory_file", &arguments)?.text)
    }
}
