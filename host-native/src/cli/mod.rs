//! The command line: a file for each command, and the parts that commands share.

mod answer;
mod call;
mod completions;
#[cfg(feature = "postgres")]
mod database;
mod doctor;
mod embedder;
mod error;
mod hand_over;
mod help;
mod install;
mod logging;
mod man;
mod models;
#[cfg(feature = "postgres")]
mod moving;
mod oauth;
mod options;
mod output;
mod program;
mod progress;
mod project;
mod prompt;
mod serve;
mod setting;
mod settings;
mod terminal;
mod token;
mod tools;
mod toolset;
mod toolsets;
mod value;

pub use error::Error;

use crate::Image;
use agent_memory_setting_values::hide_urls;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use program::NAME;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use toolsets::{layers, memory, records, sessions, stores};

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
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// A command of `agent-memory`, each with its help on the struct of its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    Serve(Box<serve::Serve>),
    Install(install::Install),
    Uninstall(install::Uninstall),
    Doctor(doctor::Doctor),
    Token(token::TokenCommand),
    #[cfg(feature = "postgres")]
    Database(database::DatabaseCommand),
    #[cfg(feature = "postgres")]
    Move(Box<moving::Move>),
    Call(call::Call),
    Tools(tools::Tools),
    Prompt(prompt::Prompt),
    Search(memory::Search),
    Resume(memory::resume::Resume),
    Hook(memory::hook::Hook),
    Validate(sessions::validate::Validate),
    Records(records::Records),
    Layers(layers::Layers),
    Store(stores::Store),
    HandOver(hand_over::HandOver),
    Demo(sessions::demo::Demo),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Runs the command, and returns its exit status.
    ///
    /// # Errors
    ///
    /// The error that ended the command, for standard error.
    pub fn run(self) -> Result<ExitCode, Error> {
        match self {
            Command::Serve(serve) => serve.run(),
            Command::Install(install) => install.run(),
            Command::Uninstall(uninstall) => uninstall.run(),
            Command::Doctor(doctor) => doctor.run(),
            Command::Token(token) => token.run(),
            #[cfg(feature = "postgres")]
            Command::Database(database) => database.run(),
            #[cfg(feature = "postgres")]
            Command::Move(moving) => moving.run(),
            Command::Call(call) => call.run(),
            Command::Tools(tools) => tools.run(),
            Command::Prompt(prompt) => prompt.run(),
            Command::Search(search) => search.run(),
            Command::Resume(resume) => resume.run(),
            Command::Hook(hook) => hook.run(),
            Command::Validate(validate) => validate.run(),
            Command::Records(records) => records.run(),
            Command::Layers(layers) => layers.run(),
            Command::Store(store) => store.run(),
            Command::HandOver(hand_over) => hand_over.run(),
            Command::Demo(demo) => demo.run(),
            Command::Completions(completions) => completions.run(command()),
            Command::Man(man) => man.run(command()),
        }
    }
}

/// The command line, with a command for each tool. The commands of a toolset's tools are built only
/// when the toolset's command is used.
pub fn command() -> clap::Command {
    toolset::add_commands(Cli::command())
}

/// Runs the program with a component.
///
/// # Panics
///
/// If it has run before.
pub fn main(image: Image) -> ExitCode {
    let program = std::env::current_exe().map_or_else(|_| NAME.into(), PathBuf::into_os_string);
    run(image, vec![program], std::env::args_os())
}

/// Runs the program as a part of another one. The first of `arguments` is the program's name. `start`
/// is the command line that starts the program, without arguments.
///
/// # Panics
///
/// If it has run before.
pub fn run(
    image: Image,
    start: Vec<OsString>,
    arguments: impl IntoIterator<Item = OsString>,
) -> ExitCode {
    program::set(image, start);
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error),
    };
    let done = toolset::run(&matches).unwrap_or_else(|| match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli.command.run(),
        Err(error) => Ok(refuse(&error)),
    });
    done.unwrap_or_else(|error| {
        // Standard error may be closed; the exit status still says what happened.
        let _ = writeln!(std::io::stderr(), "{NAME}: {error}");
        error.into()
    })
}

/// Prints clap's message if clap runs no command, such as an error or the help, and returns the exit
/// status.
fn refuse(error: &clap::Error) -> ExitCode {
    // Standard error or output may be closed; the exit status still says what happened.
    let _ = match without_secrets(error) {
        Some(said) => write!(std::io::stderr(), "{said}"),
        None => error.print(),
    };
    u8::try_from(error.exit_code()).unwrap_or(Error::USAGE).into()
}

/// The message of an error with the passwords of URLs hidden. `None` for an error without such a URL,
/// and for help.
fn without_secrets(error: &clap::Error) -> Option<String> {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        return None;
    }
    match hide_urls(&error.render().to_string()) {
        Cow::Owned(said) => Some(said),
        Cow::Borrowed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_command_line_repeats_no_password() {
        let said = |argument| {
            let parsed = command().try_get_matches_from([NAME, argument]);
            without_secrets(&parsed.expect_err("no such command"))
        };
        let shown = said("postgresql://m:S3cret@h/db").expect("it has a secret");
        assert!(shown.contains("postgresql://...") && !shown.contains("S3cret"), "{shown}");
        assert_eq!(said("other"), None);
        assert_eq!(said("--help"), None);
    }
}
