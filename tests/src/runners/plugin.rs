//! The runner of the plugin: wasmtime's Python package runs the component, with the cases and the
//! report of the Python package.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use agent_memory_conformance::case;
use agent_memory_conformance::report::{Report, report_file};
use agent_memory_conformance::workspace::repository_root;

use crate::product::{plugin, python};
use crate::skip::skip;

/// The directory of the programs for tests.
const PROGRAMS: &str = "host-wasi/programs";

/// Whether the plugin is left out, because it or the Python package is not built. The current test
/// then counts as skipped.
///
/// # Panics
///
/// If one is older than its sources, or if it is not built and no test may be skipped.
#[track_caller]
pub fn left_out() -> bool {
    if built().is_some() {
        return false;
    }
    skip("the plugin or the Python package is not built: run `scripts/wheel` and `scripts/plugin`");
    true
}

fn built() -> Option<(PathBuf, PathBuf)> {
    Some((python()?, plugin()?))
}

/// A program for tests, whose first argument is the plugin; none if that is not built.
pub fn program(name: &str) -> Option<Command> {
    let (python, plugin) = built()?;
    let mut command = Command::new(python);
    command.arg("-B").arg(repository_root().join(PROGRAMS).join(name)).arg(plugin);
    Some(command)
}

/// Runs all cases on the plugin.
pub fn report() -> Result<Report, String> {
    let mut runner = program("conformance_of_plugin.py").ok_or("the plugin is not built")?;
    let file = report_file("plugin");
    // Otherwise the report of an earlier run could be read.
    let _ = fs::remove_file(&file);
    let ran = runner.arg(case::directory()).arg(&file).status();
    let status = ran.map_err(|error| error.to_string())?;
    Report::read(&file).map_err(|error| format!("the runner ended with {status}: {error}"))
}
