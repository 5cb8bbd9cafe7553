//! The binary `agent-memory`.

use agent_memory_host::cli::Cli;
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(status) => status,
        Err(failure) => {
            // Standard error may be gone; the status says what happened all the same.
            let _ = writeln!(std::io::stderr(), "agent-memory: {failure}");
            failure.into()
        }
    }
}
