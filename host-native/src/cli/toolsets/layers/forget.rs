use super::target::Open;
use crate::cli::output::print_note;
use crate::cli::settings::Reach;
use crate::cli::{Error, help};
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use std::io::{IsTerminal, Read};

/// Remove a text, such as a password, from all layers of an agent and from the index.
///
/// `(removed)` stands in its place. The text is read from standard input, so that no shell keeps it
/// in its history.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/forget.txt"),
    include_str!("../records/help/status.txt"),
]))]
pub(super) struct Forget {
    /// The agent
    agent: String,

    #[command(flatten)]
    reach: Reach,
}

#[derive(Deserialize)]
struct Done {
    changed: u64,
    is_done: bool,
}

impl Forget {
    pub(super) fn run(self) -> Result<(), Error> {
        let text = text()?;
        let layers = Open::with(&self.reach)?;
        let mut changed = 0;
        loop {
            let arguments = json!({ "agent_id": self.agent, "text": text });
            let done: Done = layers.call("forget_text", arguments)?;
            changed += done.changed;
            if done.is_done {
                break;
            }
        }
        let noun = if changed == 1 { "entry" } else { "entries" };
        print_note(&format!("removed from {changed} {noun} of agent `{}`", self.agent));
        Ok(())
    }
}

/// The text on standard input, without the line end after it.
fn text() -> Result<String, Error> {
    let mut input = std::io::stdin();
    if input.is_terminal() {
        print_note("type the text to remove, then Enter and Ctrl-D");
    }
    let mut text = String::new();
    let read = input.read_to_string(&mut text);
    read.map_err(|error| Error::usage(format!("standard input cannot be read: {error}")))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
