//! The runner of the plugin, in wasmtime's Python package.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use agent_memory_conformance::case::{self, Case};
use agent_memory_conformance::report::Report;
use agent_memory_conformance::workspace::repository_root;
use serde_json::{Value, json};

use crate::product::{plugin, python};
use crate::runners::program::{self, Asked};
use crate::runners::{flags, utc_offset};
use crate::scratch::Scratch;
use crate::skip::skip;

/// The name of the runner in the report, and of its expectations.
pub const RUNNER: &str = "plugin";

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

/// A program for tests, whose first argument is the plugin. `None` if the plugin is not built.
pub fn program(name: &str) -> Option<Command> {
    let (python, plugin) = built()?;
    let mut command = Command::new(python);
    command.arg("-B").arg(repository_root().join(PROGRAMS).join(name)).arg(plugin);
    Some(command)
}

/// Runs all cases on the plugin.
pub fn report(cases: &[Case]) -> Result<Report, String> {
    let command = program("calls_of_plugin.py").ok_or("the plugin is not built")?;
    let directory = case::directory();
    let open_all = json!({"open": {"AGENT_MEMORY_TOOLSET": "all"}, "directory": directory});
    program::report(RUNNER, RUNNER, Asked { command, drive: "", open, open_all }, cases)
}

/// The request that opens a memory for a case. The settings are variables of the environment, named
/// like the options of the command line.
fn open(case: &Case, scratch: &Scratch) -> Result<Value, String> {
    let clock = &case.text.clock;
    let shown = |path: PathBuf| path.to_str().expect("scratch paths are UTF-8").to_owned();
    let mut variables = BTreeMap::from([
        ("toolset".to_owned(), case.toolsets().join(",")),
        ("allow".to_owned(), shown(scratch.repo())),
        ("data-dir".to_owned(), shown(scratch.data_dir())),
        ("accept-modes".to_owned(), "true".to_owned()),
        ("fixed-clock".to_owned(), format!("{}+{}ms", clock.now, clock.step_ms)),
        ("fixed-random".to_owned(), case.text.seed.to_string()),
        ("utc-offset".to_owned(), utc_offset(clock)),
    ]);
    variables.extend(flags(case, scratch)?);
    let variable = |(flag, value): (String, String)| {
        (format!("AGENT_MEMORY_{}", flag.replace('-', "_").to_uppercase()), value)
    };
    let variables: BTreeMap<_, _> = variables.into_iter().map(variable).collect();
    let everything = shown(scratch.repo().parent().expect("it is in a directory").to_owned());
    Ok(json!({"open": variables, "directory": everything}))
}
