//! Handles front matter that is not valid YAML: whether it was meant as a mapping, which of its
//! keys can still be read, and how to repair it.

use crate::text::{excerpt, lines};
use crate::yaml::{self, Node, YamlError};

/// The maximum number of keys and values in front matter.
pub(super) const MAX_NODES: usize = 10_000;

/// The maximum number of words in text before a colon that still looks like a key.
const MAX_WORDS: usize = 2;

/// Whether lines were meant as a mapping: the first line that is not blank or a comment begins with
/// a key.
pub(super) fn is_like_mapping(yaml: &str) -> bool {
    first_line(yaml).is_some_and(|line| {
        let Some((key, value)) = line.split_once(':') else { return false };
        let key = key.trim_matches(['"', '\'']);
        let is_in_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
        let begins = key.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_key = begins && key.chars().all(is_in_key) && key.split(' ').count() <= MAX_WORDS;
        is_key && (value.is_empty() || value.starts_with([' ', '\t']))
    })
}

/// Whether lines were meant as a sequence or mapping in flow style, and not as a Markdown link.
pub(super) fn is_like_collection(yaml: &str) -> bool {
    first_line(yaml).is_some_and(|line| line.starts_with(['[', '{']) && !line.contains("]("))
}

/// Returns the first line that is neither blank nor a comment.
fn first_line(yaml: &str) -> Option<&str> {
    let mut lines = lines(yaml).map(|(_, line)| line.trim());
    lines.find(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns a mapping of those entries that are valid by themselves. `None` if no entry is.
pub(super) fn readable_entries(yaml: &str) -> Option<Node> {
    let mut readable = String::with_capacity(yaml.len());
    for entry in entries(yaml) {
        let root = yaml::parse(entry, MAX_NODES);
        if root.is_ok_and(|root| root.is_none_or(|root| root.entries().is_some())) {
            readable += entry;
        } else {
            // An entry that is not valid becomes spaces, so that the others keep their offsets.
            readable.extend(entry.bytes().map(|byte| match byte {
                b'\n' | b'\r' => char::from(byte),
                _ => ' ',
            }));
        }
    }
    yaml::parse(&readable, MAX_NODES).ok()?.filter(|root| root.entries().is_some())
}

/// Divides the text into its top-level entries, each with the lines below it.
fn entries(yaml: &str) -> Vec<&str> {
    let begins = |line: &str| {
        line.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '#' | '-' | ']' | '}'))
    };
    let starts = lines(yaml).filter(|(at, line)| *at > 0 && begins(line)).map(|(at, _)| at);
    let mut ends: Vec<usize> = starts.collect();
    ends.push(yaml.len());
    let mut start = 0;
    let entry = |end| {
        let entry = &yaml[start..end];
        start = end;
        entry
    };
    ends.into_iter().map(entry).collect()
}

/// Returns the error with advice on how to repair it, if quotes around a value or spaces in place
/// of tabs would help.
pub(super) fn with_repair(yaml: &str, error: YamlError) -> YamlError {
    let lines: Vec<(usize, &str)> = lines(yaml).collect();
    let at_error = error.line.min(lines.len()).saturating_sub(1);
    let is_indented = |line: &str| line.starts_with([' ', '\t', '-']);
    let of_entry = (0..at_error).rev().find(|number| !is_indented(lines[*number].1));
    // The parser may report an error on a line below its cause.
    for number in std::iter::once(at_error).chain(of_entry) {
        let Some((at, line)) = lines.get(number) else { continue };
        let Some(quoted) = quoted(line) else { continue };
        let mended = format!("{}{quoted}{}", &yaml[..*at], &yaml[at + line.len()..]);
        let is_mended = match yaml::parse(&mended, MAX_NODES) {
            Ok(root) => root.is_some_and(|root| root.entries().is_some()),
            Err(next) => next.line > error.line,
        };
        if is_mended {
            let message =
                format!("{}; quote the value: `{}`", error.message, excerpt(quoted.trim()));
            return YamlError { line: number + 1, message };
        }
    }
    if lines.get(at_error).is_some_and(|(_, line)| line.contains('\t')) {
        let message = format!("{}; write spaces instead of tabs", error.message);
        return YamlError { message, ..error };
    }
    error
}

