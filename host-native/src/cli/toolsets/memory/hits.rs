//! Hits as text: a line with the place of each, and its passage.

use super::marks::Marks;
use crate::cli::terminal::visible;
use clap::builder::styling::{AnsiColor, Style};
use jiff::Timestamp;
use serde::Deserialize;

/// The result of the tool.
#[derive(Deserialize)]
pub(super) struct Found {
    pub(super) hits: Vec<Hit>,
    pub(super) note: Option<String>,
    #[serde(default)]
    pub(super) warnings: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Hit {
    toolset: String,
    repo_root: Option<String>,
    store: Option<String>,
    agent: Option<String>,
    id: Option<Id>,
    path: Option<String>,
    section: Option<String>,
    date: Option<String>,
    passage: String,
    /// How the hit was found, if it has none of the query's words.
    found_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

/// The text of a hit: its place, and the passage below. With `marks`, both are styled.
pub(super) fn readable(hit: &Hit, marks: Option<&Marks>) -> String {
    let labelled = |label: &str, name: &Option<String>| {
        name.as_ref().map(|name| format!("{label}{}", visible(name)))
    };
    let place = [
        Some(hit.toolset.clone()),
        labelled("", &hit.repo_root),
        labelled("store ", &hit.store),
        labelled("agent ", &hit.agent),
        hit.date.as_deref().map(moment),
        labelled("", &hit.path),
        labelled("section ", &hit.section),
        hit.id.as_ref().map(|id| match id {
            Id::Number(number) => format!("id {number}"),
            Id::Text(text) => format!("id {}", visible(text)),
        }),
        labelled("found by ", &hit.found_by),
    ];
    let style = if marks.is_some() { AnsiColor::Cyan.on_default() } else { Style::new() };
    let place = place.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let mut text = format!("{style}{place}{style:#}");
    for line in hit.passage.lines() {
        let line = visible(line);
        let line = marks.map_or_else(|| line.clone(), |marks| marks.set(&line));
        text.push('\n');
        text.push_str(format!("    {line}").trim_end());
    }
    text
}

/// A timestamp to the minute.
fn moment(text: &str) -> String {
    let moment = text.parse::<Timestamp>().ok();
    moment.map_or_else(|| visible(text), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit() -> Hit {
        Hit {
            toolset: "records".to_owned(),
            agent: Some("ada".to_owned()),
            id: Some(Id::Text("1-2".to_owned())),
            date: Some("2025-01-20T10:00:00.000Z".to_owned()),
            passage: "The tests\n\nrun\u{1b}[2J twice.".to_owned(),
            ..Hit::default()
        }
    }

    #[test]
    fn a_hit_is_its_place_and_its_lines_without_control_characters() {
        assert_eq!(
            readable(&hit(), None),
            "records, agent ada, 2025-01-20 10:00 UTC, id 1-2\n    The tests\n\n    \
             run\\u{1b}[2J twice."
        );
    }

    #[test]
    fn a_hit_without_a_word_of_the_query_says_by_what_it_is_found() {
        let found_by = Some("meaning".to_owned());
        let text = readable(&Hit { found_by, ..hit() }, None);
        assert!(text.contains("id 1-2, found by meaning\n"), "{text}");
    }

    #[test]
    fn with_marks_the_place_has_a_colour_and_words_of_the_query_are_bold() {
        let text = readable(&hit(), Some(&Marks::new("testing")));
        assert!(text.starts_with("\u{1b}[36mrecords, "), "{text:?}");
        assert!(text.contains("\n    The \u{1b}[1mtests\u{1b}[0m\n"), "{text:?}");
    }

    #[test]
    fn a_place_in_a_store_is_a_path() {
        let path = Some("notes/plans".to_owned());
        let store = Some("team".to_owned());
        let hit = Hit { toolset: "stores".to_owned(), store, path, ..Hit::default() };
        assert_eq!(readable(&hit, None), "stores, store team, notes/plans");
    }
}
