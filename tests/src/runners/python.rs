//! The runner of the Python package.

use std::process::Command;

use agent_memory_conformance::case::Case;
use agent_memory_conformance::report::Report;
use agent_memory_conformance::workspace::repository_root;
use serde_json::{Value, json};

use crate::product::python;
use crate::runners::program::{self, Asked};
use crate::scratch::Scratch;
use crate::skip::skip;

/// The name of the runner in the report, and of its expectations.
pub const RUNNER: &str = "python";

/// The file name of the program that answers requests.
pub const PROGRAM: &str = "calls.py";

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
pub fn report(cases: &[Case]) -> Result<Report, String> {
    let command = program(PROGRAM).ok_or("the Python package is not built")?;
    let open_all = json!({"open": {"allow": [], "toolsets": ["all"]}});
    program::report(RUNNER, RUNNER, Asked { command, drive: "", open, open_all }, cases)
}

/// The request that opens a memory for a case.
fn open(case: &Case, scratch: &Scratch) -> Result<Value, String> {
    let clock = &case.text.clock;
    let mut options = json!({
        "allow": [scratch.repo()],
        "data_dir": scratch.data_dir(),
        "toolsets": case.toolsets(),
        "settings": program::settings(case, scratch)?,
        "models": case.text.models,
        "clock": {"now": clock.now, "step": f64::from(clock.step_ms) / 1000.0},
        "seed": case.text.seed,
    });
    match &clock.time_zone {
        Some(name) => options["time_zone"] = json!(name),
        None => options["utc_offset"] = json!(clock.utc_offset_minutes),
    }
    if let Some(embedder) = &case.text.embedder {
        options["embed_model"] = json!(embedder.model);
    }
    Ok(json!({"open": options}))
}
