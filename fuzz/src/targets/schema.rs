//! The schema parser: an input is a `_schema.md`, of any bytes.

use crate::document::{line_count, sections, unmarked};
use crate::repository::{DATE, LOG, Repository, SCHEMA};

use super::{HARMLESS, check_validate, documents, mixtures};

/// How many sections get an entry: each costs a look at all of them.
const MAX_ENTRIES: usize = 8;

/// A schema is either refused with a line of its own, or the log that it makes has its sections,
/// which take entries.
pub fn run(input: &[u8]) {
    let repository = Repository::with(&[(SCHEMA, input)]);
    let answer = repository.call("start_session", &[("date", DATE)]);
    check_validate(&repository, SCHEMA, answer.is_err());
    let refusal = match answer {
        Ok(_) => {
            let text = std::str::from_utf8(input).expect("only UTF-8 is a schema");
            return check_sections(text, &repository);
        }
        Err(refusal) => refusal,
    };
    assert_eq!(refusal.code, "SchemaInvalid", "{refusal:?}");
    let line = refusal.line().expect("a line is named");
    assert!((1..=line_count(input)).contains(&line), "no such line: {refusal:?}");
    let summary = repository.call("read_summary", &[]);
    assert!(summary.is_err_and(|refusal| refusal.code == "SchemaInvalid"), "one tool reads it");
}

fn check_sections(schema: &str, repository: &Repository) {
    let log = repository.text(LOG);
    let names = |text: &str| -> Vec<String> {
        let names = sections(unmarked(text)).into_iter().map(|section| section.name);
        names.filter(|name| name != "Header").collect()
    };
    assert_eq!(names(schema), names(&log), "the schema's sections and the log's");
    for section in names(schema).into_iter().take(MAX_ENTRIES) {
        let arguments = [("date", DATE), ("section", section.as_str()), ("content", HARMLESS)];
        let answer = repository.call("append_entry", &arguments);
        assert!(answer.is_ok(), "`{section}` takes no entry: {answer:?}");
        let again = repository.text(LOG);
        assert_eq!(names(schema), names(&again), "the sections after an entry to `{section}`");
    }
}

/// The schemas of the cases, and mixtures below a title.
pub fn seeds() -> Vec<Vec<u8>> {
    let schema = |text| format!("# Agent Memory Schema v1\n\n{text}\n\n## Context\n");
    let mixtures = mixtures().map(|text| schema(text).into_bytes());
    documents(SCHEMA).into_iter().chain(mixtures).collect()
}
