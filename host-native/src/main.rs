//! The binary `agent-memory`.

use agent_memory_host::{Image, cli};
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(Image::embedded())
}
