//! `append_entry`: an input chooses the schema, the beginning of the log and the section. The entry
//! and the rest of the log follow.

use pulldown_cmark::HeadingLevel;

use crate::document::{has_plain_headings, headings, joined, parts, sections, without_mark};
use crate::markdown::{Target, damage};
use crate::repository::{Answer, DATE, LOG, Repository, SCHEMA, SUMMARY};

use super::{HARMLESS, SeedCall, calls, check_validate, mixtures};

const SCHEMAS: [&[&str]; 2] = [
    &["Context", "Discussion Summary", "Decisions", "Open Questions", "Next Actions"],
    &["Risks", "Q & A", "Décisions"],
];

/// The beginning of a log, before its body. With the empty beginning, the body is the whole log.
const HEADS: [&str; 3] = [
    "# aristotle — 2025-01-20\n\n## Header\n\n- Agent Name: aristotle\n- Date: 2025-01-20\n\n",
    "# Agent Memory Session\n\n**Agent Name:** aristotle\n**Date:** 2025-01-20\n\n---\n\n",
    "",
];

/// Checks an append. If it is refused, the log does not change. Otherwise the entry is at the end of
/// its section, the rest of the log has the same order and structure, and the log accepts the next
/// entry.
pub fn run(input: &[u8]) {
    let [choice, content, body] = parts(input);
    let choice = |index: usize| usize::from(choice.get(index).copied().unwrap_or_default());
    let schema = SCHEMAS[choice(0) % SCHEMAS.len()];
    let head = HEADS[choice(1) % HEADS.len()];
    let section = schema[choice(2) % schema.len()];
    let content = String::from_utf8_lossy(content);
    let Ok(body) = std::str::from_utf8(body) else { return };
    let log = format!("{head}{body}");
    let repository = repository(schema, &log);
    if repository.call("start_session", &[("date", DATE)]).is_err() {
        let refused = repository.call("append_entry", &arguments(section, HARMLESS));
        let is_malformed = refused.is_err_and(|error| error.code == "MalformedLog");
        assert!(is_malformed, "`start_session` refuses the log, `append_entry` does not");
        return;
    }

    append(&repository, schema, section, &content).ok();
    // A list may be refused, depending on the text after it. A paragraph must be accepted.
    append(&repository, schema, schema[0], "- an item").ok();
    let appended = append(&repository, schema, section, HARMLESS);
    if let Err(error) = appended
        && has_plain_headings(&log)
        && !has_old_line_ends(&log)
    {
        panic!("`{section}` refuses a paragraph: {error:?}\nlog: {:?}", repository.text(LOG));
    }
    check_validate(&repository, LOG, false);
}

/// Whether lines end with CR alone. Such a log may refuse every entry. The parser ends the first line
/// of a code fence at CRLF but not at CR, and an entry can add an LF after the CR.
fn has_old_line_ends(log: &str) -> bool {
    log.replace("\r\n", "\n").contains('\r')
}

/// Appends an entry and checks the log.
fn append(repository: &Repository, schema: &[&str], section: &str, content: &str) -> Answer {
    let before = repository.text(LOG);
    let answer = repository.call("append_entry", &arguments(section, content));
    if let Err(error) = &answer {
        let codes = ["InvalidContent", "InvalidInput"];
        assert!(codes.contains(&error.code.as_str()), "{error:?}");
        return answer;
    }
    let after = repository.text(LOG);
    let is_marked = before.starts_with('\u{feff}');
    assert_eq!(is_marked, after.starts_with('\u{feff}'), "the byte order mark");
    let before = without_mark(&before);
    let after = without_mark(&after);
    if let Some(damage) = damage(before, after, &target(before, schema, section)) {
        panic!("{damage}\n{content:?} to {section}\nbefore: {before:?}\nafter: {after:?}");
    }
    answer
}

/// The expected place of an entry to the section.
fn target(log: &str, schema: &[&str], section: &str) -> Target {
    let found = sections(log);
    let named = |name: &str| found.iter().find(|section| section.name == name);
    if let Some(found) = named(section) {
        return Target::Below(found.source.into());
    }
    let earlier = schema.iter().take_while(|earlier| **earlier != section);
    let nearest = earlier.filter_map(|earlier| named(earlier)).last().or_else(|| named("Header"));
    let after = match nearest {
        Some(nearest) => nearest.source,
        // In a log of the earlier program, the header is the text above the first section.
        None => {
            let headings = headings(log);
            let above = headings.iter().take_while(|heading| heading.level == HeadingLevel::H1);
            above.last().expect("a log of the first program has a title").source
        }
    };
    Target::New { heading: format!("## {section}"), after: after.into() }
}

fn repository(sections: &[&str], log: &str) -> Repository {
    let sections: String = sections.iter().map(|section| format!("\n## {section}\n")).collect();
    let schema = format!("# Agent Memory Schema v1\n{sections}");
    Repository::with(&[
        (SCHEMA, schema.as_bytes()),
        (SUMMARY, b"# Agent Summary\n"),
        (LOG, log.as_bytes()),
    ])
}

fn arguments<'a>(section: &'a str, content: &'a str) -> [(&'a str, &'a str); 3] {
    [("date", DATE), ("section", section), ("content", content)]
}

/// The seeds: first the calls of `append_entry` in the cases, then their entries and random Markdown,
/// each in a log of random Markdown.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut calls = calls();
    calls.retain(|call| call.tool == "append_entry");
    // The first schema, the empty head, and the section's index in the schema.
    let choice = |call: &SeedCall| -> [u8; 3] {
        let section = SCHEMAS[0].iter().position(|section| *section == call.argument("section"));
        [0, 2, section.unwrap_or_default() as u8]
    };
    let mut seeds: Vec<Vec<u8>> = calls
        .iter()
        .map(|call| {
            let content = call.argument("content").as_bytes();
            joined(&[&choice(call), content, call.document(LOG)])
        })
        .collect();
    let bodies: Vec<String> = mixtures().collect();
    let contents = calls.iter().map(|call| call.argument("content").to_owned());
    for (index, content) in contents.chain(mixtures()).enumerate() {
        let choice = [7, 5, 3].map(|step| (index / step % 6) as u8);
        let body = format!("## Context\n\n{}\n\n## Decisions\n", bodies[index % bodies.len()]);
        seeds.push(joined(&[&choice, content.as_bytes(), body.as_bytes()]));
    }
    seeds
}
