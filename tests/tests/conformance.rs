//! The conformance suite on all runners, with one report of the cases that each has run.

use std::thread::{self, ScopedJoinHandle};

use agent_memory_conformance::case::{Case, load_all};
use agent_memory_conformance::core_runner::{CoreSession, listed, tools};
use agent_memory_conformance::expectations::Expectations;
use agent_memory_conformance::report::{Report, Table, differences, write_overview};
use agent_memory_tests::runners::component::ComponentSession;
use agent_memory_tests::runners::mcp::McpSession;
use agent_memory_tests::runners::mcp_client::ProtocolVersion;
use agent_memory_tests::runners::{Start, for_people, node, plugin, postgres, python, report};
use serde_json::Value;

/// The runners in Rust: the name in the report, the name in the expectations, and the start of a
/// case. The Node host, the Python package and the plugin have runners of their own.
const RUNNERS: &[(&str, &str, Start)] = &[
    ("core", "core", |case| Ok(CoreSession::start(case))),
    ("component", "component", ComponentSession::start),
    ("mcp-2025", "mcp", |case| McpSession::start(case, ProtocolVersion::Initialize)),
    ("mcp-2026", "mcp", |case| McpSession::start(case, ProtocolVersion::Stateless)),
    ("http", "http", McpSession::start_http),
];

#[test]
fn every_case_holds_on_every_runner_with_the_same_documents() {
    let cases = load_all();
    let for_people = for_people();
    let complaints_about = |report: &Report, expected: &Expectations| {
        let may_skip = |case: &Case| expected.skip(case, &for_people).is_some();
        let all = cases.iter().map(|case| (case.name.clone(), may_skip(case))).collect();
        report.complaints(&all, expected)
    };
    let run = |(runner, expectations, start): &(&str, &str, Start)| {
        let expected = Expectations::load(expectations);
        let report = report(runner, *start, &expected, &cases);
        report.write();
        (report, expected)
    };
    let (ran, on_node, on_python, on_plugin, on_postgres) = thread::scope(|scope| {
        let on_postgres = scope.spawn(|| postgres::report(&cases));
        let on_python = scope.spawn(|| (!python::left_out()).then(python::report));
        let on_plugin = scope.spawn(|| (!plugin::left_out()).then(plugin::report));
        let on_node = scope.spawn(|| (!node::left_out(node::RUNNER)).then(node::report));
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
        complaints.extend(complaints_about(&report, &expected));
        reports.push(report);
    }
    if let Some(mut report) = on_postgres {
        let expected = Expectations::load(postgres::RUNNER);
        complaints.extend(complaints_about(&report, &expected));
        // A case that cannot be given to a server leaves no documents to compare.
        report.cases.retain(|name, _| !expected.fails.contains_key(name));
        report.write();
        reports.push(report);
    }
    if on_node.is_none() {
        println!("the Node host is not built and is left out, as {} asks", node::WITHOUT_NODE);
    }
    for (runner, ran) in [("node", on_node), ("python", on_python), ("plugin", on_plugin)] {
        match ran {
            None => {}
            Some(Ok(report)) => {
                complaints.extend(complaints_about(&report, &Expectations::load(runner)));
                complaints.extend(other_tools(&report));
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

/// The host's list of tools, if it differs from the core's. It is compared as text, so that the order
/// of keys counts.
fn other_tools(report: &Report) -> Option<String> {
    let mut core = listed(tools());
    if report.runner == "plugin" {
        // It lists the tools for models, as MCP does.
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
