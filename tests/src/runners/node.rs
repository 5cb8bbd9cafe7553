//! The runner of the Node host, a program in `host-node` with the same cases and the same report.

use std::env;
use std::fs;
use std::process::Command;

use agent_memory_conformance::case;
use agent_memory_conformance::report::{Report, report_file};

use crate::product::node_program;
use crate::skip::skip;

/// The variable that lets the suite pass on a machine where `host-node` is not built.
pub const WITHOUT_NODE: &str = "AGENT_MEMORY_TEST_WITHOUT_NODE";

/// The file name of its conformance runner, below `dist`.
pub const RUNNER: &str = "conformance.js";

/// Whether the Node host is left out, because it is not built and the variable is set. The current
/// test then counts as skipped.
///
/// # Panics
///
/// If it is not built, and the variable is not set or no test may be skipped.
#[track_caller]
pub fn left_out(program: &str) -> bool {
    if node_program(program).is_some() {
        return false;
    }
    assert!(
        env::var_os(WITHOUT_NODE).is_some(),
        "host-node is not built: run `npm ci && npm run build` in host-node, or set \
         {WITHOUT_NODE}=1 to test without it"
    );
    skip("host-node is not built");
    true
}

/// Runs all cases on the Node host.
pub fn report() -> Result<Report, String> {
    let (node, runner) = node_program(RUNNER).ok_or("host-node is not built")?;
    let file = report_file("node");
    // Otherwise the report of an earlier run could be read.
    let _ = fs::remove_file(&file);
    let status = Command::new(node)
        .arg(runner)
        .arg(case::directory())
        .arg(&file)
        .status()
        .map_err(|error| error.to_string())?;
    Report::read(&file).map_err(|error| format!("the runner ended with {status}: {error}"))
}
