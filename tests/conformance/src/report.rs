//! The report of a runner: how each case ended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use agent_memory_core::storage::version_of;
use serde::Serialize;
use serde_json::Value;

use crate::case::Documents;
use crate::expectations::Expectations;
use crate::workspace::target_directory;

/// The report of one runner.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The runner's name.
    pub runner: String,
    /// The tools that its host lists with the toolsets `all`. Empty for a host in Rust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
    /// All cases, by name.
    pub cases: BTreeMap<String, CaseReport>,
}

/// The report of one case.
#[derive(Debug, Serialize)]
pub struct CaseReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The SHA-256 of each document in storage at the end.
    pub documents: BTreeMap<String, String>,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// The path of a runner's report.
pub fn report_file(runner: &str) -> PathBuf {
    target_directory().join("conformance").join(format!("{runner}.json"))
}

impl CaseReport {
    /// A case that was run.
    pub fn ran(error: Option<String>, documents: &Documents) -> Self {
        let outcome = if error.is_none() { Outcome::Passed } else { Outcome::Failed };
        let hash = |(path, bytes): (&String, &Vec<u8>)| (path.clone(), version_of(bytes));
        Self { outcome, reason: error, documents: documents.iter().map(hash).collect() }
    }

    /// A case that was not run.
    pub fn skipped(reason: &str) -> Self {
        let reason = Some(reason.to_owned());
        Self { outcome: Outcome::Skipped, reason, documents: BTreeMap::new() }
    }
}

impl Report {
    /// Writes the report to [`report_file`].
    pub fn write(&self) {
        write_json(&report_file(&self.runner), self);
    }

    /// The differences from the expectations. `cases` has all cases, and whether the runner may skip
    /// each.
    pub fn complaints(
        &self,
        cases: &BTreeMap<String, bool>,
        expected: &Expectations,
    ) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut complain = |name: &str, complaint: String| {
            complaints.push(format!("{}: {name}: {complaint}", self.runner));
        };
        let names: BTreeSet<_> = self.cases.keys().chain(cases.keys()).collect();
        for name in names {
            let (Some(report), Some(&may_skip)) = (self.cases.get(name), cases.get(name)) else {
                complain(name, "only the runner or only the suite has this case".into());
                continue;
            };
            let reason = report.reason.as_deref().unwrap_or("no reason given");
            match (report.outcome, expected.fails.contains_key(name)) {
                (Outcome::Passed, false) | (Outcome::Failed, true) => {}
                (Outcome::Skipped, _) if may_skip => {}
                (Outcome::Skipped, _) => complain(name, format!("skipped: {reason}")),
                (Outcome::Failed, false) => complain(name, reason.to_owned()),
                (Outcome::Passed, true) => complain(name, "passes, but is expected to fail".into()),
            }
        }
        for name in expected.fails.keys().filter(|name| !cases.contains_key(*name)) {
            complain(name, "is expected to fail, but there is no such case".into());
        }
        complaints
    }
}

/// Writes one file for all reports: the outcome of each case on each runner.
pub fn write_overview(reports: &[Report]) {
    let mut overview: BTreeMap<&str, BTreeMap<&str, Outcome>> = BTreeMap::new();
    for report in reports {
        for (name, case) in &report.cases {
            overview.entry(name).or_default().insert(&report.runner, case.outcome);
        }
    }
    write_json(&report_file("overview"), &overview);
}

