//! `update_summary`: an input is a mode, a section, a text, and the bytes of the summary.

use std::ops::Range;

use crate::document::{
    Heading, has_plain_headings, headings, joined, line_count, parts, sections, without_mark,
};
use crate::markdown::{Block, Target, blocks, damage};
use crate::repository::{Answer, DATE, Repository, SCHEMA, SUMMARY};

use super::{HARMLESS, calls, documents, mixtures};

const SCHEMA_TEXT: &[u8] = b"# Agent Memory Schema v1\n\n## Context\n";

/// Either an update is refused and the summary does not change, or the text is in its section and the
/// rest of the summary does not change.
pub fn run(input: &[u8]) {
    let [mode, section, content, summary] = parts(input);
    let repository = Repository::with(&[(SCHEMA, SCHEMA_TEXT), (SUMMARY, summary)]);
    let read = repository.call("read_summary", &[]);
    let errors = repository.errors_in(SUMMARY);
    let Ok(before) = std::str::from_utf8(summary) else {
        let error = read.expect_err("a summary has to be UTF-8");
        assert_eq!(error.code, "MalformedLog", "{error:?}");
        let line = error.line().expect("a line is named");
        assert!((1..=line_count(summary)).contains(&line), "no such line: {error:?}");
        assert_eq!(errors, ["not UTF-8"]);
        return;
    };
    let read = read.expect("UTF-8 is a summary");
    let page = read["summary"].as_str().expect("a text");
    let is_cut = read["next"].is_number() && before.starts_with(page);
    assert!(is_cut || page == before, "{page:?}");
    let started = repository.call("start_session", &[("date", DATE)]);
    assert!(started.is_ok(), "a summary stops a session: {started:?}");

    let mode = match mode {
        [b'r', b'e', b'm', ..] => "remove",
        [b'r', ..] => "replace",
        _ => "append",
    };
    let section = section_of(before, &String::from_utf8_lossy(section));
    let first = Update { mode, section: &section, content: &String::from_utf8_lossy(content) };
    let updated = first.check(&repository, before);
    let next = repository.text(SUMMARY);
    let harmless = Update { mode: "append", section: &section, content: HARMLESS };
    let again = harmless.check(&repository, &next);
    let last = repository.text(SUMMARY);
    let new = Update { mode: "append", section: "A New Section", content: HARMLESS };
    let new = new.check(&repository, &last);
    if repository.errors_in(SUMMARY).is_empty() && has_plain_headings(&last) {
        let again_is_near = mode == "remove" && is_near(&again, &next);
        assert!(again.is_ok() || updated.is_err() || again_is_near, "{again:?} to {next:?}");
        assert!(new.is_ok() || is_near(&new, &last), "{new:?} to {last:?}");
    }
}

/// Whether a section was refused because it is nearly one that the summary has.
fn is_near(answer: &Answer, summary: &str) -> bool {
    let Err(error) = answer else { return false };
    let names = sections(without_mark(summary)).into_iter().map(|section| section.name);
    names
        .map(|name| format!("differs from the section `{name}` only"))
        .any(|told| error.code == "InvalidSection" && error.message.contains(&told))
}

/// The name of a section. A number chooses an existing section.
fn section_of(summary: &str, section: &str) -> String {
    let sections = sections(without_mark(summary));
    match section.parse::<usize>() {
        Ok(index) if !sections.is_empty() => sections[index % sections.len()].name.clone(),
        _ => section.to_owned(),
    }
}

struct Update<'a> {
    mode: &'a str,
    section: &'a str,
    content: &'a str,
}

impl Update<'_> {
    /// Makes the update. Panics if the summary is wrong afterwards.
    fn check(&self, repository: &Repository, before: &str) -> Answer {
        let Update { mode, section, content } = *self;
        let arguments = [("section", section), ("content", content), ("mode", mode)];
        let answer = repository.call("update_summary", &arguments);
        let after = repository.text(SUMMARY);
        let problem = match &answer {
            Ok(result) => self.problem(before, &after, result["created_section"] == true),
            Err(error) => {
                let codes = ["InvalidInput", "InvalidSection", "InvalidContent", "MalformedLog"];
                (!codes.contains(&error.code.as_str())).then(|| "an unexpected error".into())
            }
        };
        if let Some(problem) = problem {
            panic!(
                "{problem}\n{mode} {content:?} to {section:?}: {answer:?}\nbefore: {before:?}\n\
                 after: {after:?}"
            );
        }
        answer
    }

    fn problem(&self, before: &str, after: &str, is_created: bool) -> Option<String> {
        let is_marked = before.starts_with('\u{feff}');
        assert_eq!(is_marked, after.starts_with('\u{feff}'), "the byte order mark");
        let before = without_mark(before);
        let after = without_mark(after);
        let named = sections(before).into_iter().filter(|found| found.name == self.section);
        let named: Vec<_> = named.collect();
        match &named[..] {
            _ if is_created != named.is_empty() => Some(format!("created: {is_created}")),
            [] => added(before, after, self.section, self.content),
            [heading] if self.mode == "remove" => removed(before, after, heading),
            [heading] if self.mode == "replace" => replaced(before, after, heading, self.content),
            [heading] => damage(before, after, &Target::Below(heading.source.into())),
            _ => Some("the section exists twice".into()),
        }
    }
}

