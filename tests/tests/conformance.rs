//! The conformance suite on all runners, with one report of the cases that each has run.

use std::env;
use std::thread::{self, ScopedJoinHandle};

use agent_memory_conformance::case::{Case, load_all};
use agent_memory_conformance::core_runner::{CoreSession, listed, tools};
use agent_memory_conformance::expectations::Expectations;
use agent_memory_conformance::report::{Report, Table, differences, write_overview};
use agent_memory_conformance::workspace::repository_root;
use agent_memory_tests::runners::component::ComponentSession;
use agent_memory_tests::runners::mcp::McpSession;
use agent_memory_tests::runners::mcp_client::ProtocolVersion;
use agent_memory_tests::runners::{Start, for_people, node, plugin, postgres, python, report};
use agent_memory_tests::skip::not_asked_for;
use serde_json::Value;

/// The hosts that start for each case: the name in the report, the name in the expectations, and the
/// start of a case.
const RUNNERS: &[(&str, &str, Start)] = &[
    ("core", "core", |case| Ok(CoreSession::start(case))),
    ("component", "component", ComponentSession::start),
    ("mcp-2025", "mcp", |case| McpSession::start(case, ProtocolVersion::Initialize)),
    ("mcp-2026", "mcp", |case| McpSession::start(case, ProtocolVersion::Stateless)),
    ("http", "http", McpSession::start_http),
];

/// The variable that asks for the suite on other JavaScript runtimes.
const RUNTIMES: &str = "AGENT_MEMORY_RUNTIMES";

/// The runtimes, with the arguments before a program.
const OTHER_RUNTIMES: &[(&str, &[&str])] = &[("bun", &[]), ("deno", &["run", "--allow-all"])];

/// The differences of a report from the expectations.
fn complaints_about(report: &Report, expected: &Expectations, cases: &[Case]) -> Vec<String> {
    let for_people = for_people();
    let may_skip = |case: &Case| expected.skip(case, &for_people).is_some();
    let all = cases.iter().map(|case| (case.name.clone(), may_skip(case))).collect();
    report.complaints(&all, expected)
}

#[test]
fn every_case_holds_on_every_runner_with_the_same_documents() {
    let cases = load_all();
    let run = |(runner, expectations, start): &(&str, &str, Start)| {
        let expected = Expectations::load(expectations);
        let report = report(runner, *start, &expected, &cases);
        report.write();
        (report, expected)
    };
    let (ran, on_node, on_python, on_plugin, on_postgres) = thread::scope(|scope| {
        let on_postgres = scope.spawn(|| postgres::report(&cases));
        let on_python = scope.spawn(|| (!python::left_out()).then(|| python::report(&cases)));
        let on_plugin = scope.spawn(|| (!plugin::left_out()).then(|| plugin::report(&cases)));
        let on_node =
            scope.spawn(|| (!node::left_out(node::PROGRAM)).then(|| node::report(&cases)));
        let running: Vec<_> = RUNNERS.iter().map(|each| scope.spawn(move || run(each))).collect();
        let ended = |runner: ScopedJoinHandle<_>| runner.join().expect("a runner that ends");
        let ran: Vec<(Report, Expectations)> = running.into_iter().map(ended).collect();
        let on_node = on_node.join().expect("the host is built, or left out as asked");
        let on_python = on_python.join().expect("the package is fresh, or may be left out");
        let on_plugin = on_plugin.join().expect("the plugin is fresh, or may be left out");
        let on_postgres = on_postgres.join().expect("a server that starts, or there is none");
        (ran, on_node, on_python, on_plugin, on_postgres)
    });
    let mut complaints = Vec::new();
    let mut reports = Vec::new();
    for (report, expected) in ran {
        complaints.extend(complaints_about(&report, &expected, &cases));
        reports.push(report);
    }
    if let Some(mut report) = on_postgres {
        let expected = Expectations::load(postgres::RUNNER);
        complaints.extend(complaints_about(&report, &expected, &cases));
        // A case that cannot be given to a server leaves no documents to compare.
        report.cases.retain(|name, _| !expected.fails.contains_key(name));
        report.write();
        reports.push(report);
    }
    if on_node.is_none() {
        println!("the Node host is not built and is left out, as {} asks", node::WITHOUT_NODE);
    }
    let on_programs =
        [(node::RUNNER, on_node), (python::RUNNER, on_python), (plugin::RUNNER, on_plugin)];
    for (runner, ran) in on_programs {
        match ran {
            None => {}
            Some(Ok(report)) => {
                complaints.extend(complaints_about(&report, &Expectations::load(runner), &cases));
                complaints.extend(other_tools(&report));
                report.write();
                reports.push(report);
            }
            Some(Err(error)) => complaints.push(format!("{runner}: {error}")),
        }
    }
    complaints.extend(differences(&reports));
    write_overview(&reports);
    println!("{}", Table(&reports));
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_case_holds_on_other_javascript_runtimes() {
    if env::var_os(RUNTIMES).is_none() {
        return not_asked_for(&format!("{RUNTIMES}=1"));
    }
    let cases = load_all();
    let programs = repository_root().join("tests/npm/node_modules/.bin");
    for (name, arguments) in OTHER_RUNTIMES {
        let report = node::report_on(&programs.join(name), arguments, &cases).expect("it is built");
        let complaints = complaints_about(&report, &Expectations::load(node::RUNNER), &cases);
        println!("{}", Table(std::slice::from_ref(&report)));
        assert!(
            complaints.is_empty(),
            "{} complaints:\n{}",
            complaints.len(),
            complaints.join("\n")
        );
    }
}

/// The host's list of tools, if it differs from the core's. It is compared as text, so that the order
/// of keys counts.
fn other_tools(report: &Report) -> Option<String> {
    let mut core = listed(tools());
    if report.runner == plugin::RUNNER {
        // Like MCP, the plugin lists only the tools for models.
        core.retain(|tool| tool["audience"] == "model");
        for fields in core.iter_mut().filter_map(Value::as_object_mut) {
            fields.shift_remove("audience");
            fields.shift_remove("always_visible");
        }
    }
    let core = Value::from(core).to_string();
    let listed = Value::from(report.tools.clone()).to_string();
    (listed != core).then(|| format!("{}: lists other tools: {listed}", report.runner))
}
