//! `agent-memory TOOLSET TOOL`: a command for each tool, from the component's description.

use super::embedder::EmbedderOptions;
use super::program::{builder, description};
use super::settings::Reach;
use super::{Error, call, help};
use crate::{Audience, Tool, Toolset};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::process::ExitCode;

// No doc comment here: clap would show it as the help of each command.
#[derive(Debug, Args)]
struct Arguments {
    /// The arguments, a JSON object; `-` reads them from standard input [default: {}]
    #[arg(value_name = "JSON|-", default_value = "{}", hide_default_value = true)]
    arguments: String,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    embedder: EmbedderOptions,
}

/// Adds a command for each toolset that has none yet, with a subcommand for each tool. clap adds the
/// subcommands when the command is used. A toolset that works on the data of the others gets no
/// command: mounted alone, it would find nothing.
pub(super) fn add_commands(mut program: Command) -> Command {
    let toolsets = description().toolsets.iter();
    for toolset in toolsets.filter(|toolset| toolset.left_out_by.is_none()) {
        let name = toolset.name.as_str();
        program = match program.find_subcommand(name) {
            Some(_) => program.mut_subcommand(name, |command| command.defer(add_tools)),
            None => program.subcommand(group(toolset).defer(add_tools)),
        };
    }
    program
}

/// Adds the subcommands of the toolset that the command is named after.
fn add_tools(group: Command) -> Command {
    let toolset = description().toolsets.iter().find(|toolset| toolset.name == group.get_name());
    let tools = toolset.into_iter().flat_map(|toolset| toolset.tools_beside(&[]));
    group.subcommands(tools.map(|tool| command(&tool)))
}

fn group(toolset: &'static Toolset) -> Command {
    Command::new(toolset.name.as_str())
        .about(format!("Call a tool of the toolset `{}`", toolset.name))
        .long_about(format!(
            "Call a tool of the toolset `{}`.\n\n{}. It is mounted for the call.",
            toolset.name, toolset.description
        ))
        .subcommand_value_name("TOOL")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .after_long_help(help::sections(&[include_str!("help/toolset.txt")]))
}

fn command(tool: &Tool) -> Command {
    let command = Command::new(tool.name.clone())
        .about(tool.title.clone())
        .long_about(tool.description.clone())
        .hide(tool.audience == Audience::Person)
        .after_long_help(help::sections(&[
            include_str!("help/toolset-tool.txt"),
            include_str!("help/settings.txt"),
            include_str!("help/call-status.txt"),
        ]));
    Arguments::augment_args(command)
}

/// Runs a command that [`add_commands`] has added. `None` for any other command.
pub(super) fn run(matches: &ArgMatches) -> Option<Result<ExitCode, Error>> {
    let (name, matches) = matches.subcommand()?;
    let toolset = description().toolsets.iter().find(|toolset| toolset.name == name)?;
    let (name, matches) = matches.subcommand()?;
    let tool = toolset.tools_beside(&[]).find(|tool| tool.name == name)?;
    Some(run_tool(toolset, &tool, matches))
}

fn run_tool(toolset: &Toolset, tool: &Tool, matches: &ArgMatches) -> Result<ExitCode, Error> {
    let given = Arguments::from_arg_matches(matches).map_err(Error::usage)?;
    let arguments = call::read(given.arguments)?;
    let builder = builder().toolsets([toolset.name.as_str()]);
    let builder = given.embedder.add(given.reach.builder(builder)?)?;
    let memory = builder.build().map_err(Error::usage)?;
    call::call(&memory, &tool.name, &arguments)
}
