//! All cases pass on the core, and follow the rules of `tests/conformance/README.md`.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::{env, fs};

use agent_memory_conformance::case::{Case, Operation, Step, directory, load_all};
use agent_memory_conformance::core_runner::{CoreSession, tools, tools_of, toolsets};
use agent_memory_conformance::faults::table::{self, Row};
use agent_memory_conformance::json_schema::violations;
use agent_memory_conformance::runner::{Answer, error_code, error_fields, run};
use agent_memory_conformance::workspace::{source, tool_error_codes};
use agent_memory_core::storage::ErrorCode;
use serde_json::{Value, json};

/// With `BLESS=1` it writes the core's message texts into the cases.
#[test]
fn every_case_passes_on_the_core() {
    if env::var_os("BLESS").is_some() {
        let mut cases = load_all();
        // A case has one file for both formats, and both have the same messages.
        cases.dedup_by(|a, b| a.file == b.file);
        return cases.iter().for_each(bless);
    }
    let mut complaints = Vec::new();
    for case in load_all() {
        let ended = run(&case, CoreSession::start(&case), true);
        complaints.extend(ended.error.map(|error| format!("{}: {error}", case.name)));
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Cases with a document that only a person can move away. On a server nobody can, so the document is
/// replaced there.
const FOR_FILES: [&str; 2] = [
    "records/conversion/to-json-beside-a-converted-file",
    "records/conversion/to-sqlite-beside-a-converted-file",
];

/// A call locks only its scope: an agent or a store. The storage panics if two scopes change one row or
/// one document. A commit of documents is atomic there, so cases in which a commit ends early are left
/// out.
#[test]
fn every_case_passes_on_storage_like_a_server() {
    let ends_early = |case: &Case| {
        case.text.faults.iter().any(|fault| matches!(fault.operation, Operation::Commit))
    };
    let mut complaints = Vec::new();
    let is_left_out = |case: &Case| ends_early(case) || FOR_FILES.contains(&case.plain_name());
    for case in load_all().iter().filter(|case| !is_left_out(case)) {
        let ended = catch_unwind(|| run(case, CoreSession::start_on_server(case), true));
        let error = ended.map_or_else(|_| Some("it panicked".to_owned()), |ended| ended.error);
        complaints.extend(error.map(|error| format!("{}: {error}", case.name)));
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_case_passes_on_the_core_with_all_toolsets_mounted() {
    let all = toolsets();
    let all: Vec<&str> = all.iter().map(String::as_str).filter(|name| *name != "memory").collect();
    let mut complaints = Vec::new();
    for case in load_all().iter().filter_map(|case| case.mounted_with(&all)) {
        let ended = run(&case, CoreSession::start(&case), false);
        complaints.extend(ended.error.map(|error| format!("{}: {error}", case.name)));
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// The path differs from machine to machine, and its length counts in the limits of answers.
#[test]
fn no_case_depends_on_the_length_of_the_path_of_its_repository() {
    let long = format!("/scratch/{}/repo", "d".repeat(120));
    let mut complaints = Vec::new();
    for case in load_all() {
        for repository in ["/r", &long] {
            let ended = run(&case, CoreSession::start_at(&case, repository), true);
            let complaint = |error| format!("{} in `{repository}`: {error}", case.name);
            complaints.extend(ended.error.map(complaint));
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Replaces the message texts of a case by the texts of the core.
fn bless(case: &Case) {
    let session = CoreSession::start(case);
    let places = session.places();
    let ended = run(case, session, false);
    let text = fs::read_to_string(&case.file).expect("a case is readable");
    let mut blessed = String::new();
    let mut rest = text.as_str();
    for (step, answer) in case.text.steps.iter().zip(&ended.answers) {
        for (old, new) in messages(step, answer) {
            let key = format!("\"message\": {}", json!(old));
            let (before, after) = rest.split_once(&key).expect("the case has the message");
            blessed += &format!("{before}\"message\": {}", json!(places.hide(new)));
            rest = after;
        }
    }
    blessed += rest;
    fs::write(&case.file, blessed).expect("a case is writable");
}

/// Pairs of message texts of a step: from the case and from the core. They are texts of the error, or
/// of the findings in the result if both have the same findings.
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
    for case in load_all() {
        // Two toolsets may have a tool of the same name.
        let tools = tools_of(case.toolset());
        let places = CoreSession::start(&case).places();
        let results = case.text.steps.iter().filter(|step| step.is_call());
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

/// The codes that no case can cover, with the reasons.
const EXEMPT_CODES: &[(&str, &str)] = &[
    ("Internal", "a defect of the program itself, which no input is known to reach"),
    ("INTERNAL_ERROR", "a defect of the program itself, which no input is known to reach"),
];

#[test]
fn every_tool_error_code_and_storage_error_is_covered_by_a_case_or_the_table() {
    let cases = load_all();
    let steps = || cases.iter().flat_map(|case| &case.text.steps);
    let mut uncovered = Vec::new();

    for tool in tools() {
        let name = |field: &str| tool[field].as_str().expect("a name");
        let is_of = |case: &&Case| {
            name("qualified_name")
                .strip_prefix(case.toolset())
                .is_some_and(|rest| rest[1..] == *name("name"))
        };
        let mut steps = cases.iter().filter(is_of).flat_map(|case| &case.text.steps);
        if !steps.any(|step| step.name() == name("name") && step.result.is_some()) {
            uncovered.push(format!("tool `{}`", name("qualified_name")));
        }
    }

    let table = table::load();
    let of_table = || table.iter().flat_map(Row::errors);
    let of_cases = steps().filter_map(|step| error_code(step.error.as_ref()?));
    let codes: BTreeSet<&str> = of_cases.chain(of_table().map(|(_, code)| code)).collect();
    for code in tool_error_codes() {
        let is_exempt = EXEMPT_CODES.iter().any(|(exempt, _)| *exempt == code);
        match (codes.contains(code.as_str()), is_exempt) {
            (true, false) | (false, true) => {}
            (false, false) => uncovered.push(format!("error code `{code}`")),
            (true, true) => uncovered.push(format!("`{code}` is covered, but in EXEMPT_CODES")),
        }
    }

    let of_cases =
        cases.iter().flat_map(|case| &case.text.faults).map(|fault| fault.error.as_str());
    let faults: BTreeSet<&str> = of_cases.chain(of_table().map(|(error, _)| error)).collect();
    let errors = ErrorCode::ALL.iter().map(|code| code.name());
    let errors = errors.filter(|error| !faults.contains(error.as_str()));
    uncovered.extend(errors.map(|error| format!("storage error `{error}`")));
    assert!(uncovered.is_empty(), "neither a case nor the table covers: {}", uncovered.join(", "));
}
