//! The conformance suite on every runner, and one report of which case ran where.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::{self, ScopedJoinHandle};
use std::{env, fs};

use agent_memory_core::toolbox;
use agent_memory_tests::case::{Case, Step, directory, load_all};
use agent_memory_tests::expectations::Expectations;
use agent_memory_tests::json_schema::violations;
use agent_memory_tests::product::{source, variants};
use agent_memory_tests::report::{CaseReport, Report, Table, differences, write_overview};
use agent_memory_tests::runner::{Answer, Session, error_code, error_fields, run};
use agent_memory_tests::runners::component::ComponentSession;
use agent_memory_tests::runners::core::CoreSession;
use agent_memory_tests::runners::mcp::McpSession;
use agent_memory_tests::runners::mcp_client::Era;
use agent_memory_tests::runners::node;
use serde_json::{Value, json};

type Start = fn(&Case) -> Result<Box<dyn Session>, String>;

/// The runners of this crate: a name for the report, one for the expectations, and how a case
/// starts. The Node host brings its own.
const RUNNERS: &[(&str, &str, Start)] = &[
    ("core", "core", |case| Ok(CoreSession::start(case))),
    ("component", "component", ComponentSession::start),
    ("mcp-2025", "mcp", |case| McpSession::start(case, Era::Initialize)),
    ("mcp-2026", "mcp", |case| McpSession::start(case, Era::Stateless)),
];

