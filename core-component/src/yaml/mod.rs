//! The part of YAML that memories, indexes and registries need, with the place of every value in the
//! text. A change is a few splices, so comments and formatting around it stay.
//!
//! Anchors, aliases and tags are refused: no file of these formats has a use for them, and a few
//! aliases can stand for gigabytes.

mod edit;
mod parse;
mod write;

use std::ops::Range;

pub(crate) use edit::Editor;
pub(crate) use parse::parse;
pub(crate) use write::New;

/// A value and its place in the text, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// For a block scalar, the range begins after its `|` or `>`. For an empty value it is empty.
    pub span: Range<usize>,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar { text: String, is_plain: bool },
    Sequence { items: Vec<Node>, is_flow: bool },
    Mapping { entries: Vec<Entry>, is_flow: bool },
}

/// An entry of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Node,
    pub value: Node,
}

impl Node {
    /// The text of a scalar; none for null and for a collection.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, is_plain } => {
                let is_null =
                    *is_plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
                (!is_null).then_some(text.as_str())
            }
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Scalar { .. }) && self.text().is_none()
    }

    /// The items of a sequence; none if it is something else.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence { items, .. } => Some(items),
            _ => None,
        }
    }

    /// The entries of a mapping; none if it is something else.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping { entries, .. } => Some(entries),
            _ => None,
        }
    }

    /// The entry of a mapping with this key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key.text() == Some(key))
    }

    /// The value of a mapping's key, if there is one that is not null.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value).filter(|value| !value.is_null())
    }

    /// Whether two values are equal, wherever they are.
    pub fn is_same(&self, other: &Node) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar { .. }, Value::Scalar { .. }) => self.text() == other.text(),
            (Value::Sequence { items, .. }, Value::Sequence { items: others, .. }) => {
                items.len() == others.len()
                    && items.iter().zip(others).all(|(item, other)| item.is_same(other))
            }
            (Value::Mapping { entries, .. }, Value::Mapping { entries: others, .. }) => {
                let is_same = |(entry, other): (&Entry, &Entry)| {
                    entry.key.is_same(&other.key) && entry.value.is_same(&other.value)
                };
                entries.len() == others.len() && entries.iter().zip(others).all(is_same)
            }
            _ => false,
        }
    }
}

/// Why a text is not YAML that these formats use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_these_formats_have_no_use_for_is_refused_with_its_line() {
        let error = |text: &str, max: usize| parse(text, max).expect_err(text);
        for (text, line) in [
            ("a: &x 1\n", 1),
            ("a: 1\nb: *x\n", 2),
            ("a: !!str 1\n", 1),
            ("a: &x [1]\n", 1),
            ("a: 1\na: 2\n", 2),
            ("? [a]\n: 1\n", 1),
            ("a: 1\n---\nb: 1\n", 2),
            ("a: [1\n", 2),
            ("a: 'b\n", 1),
            ("a: b: c\n", 1),
        ] {
            assert_eq!(error(text, 100).line, line, "{text:?}: {:?}", error(text, 100));
        }
        assert!(error(&"[".repeat(100), 1_000).message.contains("more than 32 deep"));
        let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(error(&deep, 1_000).message.contains("more than 32 deep"));
        let many: String = (0..1_000_000).map(|key| format!("k{key}: 1\n")).collect();
        assert!(error(&many, 1_000).message.contains("too many"));
    }

    #[test]
    fn values_have_their_places_in_bytes() {
        let text = "é: [à, b] # c\nk: |\n  lit\n\nn:\n";
        let root = parse(text, 100).expect("YAML").expect("a value");
        let of = |key: &str| &root.entry(key).expect("it is there").value;
        assert_eq!(&text[of("é").span.clone()], "[à, b]");
        assert_eq!(of("k").text(), Some("lit\n"));
        assert!(of("n").is_null() && root.get("n").is_none());
        assert!(parse("# c\n", 100).expect("YAML").is_none());
    }
}