/// The problem with a replaced body, if there is one.
fn replaced(before: &str, after: &str, heading: &Heading<'_>, content: &str) -> Option<String> {
    let (head, tail) = around(before, heading);
    let start = head.len();
    let end = after.len().checked_sub(tail.len());
    if !after.starts_with(head) || !after.ends_with(tail) || end.is_none_or(|end| end < start) {
        return Some("more than the body of the section is replaced".into());
    }
    let names = |text| headings(text).into_iter().map(|heading| heading.name);
    if !names(before).eq(names(after)) {
        return Some("a heading has another name".into());
    }
    let old_head = blocks(head);
    let old_tail = blocks(tail);
    let new = blocks(after);
    let body = blocks(&stored(content));
    let expected = old_head.iter().chain(&body).chain(&old_tail);
    (!expected.map(shape).eq(new.iter().map(shape)))
        .then(|| format!("the structure of the text or of the rest has changed: {new:#?}"))
}

/// The problem with a removed section, if there is one: more than its heading and blank lines is gone.
fn removed(before: &str, after: &str, heading: &Heading<'_>) -> Option<String> {
    let Range { start, end } = heading.start..heading.start + heading.source.len();
    // White space of Unicode at the end of the heading's line is not in its source.
    let end = before[end..].find(['\n', '\r']).map_or(before.len(), |length| end + length);
    let lines = |text: &str| -> Vec<String> {
        let text = text.replace('\r', "\n");
        let is_text = |line: &&str| !line.trim_matches([' ', '\t']).is_empty();
        text.split('\n').filter(is_text).map(str::to_owned).collect()
    };
    let expected = [lines(&before[..start]), lines(&before[end..])].concat();
    if lines(after) != expected {
        return Some("more than the heading is gone".into());
    }
    let old = blocks(before);
    let new = blocks(after);
    let index = blocks(&before[..start]).len();
    let rest = old.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, block)| shape(block));
    (!rest.eq(new.iter().map(shape))).then(|| format!("the rest has changed: {new:#?}"))
}

/// The text up to the end of a heading, and the text from the next heading of level 1 or 2 on.
fn around<'a>(text: &'a str, heading: &Heading<'_>) -> (&'a str, &'a str) {
    let Range { start, end } = heading.start..heading.start + heading.source.len();
    let next = headings(text).into_iter().find(|next| next.start > start);
    let tail = next.map_or(text.len(), |next| next.start);
    (&text[..end], &text[tail..])
}

/// The problem with a section that was added at the end, if there is one.
fn added(before: &str, after: &str, section: &str, content: &str) -> Option<String> {
    // Blank lines at the end of the summary stay at its end.
    let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let rest = &before[before.floor_char_boundary(same)..];
    if !stored(rest).is_empty() || !after.ends_with(rest) {
        return Some("the rest of the summary has changed".into());
    }
    let old = blocks(before);
    let new = blocks(after);
    let heading = blocks(&format!("## {section}"));
    let body = blocks(&stored(content));
    let expected = old.iter().chain(&heading).chain(&body);
    (!expected.map(shape).eq(new.iter().map(shape)))
        .then(|| format!("more or less than the section and its text was added: {new:#?}"))
}

/// A text as it is stored: with line feeds, and without blank lines at its beginning and its end.
fn stored(content: &str) -> String {
    let content = content.replace("\r\n", "\n").replace('\r', "\n");
    let is_text = |line: &&str| !line.trim_matches([' ', '\t']).is_empty();
    let lines: Vec<&str> = content.split('\n').collect();
    let start = lines.iter().position(is_text).unwrap_or(lines.len());
    let end = lines.iter().rposition(is_text).map_or(start, |last| last + 1);
    lines[start..end].join("\n")
}

/// A block without the targets of its links, which may differ in another document.
fn shape(block: &Block) -> (&str, Option<&String>) {
    (&block.source, block.events.first())
}

/// The updates of the cases, then random Markdown as the text and in the summary.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = calls()
        .iter()
        .filter(|call| call.tool == "update_summary")
        .map(|call| {
            let [mode, section, content] =
                ["mode", "section", "content"].map(|name| call.argument(name).as_bytes());
            joined(&[mode, section, content, call.document(SUMMARY)])
        })
        .collect();
    let updates = documents(SUMMARY).into_iter();
    seeds.extend(updates.map(|summary| joined(&[b"replace", b"1", b"- new", &summary])));
    let template =
        "# Agent Summary\n\n## Overview\n\n- known\n\n## Links\n\n[it]: /i\n\n## See [it]\n";
    let bodies: Vec<String> = mixtures().collect();
    for (index, content) in mixtures().enumerate() {
        let mode: &[u8] = if index % 2 == 0 { b"append" } else { b"replace" };
        let section = ["0", "1", "2", "3", "New"][index % 5].as_bytes();
        let body = format!("{template}\n{}\n\n## Last\n", bodies[(index + 7) % bodies.len()]);
        seeds.push(joined(&[mode, section, content.as_bytes(), body.as_bytes()]));
    }
    seeds
}
