//! The arguments that the tools list, and the violations of a call.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::model::text::LONGEST;

/// The values that a field accepts.
#[derive(Clone, Copy)]
pub enum Field {
    AgentName,
    Path,
    Date,
    /// The section of a log.
    Section,
    /// The section of a summary, which is not blank.
    Heading,
    /// Text that is not blank.
    Content,
    /// Text that is not blank, or none at all.
    Body,
    Mode,
    /// A passage of a section, or the text that replaces it.
    Passage,
    Version,
    Limit,
    /// The most characters of a page.
    PageLimit,
    /// The first character of a page of a log.
    From,
    /// The first character of a page of a summary.
    SummaryFrom,
}

/// The fields of a tool: name, accepted values, and whether it is required.
pub fn fields(tool: &str) -> &'static [(&'static str, Field, bool)] {
    use Field::*;
    const AGENT: (&str, Field, bool) = ("agent_name", AgentName, true);
    const ROOT: (&str, Field, bool) = ("repo_root", Path, false);
    const DATE: (&str, Field, bool) = ("date", Date, false);
    match tool {
        "start_session" => &[AGENT, ROOT, DATE],
        "append_entry" => {
            &[AGENT, ROOT, DATE, ("section", Section, true), ("content", Content, true)]
        }
        "read_summary" => &[AGENT, ROOT, ("from", SummaryFrom, false), ("limit", PageLimit, false)],
        "update_summary" => &[
            AGENT,
            ROOT,
            ("section", Heading, true),
            ("content", Body, false),
            ("old_text", Passage, false),
            ("new_text", Passage, false),
            ("version", Version, false),
            ("mode", Mode, true),
        ],
        "read_session" => &[
            AGENT,
            ROOT,
            DATE,
            ("section", Section, false),
            ("from", From, false),
            ("limit", PageLimit, false),
        ],
        "list_sessions" => &[AGENT, ROOT, ("limit", Limit, false)],
        _ => &[],
    }
}

/// The arguments as the tool understands them: null for an optional field leaves it out, and so does an
/// empty text that the field does not take.
pub fn understood(tool: &str, arguments: &Map<String, Value>) -> Map<String, Value> {
    let mut arguments = arguments.clone();
    for (name, field, _) in fields(tool).iter().filter(|(.., required)| !required) {
        let says_nothing = arguments.get(*name).is_some_and(|value| {
            value.is_null() || value.as_str() == Some("") && !field.takes(value)
        });
        if says_nothing {
            arguments.remove(*name);
        }
    }
    arguments
}

/// The pointers of all arguments that violate the tool's list.
pub fn violations(tool: &str, arguments: &Map<String, Value>) -> BTreeSet<String> {
    let fields = fields(tool);
    let unknown = arguments.keys().filter(|name| fields.iter().all(|(known, ..)| known != name));
    let wrong = fields.iter().filter(|(name, field, required)| match arguments.get(*name) {
        Some(value) => !field.takes(value),
        None => *required,
    });
    let names = unknown.map(String::as_str).chain(wrong.map(|(name, ..)| *name));
    names.map(|name| format!("/{name}")).collect()
}

impl Field {
    fn takes(self, value: &Value) -> bool {
        let range = match self {
            Self::Limit => Some(1..=1000),
            Self::PageLimit => Some(100..=100_000),
            Self::From => Some(1..=2_097_152),
            Self::SummaryFrom => Some(1..=16_777_216),
            _ => None,
        };
        if let Some(range) = range {
            return value.as_u64().is_some_and(|number| range.contains(&number));
        }
        let Some(text) = value.as_str() else { return false };
        let length = text.chars().count();
        match self {
            Self::AgentName => is_name(text),
            Self::Path => (1..=4096).contains(&length),
            Self::Date => is_date(text),
            Self::Section => (1..=100).contains(&length),
            Self::Heading => (1..=100).contains(&length) && !text.trim().is_empty(),
            Self::Content => (1..=LONGEST).contains(&length) && !text.trim().is_empty(),
            Self::Body => text.is_empty() || Self::Content.takes(value),
            Self::Mode => matches!(text, "append" | "replace" | "remove"),
            Self::Passage => length <= LONGEST,
            Self::Version => length <= 64,
            Self::Limit | Self::PageLimit | Self::From | Self::SummaryFrom => false,
        }
    }
}

fn is_name(text: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=64).contains(&text.len())
        && text.chars().all(sound)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Whether a text is a day of the calendar, as `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    let shape = text.len() == 10
        && text.char_indices().all(|(at, c)| match at {
            4 | 7 => c == '-',
            _ => c.is_ascii_digit(),
        });
    if !shape {
        return false;
    }
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap_or(0);
    let year = number(0..4);
    let month = number(5..7);
    let day = number(8..10);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}
