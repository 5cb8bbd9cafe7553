//! The runners, a file each: they start a host for a case and pass calls to it.

pub mod component;
pub mod mcp;
pub mod mcp_client;
pub mod node;
pub mod plugin;
pub mod postgres;
pub mod program;
pub mod python;

use std::collections::BTreeMap;

use agent_memory_conformance::case::{Case, CaseClock};
use agent_memory_conformance::core_runner::tools;
use agent_memory_conformance::expectations::Expectations;
use agent_memory_conformance::report::{CaseReport, Report};
use agent_memory_conformance::runner::{Session, run};
use agent_memory_host::{Image, Toolset, ToolsetSetting};
use serde_json::Value;

use crate::scratch::Scratch;

/// The toolsets that a host mounts by default, each with the setting that leaves it out. With all of
/// these settings, a host mounts exactly the toolsets that a case names.
fn left_out() -> Result<Vec<(String, ToolsetSetting)>, String> {
    let image = Image::embedded();
    let description = image.description().map_err(|error| error.to_string())?;
    let setting = |toolset: &Toolset| {
        let setting = toolset.setting(toolset.left_out_by.as_ref()?);
        let setting = setting.map(|setting| (toolset.name.clone(), setting.clone()));
        Some(setting.map_err(|unknown| unknown.to_string()))
    };
    description.toolsets.iter().filter_map(setting).collect()
}

/// The settings of a case as options of the command line: their names and values. Exactly the toolsets
/// that the case names are mounted.
fn flags(case: &Case, scratch: &Scratch) -> Result<Vec<(String, String)>, String> {
    let image = Image::embedded();
    let description = image.description().map_err(|error| error.to_string())?;
    let flag = |(toolset, name, value): (String, String, Value)| {
        let setting = description.toolset(&toolset).and_then(|of| of.setting(&name));
        let flag = setting.map_err(|unknown| unknown.to_string())?.flag.clone();
        Ok((flag, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    };
    let of_case: Result<Vec<_>, String> = scratch.settings(case).into_iter().map(flag).collect();
    let left_out = left_out()?.into_iter().map(|(_, setting)| (setting.flag, "true".to_owned()));
    Ok(of_case?.into_iter().chain(left_out).collect())
}

/// The time zone of a case, as the command line takes it.
fn utc_offset(clock: &CaseClock) -> String {
    let offset = clock.utc_offset_minutes;
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.unsigned_abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Starts a host for a case.
pub type Start = fn(&Case) -> Result<Box<dyn Session>, String>;

/// Runs cases, one after the other.
pub fn report(
    runner: &str,
    start: impl Fn(&Case) -> Result<Box<dyn Session>, String>,
    expected: &Expectations,
    cases: &[Case],
) -> Report {
    let for_people = for_people();
    let run_case = |case: &Case| match expected.skip(case, &for_people) {
        Some(reason) => CaseReport::skipped(reason),
        None => match start(case) {
            Ok(session) => {
                let ended = run(case, session, runner == "core");
                CaseReport::ran(ended.error, &ended.documents)
            }
            Err(error) => CaseReport::ran(Some(error), &BTreeMap::new()),
        },
    };
    let cases = cases.iter().map(|case| (case.name.clone(), run_case(case))).collect();
    Report { runner: runner.to_owned(), tools: Vec::new(), cases }
}

/// The names of the tools for people.
pub fn for_people() -> Vec<String> {
    let tools = tools();
    let for_people = tools.iter().filter(|tool| tool["audience"] == "person");
    for_people.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}
