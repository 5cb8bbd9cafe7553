use super::answer::result_of;
use super::output::print;
use super::program::runtime;
use super::settings::Settings;
use super::{Error, help};

use crate::{AgentMemory, Caller};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::process::ExitCode;

/// Print a prompt for a model, or list the prompts.
///
/// Clients that know prompts offer them by themselves. This is for others, and for scripts.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/prompt.txt"),
    include_str!("help/settings.txt"),
    include_str!("help/call-status.txt"),
]))]
pub struct Prompt {
    /// The name of the prompt [default: list the prompts of the mounted toolsets]
    name: Option<String>,

    /// An argument of the prompt
    #[arg(value_name = "NAME=VALUE", value_parser = argument)]
    arguments: Vec<(String, String)>,

    #[command(flatten)]
    settings: Settings,
}

#[derive(Deserialize)]
struct Text {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    text: String,
}

impl Prompt {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let memory = self.settings.memory()?;
        let Some(name) = self.name else { return list(&memory) };
        let given = self.arguments.into_iter().map(|(name, value)| (name, Value::from(value)));
        let given = Value::Object(Map::from_iter(given)).to_string();
        let got = runtime()?.block_on(memory.get_prompt(&name, &given, Caller::default()));
        let text: Text = result_of(got)?;
        text.messages.iter().try_for_each(|message| print(message.text.trim_end()))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list(memory: &AgentMemory) -> Result<ExitCode, Error> {
    for prompt in memory.prompts() {
        let arguments = prompt.arguments.iter().map(|of| format!(" {}=...", of.name));
        print(&format!("{}{}", prompt.name, arguments.collect::<String>()))?;
        print(&format!("    {}", prompt.description))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn argument(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "an argument is a name and a value, such as `name=ada`".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}