/// Returns a line with its value in double quotes. `None` if the quotes would not change the
/// meaning, or if the line has no value.
fn quoted(line: &str) -> Option<String> {
    let text = line.trim_start();
    let margin = line.len() - text.len();
    let at = margin + if text.starts_with("- ") { 2 } else { text.find(": ")? + 2 };
    let (before, value) = line.split_at(at);
    let value = value.trim();
    let is_list = |open, close| value.starts_with(open) && !value.contains(close);
    let is_special = value
        .starts_with(|c: char| c.is_ascii_punctuation() && !matches!(c, '/' | '.'))
        || value.contains(": ")
        || value.contains(" #")
        || value.ends_with(':');
    if !is_special || is_list('[', ']') || is_list('{', '}') {
        return None;
    }
    Some(format!("{before}{}", serde_json::to_string(unquoted(value)).ok()?))
}

/// Returns the text inside the quotes, even if the closing quote is missing.
fn unquoted(value: &str) -> &str {
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return value;
    };
    let inner = &value[1..];
    match inner.strip_suffix(quote) {
        Some(inner) => inner,
        None if inner.contains(quote) => value,
        None => inner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_says_which_value_to_quote() {
        for (yaml, line, repair) in [
            ("title: Governance: Root\n", 1, r#"`title: "Governance: Root"`"#),
            ("a: 1\ntitle: @home\nb: 2\n", 2, r#"`title: "@home"`"#),
            ("a: 1\ntitle: `code`\n", 2, r#"`title: "`code`"`"#),
            ("title: *bold* move\n", 1, r#"`title: "*bold* move"`"#),
            ("title: [draft] note\n", 1, r#"`title: "[draft] note"`"#),
            ("title: {{ title }}\n", 1, r#"`title: "{{ title }}"`"#),
            ("title: \"open\nb: 2\n", 1, r#"`title: "open"`"#),
            ("title: 'It's here'\n", 1, r#"`title: "It's here"`"#),
            ("title: \"a\" b\n", 1, r#"`title: "\"a\" b"`"#),
            ("path: \"C:\\dir\"\n", 1, r#"`path: "C:\\dir"`"#),
            ("tags:\n  - @home\n", 2, r#"`- "@home"`"#),
        ] {
            let error = yaml::parse(yaml, 100).expect_err(yaml);
            let error = with_repair(yaml, error);
            assert_eq!(error.line, line, "{yaml:?}: {}", error.message);
            assert!(error.message.ends_with(repair), "{yaml:?}: {}", error.message);
            assert!(error.message.contains("; quote the value: "), "{yaml:?}: {}", error.message);
        }
        let tab = "title:\tx\n\ty: 1\n";
        let error = with_repair(tab, yaml::parse(tab, 100).expect_err(tab));
        assert!(error.message.ends_with("; write spaces instead of tabs"), "{}", error.message);
        for (yaml, line) in [("tags: [a\nsource: mcp\n", 2), ("a: 1\na: 2\n", 2)] {
            let error = with_repair(yaml, yaml::parse(yaml, 100).expect_err(yaml));
            assert_eq!(error.line, line, "{yaml:?}");
            assert!(!error.message.contains("quote"), "{yaml:?}: {}", error.message);
        }
    }

    #[test]
    fn the_entries_that_can_be_read_have_their_places() {
        let yaml = "title: Ünrooted: Root\ntags:\n- a\n- b\nx: [\ncreated: 2024-01-01\n";
        let root = readable_entries(yaml).expect("a mapping");
        assert_eq!(root.entries().map(<[_]>::len), Some(2));
        let created = root.get("created").expect("it can be read");
        assert_eq!(&yaml[created.span.clone()], "2024-01-01");
        assert_eq!(root.get("tags").and_then(Node::items).map(<[_]>::len), Some(2));
        assert!(readable_entries("title: a: b\n").is_none());
    }

    #[test]
    fn text_between_rules_is_no_mapping() {
        for mapping in [
            "title: a: b\n",
            "# c\n\nMy key: [\n",
            "tags:\n- a\n",
            "größe: @1\n",
            "\"a b\": c: d\n",
        ] {
            assert!(is_like_mapping(mapping), "{mapping:?}");
        }
        for text in [
            "ACME LEGAL\nDate: a: b\n",
            "https://example.com: a\n",
            "See the following page: a: b\n",
            "12:30 lunch: a\n",
            "- a: b\n",
            "# Title\n",
            "",
        ] {
            assert!(!is_like_mapping(text), "{text:?}");
        }
    }
}
