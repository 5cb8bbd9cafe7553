use super::target::Open;
use crate::cli::output::print;
use crate::cli::settings::Reach;
use crate::cli::{Error, help};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

/// Show the latest memories of all layers of an agent, or the names of the agents.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/show.txt"),
    include_str!("../records/help/status.txt"),
]))]
pub(super) struct Show {
    /// The agent [default: list the names of the agents]
    agent: Option<String>,

    #[command(flatten)]
    reach: Reach,
}

#[derive(Deserialize)]
struct Summary {
    text: String,
}

impl Show {
    pub(super) fn run(self) -> Result<(), Error> {
        let layers = Open::with(&self.reach)?;
        let Some(agent) = self.agent else {
            return layers.agents()?.iter().try_for_each(|agent| print(agent));
        };
        let summary: Summary = layers.call("get_memory_summary", json!({ "agent_id": agent }))?;
        print(summary.text.trim_end())
    }
}
