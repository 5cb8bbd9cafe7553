//! The command line: one file a command, and what commands share.

mod call;
mod demo;
mod failure;
mod logging;
mod output;
mod serve;
mod setting;
mod settings;
mod tools;
mod value;

pub use failure::Failure;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Memory for AI agents: tools that keep what an agent learns in files of its repository.
#[derive(Debug, Parser)]
#[command(name = "agent-memory", version, arg_required_else_help = true)]
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
    Demo(demo::Demo),
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
            Command::Demo(demo) => demo.run(),
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
