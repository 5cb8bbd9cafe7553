//! Parsing logs: an input is the bytes of a log.

use serde_json::json;

use crate::document::{line_count, sections, without_mark};
use crate::repository::{AGENT, CONTEXT, DATE, LOG, ROOT, Repository, SCHEMA, SUMMARY};

use super::{check_validate, documents, mixtures};

const SUMMARY_TEXT: &[u8] = b"# Agent Summary\n";
const SCHEMA_TEXT: &[u8] = b"# Agent Memory Schema v1\n\n## Context\n\n## Decisions\n\n## Q & A\n";
const SECTIONS: [&str; 3] = ["Context", "Decisions", "Q & A"];
/// The most characters of a page.
const PAGE: usize = 300;
/// The maximum number of unknown sections that have a warning of their own.
const MAX_NAMED: usize = 20;

/// Checks that a log has a valid header and valid sections, or is refused with the number of a line.
pub fn run(input: &[u8]) {
    let repository =
        Repository::with(&[(SCHEMA, SCHEMA_TEXT), (SUMMARY, SUMMARY_TEXT), (LOG, input)]);
    let before = repository.documents();
    let answer = repository.call("start_session", &[("date", DATE)]);
    assert!(repository.documents() == before, "starting a session has changed a document");
    check_validate(&repository, LOG, answer.is_err());
    check_pages(&repository, input, answer.is_err());
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
        Err(error) => {
            assert_eq!(error.code, "MalformedLog", "{error:?}");
            let line = error.line().expect("a line is named");
            assert!((1..=line_count(input)).contains(&line), "no such line: {error:?}");
        }
    }
}

/// Checks the pages of a log in UTF-8: together they are its text, and they warn if it is malformed.
fn check_pages(repository: &Repository, input: &[u8], is_malformed: bool) {
    let mut arguments =
        json!({"agent_name": AGENT, "repo_root": ROOT, "date": DATE, "limit": PAGE});
    let mut read = String::new();
    loop {
        let page = repository.call_as("read_session", &arguments.to_string(), CONTEXT);
        let page = page.expect("the request is not refused");
        let Ok(text) = std::str::from_utf8(input) else {
            assert_eq!(page.expect_err("only UTF-8 is read").code, "MalformedLog");
            return;
        };
        let page = page.expect("UTF-8 is read");
        let lines = read.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count();
        // A page may end between CR and LF.
        let line = page["line"].as_u64().expect("a line") as usize;
        assert!(line.abs_diff(1 + lines) <= 1, "line {line} after {lines} lines");
        let warnings = page["warnings"].as_array().expect("warnings");
        let warns =
            warnings.iter().any(|text| text.as_str().expect("a text").contains("malformed"));
        assert_eq!(warns, is_malformed, "{warnings:?}");
        let part = page["text"].as_str().expect("a text");
        read += part;
        assert!(text.starts_with(&read) && part.chars().count() <= PAGE, "{part:?}");
        match page.get("next") {
            None => return assert_eq!(read, text),
            Some(next) => {
                assert!(!part.is_empty() && *next == read.chars().count(), "{page}");
                arguments["from"] = next.clone();
            }
        }
    }
}

fn check_sections(text: &str, warnings: &[&str]) {
    let sections = sections(without_mark(text));
    let count = |name: &str| sections.iter().filter(|section| section.name == name).count();
    let warned = |text: &str| warnings.iter().any(|warning| warning.contains(text));
    assert!(count("Header") <= 1, "two headers");
    for name in SECTIONS {
        assert!(count(name) <= 1, "two sections `{name}`");
        let lacks = warned(&format!("lacks section `{name}`"));
        assert_eq!(lacks, count(name) == 0, "`{name}` and {warnings:?}");
    }
    let known = |name: &str| name == "Header" || SECTIONS.contains(&name);
    let mut unknown = sections.iter().filter(|section| !known(&section.name));
    for section in unknown.by_ref().take(MAX_NAMED) {
        let is_named = warned(&format!("section `{}` is not in the schema", section.name));
        assert!(is_named, "`{}` and {warnings:?}", section.name);
    }
    let more = unknown.count();
    assert!(more == 0 || warned(&format!("{more} more sections are not in")), "{warnings:?}");
}

/// The logs of the cases, and random Markdown below a header.
pub fn seeds() -> Vec<Vec<u8>> {
    let head = format!("# t\n\n## Header\n\n- Agent Name: {AGENT}\n- Date: {DATE}\n\n## Context\n");
    let mixtures = mixtures().map(|text| format!("{head}\n{text}").into_bytes());
    documents(LOG).into_iter().chain(mixtures).collect()
}
