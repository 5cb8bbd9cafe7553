//! The runner of the Node host.

use std::cell::RefCell;
use std::env;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use agent_memory_conformance::case::Case;
use agent_memory_conformance::report::Report;
use agent_memory_conformance::runner::Session;
use serde_json::{Value, json};

use crate::line_program::LineProgram;
use crate::product::node_program;
use crate::runners::program::{self, Asked, ProgramSession};
use crate::scratch::Scratch;
use crate::skip::skip;
use crate::wine;

/// The variable that lets the suite pass on a machine where `host-node` is not built.
pub const WITHOUT_NODE: &str = "AGENT_MEMORY_TEST_WITHOUT_NODE";

/// The name of the runner in the report, and of its expectations.
pub const RUNNER: &str = "node";

/// The name of the report on Windows.
const IN_WINE: &str = "node-windows";

/// The file name of the program that answers requests, below `dist`.
pub const PROGRAM: &str = "calls.js";

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
pub fn report(cases: &[Case]) -> Result<Report, String> {
    program::report(RUNNER, RUNNER, asked(command()?, ""), cases)
}

/// The program that answers requests, in Node.
fn command() -> Result<Command, String> {
    let (node, program) = node_program(PROGRAM).ok_or("host-node is not built")?;
    let mut command = Command::new(node);
    command.arg(program);
    Ok(command)
}

/// Starts the program. The returned function starts one case after the other on it.
pub fn start() -> Result<impl Fn(&Case) -> Result<Box<dyn Session>, String>, String> {
    let program = Rc::new(RefCell::new(LineProgram::start(command()?)));
    Ok(move |case: &Case| ProgramSession::start(&program, "", open, case))
}

/// Runs all cases on another JavaScript runtime, which gets these arguments before the program.
pub fn report_on(runtime: &Path, arguments: &[&str], cases: &[Case]) -> Result<Report, String> {
    let (_, program) = node_program(PROGRAM).ok_or("host-node is not built")?;
    let name = runtime.file_name().unwrap_or_default().to_string_lossy();
    let mut command = Command::new(runtime);
    command.args(arguments).arg(program);
    program::report(&name, RUNNER, asked(command, ""), cases)
}

/// Runs all cases on Node for Windows, under Wine.
pub fn report_in_wine(cases: &[Case]) -> Result<Report, String> {
    program::report(IN_WINE, RUNNER, asked(command_in_wine()?, wine::DRIVE), cases)
}

/// Starts the program in Node for Windows, under Wine.
pub fn start_in_wine() -> Result<LineProgram, String> {
    Ok(LineProgram::start(command_in_wine()?))
}

fn command_in_wine() -> Result<Command, String> {
    let (_, program) = node_program(PROGRAM).ok_or("host-node is not built")?;
    Ok(wine::node_command(&program))
}

fn asked(command: Command, drive: &'static str) -> Asked {
    let open_all = json!({"open": {"allow": [], "toolsets": ["all"], "workers": 1}});
    Asked { command, drive, open, open_all }
}

/// The request that opens a memory for a case.
fn open(case: &Case, scratch: &Scratch) -> Result<Value, String> {
    let clock = &case.text.clock;
    let mut options = json!({
        "allow": [scratch.shown(&scratch.repo())],
        "dataDir": scratch.shown(&scratch.data_dir()),
        "toolsets": case.toolsets(),
        "settings": program::settings(case, scratch)?,
        "models": case.text.models,
        "clock": {"now": clock.now, "step": clock.step_ms},
        "random": {"seed": case.text.seed},
        "workers": 1,
    });
    match &clock.time_zone {
        Some(name) => options["timeZone"] = json!(name),
        None => options["utcOffset"] = json!(clock.utc_offset_minutes),
    }
    if let Some(embedder) = &case.text.embedder {
        options["embedModel"] = json!(embedder.model);
    }
    Ok(json!({"open": options}))
}