fn write_json(file: &Path, value: &impl Serialize) {
    let text = serde_json::to_string_pretty(value).expect("a report is JSON");
    fs::create_dir_all(file.parent().expect("it is in a directory"))
        .and_then(|()| fs::write(file, text + "\n"))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// The cases after which two runners had different documents.
pub fn differences(reports: &[Report]) -> Vec<String> {
    let mut found = Vec::new();
    let ran = |report: &&Report, name: &str| {
        report.cases.get(name).is_some_and(|case| case.outcome != Outcome::Skipped)
    };
    let names: BTreeSet<_> = reports.iter().flat_map(|report| report.cases.keys()).collect();
    for name in names {
        let mut reports = reports.iter().filter(|report| ran(report, name));
        let Some(first) = reports.next() else { continue };
        for other in reports.filter(|o| o.cases[name].documents != first.cases[name].documents) {
            found.push(format!("{name}: `{}` and `{}` differ", first.runner, other.runner));
        }
    }
    found
}

/// A table of all reports: a row for each topic, a column for each runner.
#[derive(Debug)]
pub struct Table<'a>(pub &'a [Report]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topic = |name: &str| name.rsplit_once('/').map_or(name, |(topic, _)| topic).to_owned();
        let names = self.0.iter().flat_map(|report| report.cases.keys());
        let topics: BTreeSet<String> = names.map(|name| topic(name)).collect();
        write!(f, "{:32}", "passed/failed/skipped")?;
        self.0.iter().try_for_each(|report| write!(f, "{:>14}", report.runner))?;
        writeln!(f)?;
        for of in topics.iter().map(String::as_str).chain(["all"]) {
            write!(f, "{of:32}")?;
            for report in self.0 {
                let count = |outcome| {
                    let cases = report.cases.iter().filter(|(name, case)| {
                        case.outcome == outcome && (of == "all" || topic(name) == of)
                    });
                    cases.count()
                };
                let counts = [Outcome::Passed, Outcome::Failed, Outcome::Skipped].map(count);
                write!(f, "{:>14}", counts.map(|count| count.to_string()).join("/"))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAN: &str = "ran";
    const LEFT_OUT: &str = "left-out";

    fn complaints(ran: CaseReport, left_out: CaseReport, expected: &Expectations) -> usize {
        let cases = BTreeMap::from([(RAN.to_owned(), false), (LEFT_OUT.to_owned(), true)]);
        let report = Report {
            runner: "r".into(),
            tools: Vec::new(),
            cases: BTreeMap::from([(RAN.into(), ran), (LEFT_OUT.into(), left_out)]),
        };
        report.complaints(&cases, expected).len()
    }

    fn passed() -> CaseReport {
        CaseReport::ran(None, &Documents::new())
    }

    fn failed() -> CaseReport {
        CaseReport::ran(Some("it differs".into()), &Documents::new())
    }

    #[test]
    fn a_runner_may_skip_only_the_cases_that_it_may_leave_out() {
        let none = Expectations::default();
        let skipped = || CaseReport::skipped("cannot inject");
        assert_eq!(complaints(passed(), passed(), &none), 0);
        assert_eq!(complaints(passed(), skipped(), &none), 0);
        assert_eq!(complaints(skipped(), skipped(), &none), 1);
    }

    #[test]
    fn a_case_that_is_expected_to_fail_must_exist_and_fail() {
        let fails = |name: &str| Expectations {
            fails: BTreeMap::from([(name.to_owned(), "known".to_owned())]),
            ..Expectations::default()
        };
        assert_eq!(complaints(failed(), passed(), &Expectations::default()), 1);
        assert_eq!(complaints(failed(), passed(), &fails(RAN)), 0);
        assert_eq!(complaints(passed(), passed(), &fails(RAN)), 1);
        assert_eq!(complaints(passed(), passed(), &fails("no-such-case")), 1);
    }

    #[test]
    fn documents_that_differ_between_runners_are_found() {
        let report = |runner: &str, text: &str| Report {
            runner: runner.into(),
            tools: Vec::new(),
            cases: BTreeMap::from([(
                RAN.to_owned(),
                CaseReport::ran(None, &BTreeMap::from([("a".to_owned(), text.into())])),
            )]),
        };
        assert_eq!(differences(&[report("x", "1"), report("y", "1")]), Vec::<String>::new());
        assert_eq!(differences(&[report("x", "1"), report("y", "2")]), ["ran: `x` and `y` differ"]);
    }
}
