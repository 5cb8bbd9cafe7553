//! The log parser: an input is a log, of any bytes.

use serde_json::json;

use crate::document::{line_count, sections, unmarked};
use crate::repository::{AGENT, DATE, LOG, Repository, SCHEMA, SUMMARY};

use super::{check_validate, documents, mixtures};

const SUMMARY_TEXT: &[u8] = b"# Agent Summary\n";
const SCHEMA_TEXT: &[u8] = b"# Agent Memory Schema v1\n\n## Context\n\n## Decisions\n\n## Q & A\n";
const SECTIONS: [&str; 3] = ["Context", "Decisions", "Q & A"];
/// How many unknown sections are named one by one.
const MAX_NAMED: usize = 20;

/// A log is either refused with a line of its own, or its header and its sections are such as the
/// rules say.
pub fn run(input: &[u8]) {
    let repository =
        Repository::with(&[(SCHEMA, SCHEMA_TEXT), (SUMMARY, SUMMARY_TEXT), (LOG, input)]);
    let before = repository.documents();
    let answer = repository.call("start_session", &[("date", DATE)]);
    assert!(repository.documents() == before, "starting a session has changed what was there");
    check_validate(&repository, LOG, answer.is_err());
    match answer {
        Ok(started) => {
            let text = std::str::from_utf8(input).expect("only UTF-8 is a log");
            let warned = started["warnings"].as_array().expect("warnings");
            let warnings: Vec<_> = warned.iter().filter_map(|warning| warning.as_str()).collect();
            check_sections(text, &warnings);
            let listed = repository.call("list_sessions", &[]).expect("a list");
            assert_eq!(listed["sessions"], json!([format!("{DATE}.md")]));
            assert!([AGENT, DATE].iter().all(|value| text.contains(value)), "no such header");
        }
        Err(refusal) => {
            assert_eq!(refusal.code, "MalformedLog", "{refusal:?}");
            let line = refusal.line().expect("a line is named");
            assert!((1..=line_count(input)).contains(&line), "no such line: {refusal:?}");
        }
    }
}

fn check_sections(text: &str, warnings: &[&str]) {
    let sections = sections(unmarked(text));
    let count = |name: &str| sections.iter().filter(|section| section.name == name).count();
    let warned = |what: &str| warnings.iter().any(|warning| warning.contains(what));
    assert!(count("Header") <= 1, "two headers");
    for name in SECTIONS {
        assert!(count(name) <= 1, "two sections `{name}`");
        let lacks = warned(&format!("lacks section `{name}`"));
        assert_eq!(lacks, count(name) == 0, "`{name}` and {warnings:?}");
    }
    let known = |name: &str| name == "Header" || SECTIONS.contains(&name);
    let mut unknown = sections.iter().filter(|section| !known(&section.name));
    for section in unknown.by_ref().take(MAX_NAMED) {
        let is_kept = warned(&format!("section `{}` is not in the schema", section.name));
        assert!(is_kept, "`{}` and {warnings:?}", section.name);
    }
    let more = unknown.count();
    assert!(more == 0 || warned(&format!("{more} more sections are not in")), "{warnings:?}");
}

/// The logs of the cases, and mixtures below a header.
pub fn seeds() -> Vec<Vec<u8>> {
    let head = format!("# t\n\n## Header\n\n- Agent Name: {AGENT}\n- Date: {DATE}\n\n## Context\n");
    let mixtures = mixtures().map(|text| format!("{head}\n{text}").into_bytes());
    documents(LOG).into_iter().chain(mixtures).collect()
}
