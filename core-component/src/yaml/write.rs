//! Writes values as YAML. A text is written plain if every YAML parser reads it back as the same
//! text, and otherwise in double quotes, in the form of JSON.

use super::node::{Entry, Node, Value};

/// A new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum New {
    Text(String),
    /// A scalar that is written as it is, without quotes, such as a timestamp or a number.
    Plain(String),
    /// A sequence.
    Items(Vec<New>),
    Mapping(Vec<NewEntry>),
}

/// A new entry of a mapping: key and value.
pub(crate) type NewEntry = (New, New);

impl New {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn plain(value: impl ToString) -> Self {
        Self::Plain(value.to_string())
    }

    pub fn texts(texts: &[String]) -> Self {
        Self::Items(texts.iter().map(Self::text).collect())
    }

    pub fn mapping<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Mapping(entries.into_iter().map(|(key, value)| (Self::text(key), value)).collect())
    }

    /// Returns the value of a node, to be written elsewhere. A plain scalar that can be a number, a
    /// date or null stays plain.
    pub fn from_node(node: &Node) -> Self {
        match &node.value {
            Value::Scalar { .. } if node.is_null() => Self::plain("null"),
            Value::Scalar { text, is_plain: true } if is_simple(text) => Self::plain(text),
            Value::Scalar { text, .. } => Self::text(text),
            Value::Sequence { items, .. } => {
                Self::Items(items.iter().map(Self::from_node).collect())
            }
            Value::Mapping { entries, .. } => {
                Self::Mapping(entries.iter().map(Self::entry_of).collect())
            }
        }
    }

    /// Returns an entry of a mapping, to be written elsewhere.
    pub fn entry_of(entry: &Entry) -> NewEntry {
        (Self::from_node(&entry.key), Self::from_node(&entry.value))
    }

    /// Whether a node has this value.
    pub fn is_in(&self, node: &Node) -> bool {
        match self {
            Self::Text(text) | Self::Plain(text) => node.text() == Some(text),
            Self::Items(items) => node.items().is_some_and(|nodes| {
                nodes.len() == items.len()
                    && items.iter().zip(nodes).all(|(item, node)| item.is_in(node))
            }),
            Self::Mapping(entries) => node.entries().is_some_and(|nodes| {
                let is_in = |(key, value): &NewEntry| {
                    nodes.iter().any(|node| key.is_in(&node.key) && value.is_in(&node.value))
                };
                nodes.len() == entries.len() && entries.iter().all(is_in)
            }),
        }
    }

    /// Returns the value in flow style, on one line.
    pub fn flow(&self) -> String {
        match self {
            Self::Text(text) => scalar(text),
            Self::Plain(text) => text.clone(),
            Self::Items(items) => {
                let items: Vec<_> = items.iter().map(Self::flow).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Mapping(entries) => {
                let entry = |(key, value): &NewEntry| format!("{}: {}", key.flow(), value.flow());
                let entries: Vec<_> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// Returns the text to write after the colon of a key, in block style. `column` is the column
    /// of the lines below the key.
    pub fn after_colon(&self, column: usize, line_end: &str) -> String {
        let margin = format!("{line_end}{}", " ".repeat(column));
        match self {
            Self::Text(_) | Self::Plain(_) => format!(" {}", self.flow()),
            Self::Items(items) if items.is_empty() => " []".into(),
            Self::Items(items) => {
                let item = |item: &Self| {
                    let lines = item.after_colon(column + 2, line_end);
                    // The first line of an item follows the dash.
                    format!("{margin}- {}", lines.trim_start_matches(['\n', '\r', ' ']))
                };
                items.iter().map(item).collect()
            }
            Self::Mapping(entries) if entries.is_empty() => " {}".into(),
            Self::Mapping(entries) => {
                let entry = |(key, value): &NewEntry| {
                    let value = value.after_colon(column + 2, line_end);
                    format!("{margin}{}:{value}", key.flow())
                };
                entries.iter().map(entry).collect()
            }
        }
    }
}

/// Returns a text as a scalar, plain or quoted.
pub(super) fn scalar(text: &str) -> String {
    if is_safe(text) { text.to_owned() } else { serde_json::to_string(text).unwrap_or_default() }
}

/// Whether a text that was a plain scalar stays valid as a plain scalar, in block and flow style.
/// Only numbers, dates, null and the like need this: a plain scalar with other characters is a
/// text, which may be quoted.
fn is_simple(text: &str) -> bool {
    let bytes = text.as_bytes();
    let next_is_sound = |at: usize, others: &[u8]| {
        let next = bytes.get(at + 1);
        next.is_some_and(|next| next.is_ascii_alphanumeric() || others.contains(next))
    };
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b':' => next_is_sound(at, b""),
        b' ' => next_is_sound(at, b"+-."),
        byte => byte.is_ascii_alphanumeric() || b"_.+-~".contains(byte),
    })
}

/// Whether a text can be written plain: it begins with an ASCII letter or `/`, and no part of it
/// has another meaning in YAML 1.1 or 1.2, in block or flow style.
fn is_safe(text: &str) -> bool {
    let is_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let first = text.bytes().next();
    let begins = first.is_some_and(|first| first.is_ascii_alphabetic() || first == b'/');
    let may_stand = |(at, byte): (usize, u8)| match byte {
        b':' => text
            .as_bytes()
            .get(at + 1)
            .is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'/'),
        b' ' => text.as_bytes().get(at + 1).is_some_and(|next| !matches!(next, b' ' | b'#')),
        byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-'),
    };
    begins && !is_word && text.len() <= 120 && text.bytes().enumerate().all(may_stand)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    #[test]
    fn an_entry_for_another_place_keeps_its_key() {
        for (key, expected) in
            [("kind", "kind"), ("1", "1"), ("null", "null"), ("", "null"), ("\"null\"", "\"null\"")]
        {
            let root = parse(&format!("{key}: x\n"), 10).expect("YAML").expect("a mapping");
            let entries = root.entries().expect("a mapping");
            let written = New::Mapping(entries.iter().map(New::entry_of).collect()).flow();
            assert_eq!(written, format!("{{{expected}: x}}"));
        }
    }

    #[test]
    fn a_text_is_plain_only_where_every_parser_reads_it_as_a_text() {
        for plain in
            ["a", "feature", "src/core/types.ts:17", "https://docs.example.com", "two words"]
        {
            assert_eq!(scalar(plain), plain);
        }
        for quoted in [
            "",
            "1",
            "2025",
            "2025-01-20",
            "1e3",
            "0x1f",
            "true",
            "No",
            "null",
            "~",
            "- a",
            "a: b",
            "a:",
            "a #b",
            " a",
            "a ",
            "[a]",
            "{a}",
            "a, b",
            "#a",
            "é",
            "*a",
            "&a",
            "!a",
            "|",
            "%a",
            "@a",
            "a\nb",
            "a\"b",
            "12:30:00",
        ] {
            assert_eq!(scalar(quoted), serde_json::to_string(quoted).expect("JSON"));
        }
    }
}
