//! The append: an input is a choice of log and section, an entry and the body of a log.

use pulldown_cmark::HeadingLevel;

use crate::document::{has_plain_headings, headings, joined, parts, sections, unmarked};
use crate::markdown::{Target, damage};
use crate::repository::{Answer, DATE, LOG, Repository, SCHEMA, SUMMARY};

use super::{HARMLESS, SeedCall, calls, check_validate, mixtures};

const SCHEMAS: [&[&str]; 2] = [
    &["Context", "Discussion Summary", "Decisions", "Open Questions", "Next Actions"],
    &["Risks", "Q & A", "Décisions"],
];

/// What stands above the body of a log; nothing where the body is the whole log.
const HEADS: [&str; 3] = [
    "# aristotle — 2025-01-20\n\n## Header\n\n- Agent Name: aristotle\n- Date: 2025-01-20\n\n",
    "# Agent Memory Session\n\n**Agent Name:** aristotle\n**Date:** 2025-01-20\n\n---\n\n",
    "",
];

/// An entry is either refused, and the log is as it was, or it stands at the end of its section,
/// and all that was in the log is there, in its order and of the same structure. Then the log
/// takes the next entry as well.
pub fn run(input: &[u8]) {
    let [choice, content, body] = parts(input);
    let choice = |index: usize| usize::from(choice.get(index).copied().unwrap_or_default());
    let (schema, head) = (SCHEMAS[choice(0) % SCHEMAS.len()], HEADS[choice(1) % HEADS.len()]);
    let section = schema[choice(2) % schema.len()];
    let content = String::from_utf8_lossy(content);
    let Ok(body) = std::str::from_utf8(body) else { return };
    let log = format!("{head}{body}");
    let repository = repository(schema, &log);
    if repository.call("start_session", &[("date", DATE)]).is_err() {
        let refused = repository.call("append_entry", &arguments(section, HARMLESS));
        assert!(refused.is_err_and(|refusal| refusal.code == "MalformedLog"), "one tool reads it");
        return;
    }

    append(&repository, schema, section, &content).ok();
    // What follows decides whether a list may stand here; a paragraph may anywhere.
    append(&repository, schema, schema[0], "- an item").ok();
    let taken = append(&repository, schema, section, HARMLESS);
    if let Err(refusal) = taken
        && has_plain_headings(&log)
        && !has_old_line_ends(&log)
    {
        panic!("`{section}` takes no paragraph: {refusal:?}\nlog: {:?}", repository.text(LOG));
    }
    check_validate(&repository, LOG, false);
}

/// Whether lines end with CR alone. The parser reads on there for the backticks that keep a fence
/// from being one, but not at the CRLF that an entry's LF makes of it: such a log may take nothing.
fn has_old_line_ends(log: &str) -> bool {
    log.replace("\r\n", "\n").contains('\r')
}

/// Appends and judges.
fn append(repository: &Repository, schema: &[&str], section: &str, content: &str) -> Answer {
    let before = repository.text(LOG);
    let answer = repository.call("append_entry", &arguments(section, content));
    if let Err(refusal) = &answer {
        let codes = ["InvalidContent", "InvalidInput"];
        assert!(codes.contains(&refusal.code.as_str()), "{refusal:?}");
        return answer;
    }
    let after = repository.text(LOG);
    let is_marked = before.starts_with('\u{feff}');
    assert_eq!(is_marked, after.starts_with('\u{feff}'), "the byte order mark");
    let (before, after) = (unmarked(&before), unmarked(&after));
    if let Some(damage) = damage(before, after, &target(before, schema, section)) {
        panic!("{damage}\n{content:?} to {section}\nbefore: {before:?}\nafter: {after:?}");
    }
    answer
}

/// Where an entry to the section has to stand.
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
        // The header of the first program is all that stands above the first section.
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

/// The appends of the cases, and their entries and mixtures in logs of mixtures.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut calls = calls();
    calls.retain(|call| call.tool == "append_entry");
    // The first schema, a whole log, and the section by its place in the schema.
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
