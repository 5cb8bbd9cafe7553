//! The command line: one file a command, and what commands share.

mod call;
mod completions;
mod demo;
mod failure;
mod findings;
mod help;
mod logging;
mod man;
mod output;
mod progress;
mod records;
mod serve;
mod setting;
mod settings;
mod terminal;
mod tools;
mod validate;
mod value;

pub use failure::Failure;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The program's name, which its users type.
const NAME: &str = "agent-memory";

/// Memory for AI agents: tools that keep what an agent learns in files of its repository.
///
/// Session logs and summaries are Markdown that Git keeps and people read. Every write is checked,
/// durable before it is acknowledged, and safe beside other writers. `serve` offers the tools to
/// models, over MCP; the other commands are for people and their scripts.
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    version,
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    max_term_width = 100,
    color = terminal::colours_of_help(),
    after_long_help = help::sections(&[include_str!("help/agent-memory.txt")]),
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// A command of `agent-memory`, each with its help on the struct of its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    Serve(serve::Serve),
    Call(call::Call),
    Tools(tools::Tools),
    Validate(validate::Validate),
    Records(records::Records),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Runs the command, and returns its exit status.
    ///
    /// # Errors
    ///
    /// What ended it early, for standard error.
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Command::Serve(serve) => serve.run(),
            Command::Call(call) => call.run(),
            Command::Tools(tools) => tools.run(),
            Command::Validate(validate) => validate.run(),
            Command::Records(records) => records.run(),
            Command::Demo(demo) => demo.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}

/// A runtime on this thread: it starts fast, and blocking work of storage gets threads when there
/// is some.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::storage(format!("the runtime cannot start: {error}")))
}