fn report(runner: &str, start: Start, expected: &Expectations, cases: &[Case]) -> Report {
    let for_people = for_people();
    let run_case = |case: &Case| match expected.skip(case, &for_people) {
        Some(reason) => CaseReport::skipped(reason),
        None => match start(case) {
            Ok(session) => {
                let ended = run(case, session, runner == "core");
                CaseReport::ran(ended.fault, &ended.documents)
            }
            Err(error) => CaseReport::ran(Some(error), &BTreeMap::new()),
        },
    };
    let cases = cases.iter().map(|case| (case.name.clone(), run_case(case))).collect();
    Report { runner: runner.to_owned(), tools: Vec::new(), cases }
}

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
        let expected = Expectations::of(expectations);
        let report = report(runner, *start, &expected, &cases);
        report.write();
        (report, expected)
    };
    let (ran, on_node) = thread::scope(|scope| {
        let on_node = scope.spawn(|| (!node::left_out(node::RUNNER)).then(node::report));
        let running: Vec<_> = RUNNERS.iter().map(|each| scope.spawn(move || run(each))).collect();
        let ended = |runner: ScopedJoinHandle<_>| runner.join().expect("a runner that ends");
        let ran: Vec<(Report, Expectations)> = running.into_iter().map(ended).collect();
        (ran, on_node.join().expect("the host is built, or left out as asked"))
    });
    let mut complaints = Vec::new();
    let mut reports = Vec::new();
    for (report, expected) in ran {
        complaints.extend(complaints_about(&report, &expected));
        reports.push(report);
    }
    match on_node {
        None => {
            println!("the Node host is not built and is left out, as {} asks", node::WITHOUT_NODE)
        }
        Some(Ok(report)) => {
            complaints.extend(complaints_about(&report, &Expectations::of("node")));
            complaints.extend(other_tools(&report));
            reports.push(report);
        }
        Some(Err(error)) => complaints.push(format!("node: {error}")),
    }
    complaints.extend(differences(&reports));
    write_overview(&reports);
    println!("{}", Table(&reports));
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Every tool that there is.
fn tools() -> Vec<Value> {
    let tools = toolbox::list_tools(r#"{"toolsets": ["all"]}"#).expect("the tools");
    serde_json::from_str(&tools).expect("JSON")
}

/// The names of the tools that are for people.
fn for_people() -> Vec<String> {
    let tools = tools();
    let for_people = tools.iter().filter(|tool| tool["audience"] == "person");
    for_people.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

/// What a host lists that is not the core's list. Text tells more than values do: the order of keys.
fn other_tools(report: &Report) -> Option<String> {
    let core = toolbox::list_tools(r#"{"toolsets": ["all"]}"#).expect("the tools");
    let listed = Value::from(report.tools.clone()).to_string();
    (listed != core).then(|| format!("{}: lists other tools: {listed}", report.runner))
}

/// The inner loop: seconds, with nothing built but the core. With `BLESS=1` it writes the message
/// texts of the core into the cases.
#[test]
fn every_case_holds_on_the_core() {
    if env::var_os("BLESS").is_some() {
        let mut cases = load_all();
        // The formats of a case share its file, and say the same.
        cases.dedup_by(|a, b| a.file == b.file);
        return cases.iter().for_each(bless);
    }
    let mut complaints = Vec::new();
    for case in load_all() {
        let ended = run(&case, CoreSession::start(&case), true);
        complaints.extend(ended.fault.map(|fault| format!("{}: {fault}", case.name)));
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Replaces the message texts of a case, and nothing else, by what the core says.
fn bless(case: &Case) {
    let session = CoreSession::start(case);
    let places = session.places();
    let ended = run(case, session, false);
    let text = fs::read_to_string(&case.file).expect("a case is readable");
    let (mut blessed, mut rest) = (String::new(), text.as_str());
    for (step, answer) in case.text.steps.iter().zip(&ended.answers) {
        for (old, new) in messages(step, answer) {
            let key = format!("\"message\": {}", json!(old));
            let (before, after) = rest.split_once(&key).expect("the message stands in the case");
            blessed += &format!("{before}\"message\": {}", json!(places.hide(new)));
            rest = after;
        }
    }
    blessed += rest;
    fs::write(&case.file, blessed).expect("a case is writable");
}

/// The message texts of a step as the case has them, each with what the core says there: that of
/// its error, or those of the findings in its result, where it has found the same.
fn messages<'a>(step: &'a Step, answer: &'a Answer) -> Vec<(&'a str, &'a str)> {
    let findings = |result: &'a Value| -> Vec<&'a Value> {
        result["findings"].as_array().into_iter().flatten().collect()
    };
    let (old, new) = match (&step.error, &step.result, answer) {
        (Some(old), _, Answer::Error(new)) => (vec![error_fields(old)], vec![error_fields(new)]),
        (_, Some(old), Answer::Result(new)) => (findings(old), findings(new)),
        _ => return Vec::new(),
    };
    let place = |finding: &Value| ["file", "line", "severity"].map(|field| finding[field].clone());
    let message = |value: &'a Value| value["message"].as_str();
    if old.len() != new.len() || old.iter().zip(&new).any(|(old, new)| place(old) != place(new)) {
        return Vec::new();
    }
    old.into_iter().zip(new).filter_map(|(old, new)| message(old).zip(message(new))).collect()
}

#[test]
fn every_case_follows_the_schema_of_cases() {
    let schema: Value =
        serde_json::from_str(&source("tests/conformance/case.schema.json")).expect("JSON");
    for case in load_all() {
        let text = fs::read_to_string(&case.file).expect("a case is readable");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let found = violations(&schema, &schema, &value);
        assert!(found.is_empty(), "{}: {found:#?}", case.name);
    }
}

#[test]
fn every_result_of_a_case_follows_the_output_schema_of_its_tool() {
    let tools = tools();
    for case in load_all() {
        let places = CoreSession::start(&case).places();
        let results = case.text.steps.iter().filter(|step| step.read.is_none());
        for (step, result) in results.filter_map(|step| Some((step, step.result.as_ref()?))) {
            let named = |tool: &&Value| step.calls(tool["name"].as_str().expect("a name"));
            let schema = &tools.iter().find(named).expect("a mounted tool")["outputSchema"];
            let found = violations(schema, schema, &places.fill(result));
            assert!(found.is_empty(), "{}: {found:#?}", case.name);
        }
    }
}

#[test]
fn every_shared_document_is_used() {
    let text: String = load_all()
        .iter()
        .map(|case| fs::read_to_string(&case.file).expect("a case is readable"))
        .collect();
    for entry in fs::read_dir(directory().join("documents")).expect("the shared documents") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(text.contains(&format!("\"file\": \"{name}\"")), "`{name}` is not used");
    }
}

type Spelling = fn(&str) -> String;

/// Where each toolset has its codes, and how a case spells one.
const CODES: &[(&str, Spelling)] = &[
    ("core-component/src/sessions/error.rs", |name| name.to_owned()),
    ("core-component/src/records/error.rs", screaming),
];

/// The codes that are covered elsewhere, or by nothing that a case could say.
const BEYOND_CASES: &[(&str, &str)] = &[
    ("Internal", "a defect of the program itself, which no input is known to reach"),
    ("INTERNAL_ERROR", "a defect of the program itself, which no input is known to reach"),
];

/// `NotFound` as `NOT_FOUND`.
fn screaming(name: &str) -> String {
    let letter = |(index, letter): (usize, char)| {
        let between = if index > 0 && letter.is_uppercase() { "_" } else { "" };
        format!("{between}{}", letter.to_ascii_uppercase())
    };
    name.chars().enumerate().map(letter).collect()
}

#[test]
fn every_tool_error_code_and_storage_error_is_covered_by_a_case() {
    let cases = load_all();
    let steps = || cases.iter().flat_map(|case| &case.text.steps);
    let mut uncovered = Vec::new();

    for tool in tools().iter().filter_map(|tool| tool["name"].as_str()) {
        if !steps().any(|step| step.call == tool && step.result.is_some()) {
            uncovered.push(format!("tool `{tool}`"));
        }
    }

    let codes: BTreeSet<&str> =
        steps().filter_map(|step| error_code(step.error.as_ref()?)).collect();
    let known = |(file, spelt): &(&str, Spelling)| {
        let known = variants(file, "enum Code {");
        assert!(known.contains(&"StorageError".to_owned()), "{file}: no list of codes");
        known.iter().map(|name| spelt(name)).collect::<Vec<_>>()
    };
    for code in CODES.iter().flat_map(known) {
        let beyond = BEYOND_CASES.iter().any(|(beyond, _)| *beyond == code);
        match (codes.contains(code.as_str()), beyond) {
            (true, false) | (false, true) => {}
            (false, false) => uncovered.push(format!("error code `{code}`")),
            (true, true) => uncovered.push(format!("`{code}` is covered, and listed as beyond")),
        }
    }

    let faults: BTreeSet<&str> =
        cases.iter().flat_map(|case| &case.text.faults).map(|fault| fault.error.as_str()).collect();
    let errors = variants("wit/storage.wit", "enum error-code {");
    assert!(errors.contains(&"busy".to_owned()), "the storage errors are not found");
    uncovered.extend(
        errors
            .into_iter()
            .filter(|error| !faults.contains(error.as_str()))
            .map(|error| format!("storage error `{error}`")),
    );
    assert!(uncovered.is_empty(), "no case covers: {}", uncovered.join(", "));
}
