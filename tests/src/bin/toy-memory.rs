//! The command line and the MCP server over the toolset `notes`.

use agent_memory_host::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(agent_memory_tests::images::toy())
}
