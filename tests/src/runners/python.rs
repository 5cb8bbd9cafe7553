//! The runner of the Python package, a program in `host-python` with the same cases and the same report.

use std::fs;
use std::process::Command;

use agent_memory_conformance::case;
use agent_memory_conformance::report::{Report, report_file};
use agent_memory_conformance::workspace::repository_root;

use crate::product::python;
use crate::skip::skip;

/// The directory of the programs for tests.
const PROGRAMS: &str = "host-python/programs";

/// Whether the Python package is left out, because it is not built. The current test then counts as
/// skipped.
///
/// # Panics
///
/// If it is older than its sources, or if it is not built and no test may be skipped.
#[track_caller]
pub fn left_out() -> bool {
    if python().is_some() {
        return false;
    }
    skip("the Python package is not built: run `scripts/wheel`");
    true
}

/// A program for tests; none if the package is not built.
pub fn program(name: &str) -> Option<Command> {
    let mut command = Command::new(python()?);
    command.arg("-B").arg(repository_root().join(PROGRAMS).join(name));
    Some(command)
}

/// Runs all cases on the Python package.
pub fn report() -> Result<Report, String> {
    let mut runner = program("conformance.py").ok_or("the Python package is not built")?;
    let file = report_file("python");
    // Otherwise the report of an earlier run could be read.
    let _ = fs::remove_file(&file);
    let ran = runner.arg(case::directory()).arg(&file).status();
    let status = ran.map_err(|error| error.to_string())?;
    Report::read(&file).map_err(|error| format!("the runner ended with {status}: {error}"))
}
