//! Parsing schemas: an input is the bytes of a `_schema.md`.

use crate::document::{line_count, sections, without_mark};
use crate::repository::{DATE, LOG, Repository, SCHEMA};

use super::{HARMLESS, check_validate, documents, mixtures};

/// The maximum number of sections that get an entry. Each entry takes a check of all sections.
const MAX_ENTRIES: usize = 8;

/// Either the schema is refused with an error that names one of its lines, or a new log has exactly the
/// sections of the schema, and each of them takes an entry.
pub fn run(input: &[u8]) {
    let repository = Repository::with(&[(SCHEMA, input)]);
    let answer = repository.call("start_session", &[("date", DATE)]);
    check_validate(&repository, SCHEMA, answer.is_err());
    let error = match answer {
        Ok(_) => {
            let text = std::str::from_utf8(input).expect("only UTF-8 is a schema");
            return check_sections(text, &repository);
        }
        Err(error) => error,
    };
    assert_eq!(error.code, "SchemaInvalid", "{error:?}");
    let line = error.line().expect("a line is named");
    assert!((1..=line_count(input)).contains(&line), "no such line: {error:?}");
    let summary = repository.call("read_summary", &[]);
    let is_invalid = summary.is_err_and(|error| error.code == "SchemaInvalid");
    assert!(is_invalid, "`start_session` refuses the schema, `read_summary` does not");
}

fn check_sections(schema: &str, repository: &Repository) {
    let log = repository.text(LOG);
    let names = |text: &str| -> Vec<String> {
        let names = sections(without_mark(text)).into_iter().map(|section| section.name);
        names.filter(|name| name != "Header").collect()
    };
    assert_eq!(names(schema), names(&log), "the schema's sections and the log's");
    for section in names(schema).into_iter().take(MAX_ENTRIES) {
        let arguments = [("date", DATE), ("section", section.as_str()), ("content", HARMLESS)];
        let answer = repository.call("append_entry", &arguments);
        assert!(answer.is_ok(), "`{section}` accepts no entry: {answer:?}");
        let after = repository.text(LOG);
        assert_eq!(names(schema), names(&after), "the sections after an entry to `{section}`");
    }
}

/// The schemas of the cases, and random Markdown below a title.
pub fn seeds() -> Vec<Vec<u8>> {
    let schema = |text| format!("# Agent Memory Schema v1\n\n{text}\n\n## Context\n");
    let mixtures = mixtures().map(|text| schema(text).into_bytes());
    documents(SCHEMA).into_iter().chain(mixtures).collect()
}
