use super::target::{Open, Target};
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

/// The longest page of `get_memory`, in characters.
const PAGE: u32 = 100_000;

/// A memory as `get_memory` returns it, with all of its content.
fn whole_memory(target: &Open, mut arguments: Value) -> Result<Value, Error> {
    arguments["limit"] = json!(PAGE);
    let mut memory: Value = target.call("get_memory", &arguments)?;
    let mut content = memory["content"].as_str().unwrap_or_default().to_owned();
    let mut next = memory.as_object_mut().and_then(|memory| memory.remove("next"));
    while let Some(from) = next {
        arguments["from"] = from;
        let mut page: Value = target.call("get_memory", &arguments)?;
        content += page["content"].as_str().unwrap_or_default();
        next = page.as_object_mut().and_then(|page| page.remove("next"));
    }
    memory["content"] = json!(content);
    Ok(memory)
}

impl Show {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let mut arguments = json!({"store": self.name, "path": self.path});
        if self.json {
            arguments["include_expired"] = json!(true);
            return print_json(&whole_memory(&target, arguments)?.to_string());
        }
        print_text(&target.call::<File>("get_memory_file", &arguments)?.text)
    }
}
